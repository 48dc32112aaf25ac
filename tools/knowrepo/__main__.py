"""``know``, and ``python -m knowrepo``: the way in.

Owns nothing but this: whoever presses ^C while Python still imports gets one
line and exit code 130, as anybody does later. So nothing is imported at the top
but what Python has loaded by itself.
"""

import sys


def entry() -> None:
    """Run as a console script."""
    try:
        if sys.argv[1:2] == ["hook"]:  # git waits: without typer and the other commands
            from knowrepo.cli.commit_hook import entry as hook

            hook()
        from knowrepo.cli.main import entry as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("know: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    entry()

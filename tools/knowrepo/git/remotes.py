"""Talking to a remote: what it has, fetching refs from it, and pushing some to it.

Owns the git processes that reach a network. The user's own git does it, with the
user's transports and credentials; a question of git or ssh goes to the terminal.
What is fetched comes without a ref of this clone, so that nothing here is in the
way of a user's own refs, and git removes it by itself when it is no longer used.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository

# What a user sets for git's transports; none of it belongs to one repository.
_USERS = (
    "GIT_TERMINAL_PROMPT", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_", "GIT_SSH_VARIANT",
    "GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL_FROM_USER", "GIT_TRACE", "GIT_CURL_VERBOSE",
)  # fmt: skip
_OURS_TO_TELL = ("fatal:", "error:", "hint:", "To ", " ! ", "warning: no common")
_SECRET = re.compile(r"(?<=://)[^/@\s']+@")
_AT_ONCE = 500  # refs of one command line
_BROKEN = re.compile(r"fsck|index-pack failed|unpack-objects (?:failed|error)|bad tree")
_UNWRITABLE = re.compile(
    r"(?!remote:).*(?:No space left|quota exceeded|Read-only file system|insufficient permission"
    r"|unable to (?:create|write).*: Permission denied)"
)
_LARGE = "File too large"
_BLOCK = 512  # bytes, by which `ulimit -f` counts
# A write beyond the limit is to fail with a reason, not to end the process with a core.
# Where the user's own limit is lower, that one stands.
_LIMITED = 'trap "" XFSZ; ulimit -f "$0" 2>/dev/null; exec "$@"'
_GONE = re.compile(r"couldn't find remote ref|not our ref|no such ref", re.IGNORECASE)


Tell = Callable[[str], None]
"""What is told a line of a server, or of a helper for credentials, as it comes."""


def _silent(_line: str) -> None: ...


class GoneError(KnowError):
    """A ref that was listed is no longer there: somebody has replaced it."""


class BrokenError(KnowError):
    """Objects that git does not take: where `transfer.fsckObjects` is set, or one is too large."""


@dataclass(frozen=True)
class Answer:
    """What became of a push: for each ref that was refused, why."""

    refused: Mapping[str, str]


def default(repository: Repository) -> str:
    """Return the remote of the branch's upstream, else `origin`; raises KnowError without any."""
    names = plumbing.git(repository, "remote").decode("utf-8", "replace").split()
    branch = _asked(repository, "symbolic-ref", "--quiet", "--short", "HEAD")
    upstream = _asked(repository, "config", "--get", f"branch.{branch}.remote") if branch else ""
    if upstream and upstream != ".":
        return upstream
    if "origin" in names or not names:
        if not names:
            raise KnowError(
                f"{repository.work_tree}: has no remote to share vectors with",
                hint="`git remote add origin URL` names one",
            )
        return "origin"
    if len(names) == 1:
        return names[0]
    raise KnowError(
        f"{repository.work_tree}: which of its remotes is meant ({', '.join(names)})?",
        hint=f"name one: `know sync {names[0]}`",
    )


def listing(repository: Repository, remote: str, *patterns: str) -> dict[str, str]:
    """Return ``{ref: oid}`` of what a remote has now; a tag is given as what it names."""
    output = _run(repository, remote, ["ls-remote", "--quiet"], patterns)
    found: dict[str, str] = {}
    for raw in output.splitlines():
        oid, _, ref = os.fsdecode(raw).partition("\t")
        found[ref.removesuffix("^{}")] = oid  # what a tag names comes after the tag
    return found


def present(repository: Repository, oids: Iterable[str]) -> set[str]:
    """Return those of some objects that are commits of this clone; nothing is fetched."""
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    output = plumbing.git(repository, "cat-file", "--batch-check", data=asked, fetching=False)
    lines = [line.split() for line in output.decode().splitlines()]
    return {line[0] for line in lines if line[1:2] == ["commit"]}


def fetch(
    repository: Repository,
    remote: str,
    refs: Sequence[str],
    *,
    whole: bool = True,
    largest: int = 0,
    tell: Tell = _silent,
) -> None:
    """Bring what some refs of a remote name into this clone; raises GoneError where one is gone.

    Unless it is to be ``whole``, a partial clone takes no more than it is used to.
    A remote tells no sizes: where none may be more than the ``largest`` of bytes, as
    it is compressed, git is stopped when it comes to write more, with BrokenError.
    """
    # Each object becomes a file of its own, so that the limit is one of an object. One
    # that is much larger than we read is not unpacked in memory.
    bounds = ["-c", "fetch.unpackLimit=1000000", "-c", f"core.bigFileThreshold={largest}"]
    options = [*(bounds if largest else ()),
               "fetch", "--no-tags", "--no-write-fetch-head", "--no-auto-gc",
               "--recurse-submodules=no", "--quiet"]  # fmt: skip
    options += ["--no-filter"] if whole else []
    for at in range(0, len(refs), _AT_ONCE):
        some = refs[at : at + _AT_ONCE]
        _run(repository, remote, options, some, largest=largest, tell=tell)


def push(
    repository: Repository, remote: str, updates: Mapping[str, str], *, tell: Tell = _silent
) -> Answer:
    """Push commits to refs that are new; what stands under such a name is never overwritten."""
    specs = [f"{oid}:{ref}" for ref, oid in updates.items()]
    return _pushed(repository, remote, [], specs, tell=tell)


def delete(
    repository: Repository, remote: str, expected: Mapping[str, str], *, tell: Tell = _silent
) -> Answer:
    """Delete refs of a remote, where they still name what is expected."""
    leases = [f"--force-with-lease={ref}:{oid}" for ref, oid in expected.items()]
    return _pushed(repository, remote, leases, [f":{ref}" for ref in expected], tell=tell)


def _pushed(
    repository: Repository, remote: str, leases: list[str], specs: list[str], *, tell: Tell
) -> Answer:
    # Hooks before a push look at branches; what is pushed here is made of what was pushed.
    options = ["push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed",
               "--recurse-submodules=no", "--quiet", *leases]  # fmt: skip
    refused: dict[str, str] = {}
    output = _run(repository, remote, options, specs, tell=tell, answered=b"\n!\t")
    for line in output.decode("utf-8", "replace").splitlines():
        flag, _, rest = line.partition("\t")
        if flag == "!":
            names, _, why = rest.partition("\t")
            refused[names.rpartition(":")[2]] = _reason(why)
    return Answer(refused)


def _reason(why: str) -> str:
    """Return what stands in the last parentheses of git's summary."""
    found = re.search(r"\((.*)\)\s*$", why)
    return found[1] if found else why


def _asked(repository: Repository, *arguments: str) -> str:
    return plumbing.git(repository, *arguments, expected=(0, 1, 128)).decode().strip()


def _run(
    repository: Repository,
    remote: str,
    options: Sequence[str],
    specs: Sequence[str],
    *,
    largest: int = 0,
    tell: Tell = _silent,
    answered: bytes | None = None,
) -> bytes:
    """Run git on a remote and return its output; it writes no file beyond the ``largest``.

    Where the output has ``answered`` in it, the remote has spoken, and the exit code says
    nothing more. Raises KnowError otherwise.
    """
    if not remote or remote.startswith("-"):
        raise KnowError(f"{remote!r}: no name of a remote", hint="`git remote -v` lists them")
    env = plumbing.environment(repository)
    env |= {name: value for name, value in os.environ.items() if name.startswith(_USERS)}
    command = ["git", "-C", str(repository.root), *options, "--", remote, *specs]
    if largest and os.name == "posix":
        command = ["sh", "-c", _LIMITED, str(largest // _BLOCK + 1), *command]
    try:
        process = subprocess.Popen(
            command,
            # A helper for credentials may ask here; git and ssh open the terminal themselves.
            stdin=None if sys.stdin is not None and sys.stdin.isatty() else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
        )
    except FileNotFoundError as error:
        raise plumbing.no_git() from error
    said: list[str] = []
    with process:
        assert process.stdout is not None
        listener = threading.Thread(target=_listen, args=(process, said, tell), daemon=True)
        listener.start()
        output = process.stdout.read()
        listener.join()
    if process.returncode and not (answered and answered in b"\n" + output):
        raise _failed(repository, remote, said)
    return output


def _listen(process: subprocess.Popen[bytes], said: list[str], tell: Tell) -> None:
    """Keep what git says, and pass on what is not ours to tell: servers', helpers' words."""
    assert process.stderr is not None
    for raw in process.stderr:
        line = raw.decode("utf-8", "replace").rstrip()
        said.append(line)
        if line and not line.startswith(_OURS_TO_TELL):
            tell(line)


def _failed(repository: Repository, remote: str, said: Sequence[str]) -> KnowError:
    lines = [_SECRET.sub("", line) for line in said if line]
    told = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:", "ERROR:"))]
    why = (told or lines[-1:] or ["git says nothing"])[0]
    if any(_GONE.search(line) for line in lines):
        return GoneError(f"{shown(remote)}: {why}")
    unwritable = next((line for line in lines if _UNWRITABLE.match(line)), "")
    if unwritable:
        return KnowError(
            f"{repository.common_dir}: cannot be written: {unwritable}",
            hint="free some space there, and see that you may write; then run this again",
        )
    if any(_BROKEN.search(line) or _LARGE in line for line in lines):
        return BrokenError(f"{shown(remote)}: {why}")
    names = plumbing.git(repository, "remote").decode("utf-8", "replace").split()
    if remote in names or "/" in remote:
        hint = "check the network, `git remote -v`, and that you may read and write there"
    else:
        hint = f"remotes of this repository: {', '.join(names) or 'none'}"
    return KnowError(f"{shown(remote)}: cannot be reached: {why}", hint=hint)


def shown(remote: str) -> str:
    """Return a remote as it may be printed: a URL without its credentials."""
    return _SECRET.sub("", remote)

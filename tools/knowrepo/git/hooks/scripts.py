"""The text of a hook file, and telling one of ours from any other.

Owns what git runs: a few lines of sh that need no PATH and no HOME, run the hook
that was there before, then the `know` that installed them, and nothing where that
is gone. A line of the file holds what it was made of and a checksum of it stands
at its head, so nothing else must be remembered to know it again, or to see that
somebody changed it.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from dataclasses import dataclass

from knowrepo.git.hooks import GATES
from knowrepo.git.program import Command

_HEAD = re.compile(rb"#!/bin/sh\n# know-hook 1 ([0-9a-f]{64})\n")
_SAYS = """\
# Made by `know hooks install --git`; `know hooks uninstall --git` takes it away again.
"""
_BEFORE_GATE = """\
if [ -x "${{0%/*}}"/{before} ]; then
    "${{0%/*}}"/{before} "$@" || exit $?
fi
"""
_BEFORE_AFTER = """\
code=0
if [ -x "${{0%/*}}"/{before} ]; then
    "${{0%/*}}"/{before} "$@"
    code=$?
fi
"""
# 126 and 127: it is there and cannot be run. 2, of a newer hook: know is too old for it.
_GATE = """\
[ -x {program} ] && [ -f {package} ] || exit 0
code=0
for root in {roots}; do
    [ -f "$root/know.toml" ] || continue
    {command} hook {entry} --repo "$root" </dev/null
    found=$?
    case $found in
    0 | {passing}) ;;
    *) code=$found ;;
    esac
done
exit $code
"""
_AFTER = """\
[ -x {program} ] && [ -f {package} ] || exit $code
{rebasing}for root in {roots}; do
    [ -f "$root/know.toml" ] || continue
    {command} hook index --repo "$root" </dev/null >/dev/null 2>&1 &
done
exit $code
"""
_REBASING = """\
# In the middle of a rebase there is nothing to index; post-rewrite tells its end.
dir=$(git rev-parse --git-dir 2>/dev/null)
if [ -d "$dir/rebase-merge" ] || [ -d "$dir/rebase-apply" ]; then
    exit $code
fi
"""
_ENTRIES = {"pre-commit": "pre-commit", "pre-merge-commit": "merged"}


@dataclass(frozen=True)
class Hook:
    """What a hook file of ours was made of.

    ``before`` is the name, in the same folder, of the hook that was there before and
    runs first. ``roots`` are the knowledge repositories of the work tree, from its top.
    ``package`` is a file without which ``command`` cannot work.
    """

    stage: str
    before: str
    roots: tuple[str, ...]
    command: Command
    package: str


@dataclass(frozen=True)
class Read:
    """A hook file of ours as it is on the disk; not ``whole`` where somebody changed it."""

    hook: Hook
    whole: bool


def text(hook: Hook) -> bytes:
    """Return the hook file."""
    gate = hook.stage in GATES
    words = {
        "program": shlex.quote(hook.command[0]),
        "package": shlex.quote(hook.package),
        "command": shlex.join(hook.command),
        "roots": shlex.join(f"./{root}" if root != "." else "." for root in hook.roots),
        "before": shlex.quote(hook.before),
        "entry": _ENTRIES.get(hook.stage, "index"),
        "passing": "2 | 126 | 127" if hook.stage == "pre-merge-commit" else "126 | 127",
        # A checkout begins a rebase as well, and each of its commits is one.
        "rebasing": _REBASING if hook.stage in {"post-commit", "post-checkout"} else "",
    }
    made_of = json.dumps({**vars(hook), "command": list(hook.command), "roots": list(hook.roots)})
    parts = (_BEFORE_GATE, _GATE) if gate else (_BEFORE_AFTER, _AFTER)
    body = "".join((_SAYS, f"# {made_of}\n", *(part.format(**words) for part in parts)))
    data = body.encode("utf-8", "surrogateescape")
    return b"#!/bin/sh\n# know-hook 1 %s\n" % _checksum(data) + data


def read(data: bytes) -> Read | None:
    """Return what a hook file of ours was made of; None for one that is not of our making."""
    head = _HEAD.match(data)
    if head is None:
        return None
    body = data[head.end() :]
    for line in body.split(b"\n"):
        if line.startswith(b"# {"):
            try:
                said = json.loads(line[2:])
                hook = Hook(
                    str(said["stage"]), str(said["before"]), tuple(map(str, said["roots"])),
                    tuple(map(str, said["command"])), str(said["package"]),
                )  # fmt: skip
            except (ValueError, TypeError, KeyError):
                return None
            return Read(hook, head[1] == _checksum(body))
    return None


def _checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()

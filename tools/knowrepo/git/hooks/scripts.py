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

from knowrepo.git.program import Command

_HEAD = re.compile(rb"#!/bin/sh\n# know-hook 1 ([0-9a-f]{64})\n")
_SAYS = """\
# Made by `know hooks install --git`; `know hooks uninstall --git` takes it away again.
"""
_BEFORE_PRE = """\
if [ -x "${{0%/*}}"/{before} ]; then
    "${{0%/*}}"/{before} "$@" || exit $?
fi
code=0
"""
_BEFORE_POST = """\
code=0
if [ -x "${{0%/*}}"/{before} ]; then
    "${{0%/*}}"/{before} "$@"
    code=$?
fi
"""
_REBASING = """\
# In the middle of a rebase there is nothing to index; post-rewrite tells its end.
dir=$(git rev-parse --git-dir 2>/dev/null)
if [ -d "$dir/rebase-merge" ] || [ -d "$dir/rebase-apply" ]; then
    exit $code
fi
"""
# The ids are those of `looking`, found as `others.configured_ids` finds them.
_ONE_GATE = """\
# pre-commit, installed later, keeps this hook as its `.legacy`: where it checks, once is enough.
case $0 in
*.legacy)
    grep -Eq '^[[:space:]]*(-[[:space:]]+)?id:[[:space:]]*.?know-(commit|check|tags|scan)' \\
        .pre-commit-config.yaml 2>/dev/null && exit 0
    ;;
esac
"""
_EACH = """\
[ -x {program} ] && [ -f {package} ] || exit $code
{first}for root in {roots}; do
    [ -f "$root/know.toml" ] || continue
{work}done
exit $code
"""
# 126 and 127: it is there and cannot be run.
_GATE = """\
    {command} hook pre-commit --repo "$root" </dev/null
    found=$?
    case $found in
    0 | 126 | 127) ;;
    *) code=$found ;;
    esac
"""
# 2: a know that does not have this command says so, and nobody wants to hear it.
_TELLS = """\
    said=$({command} hook {entry} --repo "$root" </dev/null 2>&1)
    [ $? -eq 2 ] || [ -z "$said" ] || printf '%s\\n' "$said" >&2
"""
_AFTER_REBASE = """\
    if [ "$1" = rebase ]; then
        said=$({command} hook merged --tell --repo "$root" </dev/null 2>&1)
        [ $? -eq 2 ] || [ -z "$said" ] || printf '%s\\n' "$said" >&2
    fi
"""
_INDEX = """\
    {command} hook index --repo "$root" </dev/null >/dev/null 2>&1 &
"""
_WORK = {
    "pre-commit": _GATE,
    "pre-merge-commit": _TELLS.replace("{entry}", "merging"),
    "post-merge": _TELLS.replace("{entry}", "merged") + _INDEX,
    "post-rewrite": _AFTER_REBASE + _INDEX,
}


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
    command = shlex.join(hook.command)
    # A checkout begins a rebase as well, and each of its commits is one.
    rebasing = hook.stage in {"post-commit", "post-checkout"}
    words = {
        "before": shlex.quote(hook.before),
        "program": shlex.quote(hook.command[0]),
        "package": shlex.quote(hook.package),
        "first": _REBASING if rebasing else _ONE_GATE if hook.stage == "pre-commit" else "",
        "roots": shlex.join(f"./{root}" if root != "." else "." for root in hook.roots),
        "work": _WORK.get(hook.stage, _INDEX).replace("{command}", command),
    }
    made_of = json.dumps({**vars(hook), "command": list(hook.command), "roots": list(hook.roots)})
    before = _BEFORE_PRE if hook.stage.startswith("pre-") else _BEFORE_POST
    body = f"{_SAYS}# {made_of}\n{before.format(**words)}{_EACH.format(**words)}"
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

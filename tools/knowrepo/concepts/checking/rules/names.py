"""Rules on the names of files and folders."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.tree import folded

_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³])(?:\..*)?", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f]')
_META = re.compile(
    r"(?:README|AGENTS?|CLAUDE|GEMINI|COPILOT|SKILL|CONTRIBUTING|CHANGELOG|LICEN[CS]E|NOTICE|"
    r"CODE[_-]OF[_-]CONDUCT|SECURITY|SUPPORT|GOVERNANCE|MAINTAINERS|AUTHORS|CODEOWNERS|"
    r"copilot-instructions|PULL_REQUEST_TEMPLATE)(?:[._-][A-Za-z_-]{2,8})?\.md",
    re.IGNORECASE,
)


def is_meta(name: str) -> bool:
    """Say whether a file of this name speaks of its folder, and is no knowledge itself."""
    return _META.fullmatch(name) is not None


def check(path: str) -> Iterator[Finding]:
    """Yield what some platform does not allow in a path."""
    for part in path.split("/"):
        bad = _FORBIDDEN.search(part)
        if bad:
            shown = bad.group() if bad.group().isprintable() else f"U+{ord(bad.group()):04X}"
            yield Finding(path, 1, 1, "OKF217", f"`{shown}` in a name; Windows forbids it: rename")
        elif _DEVICE.fullmatch(part):
            yield Finding(path, 1, 1, "OKF217", f"`{part}` is a device to Windows; rename it")
        elif part.endswith((".", " ")) or part.startswith(" "):
            yield Finding(path, 1, 1, "OKF217", f"`{part}` begins or ends with a space or a dot")


def collisions(paths: Iterable[str], wanted: Iterable[str] | None = None) -> Iterator[Finding]:
    """Yield the files whose path, or a folder of it, another name differs from in spelling only.

    With ``wanted``, only those of these paths.
    """
    paths = list(paths)
    if not _may_collide(paths):
        return
    spellings: dict[str, dict[str, str]] = defaultdict(dict)
    seen: set[str] = set()
    for path in sorted(paths):
        part = path
        while part and part not in seen:  # what is above was seen with it
            seen.add(part)
            spellings[folded(part)].setdefault(part, path)
            part = part.rpartition("/")[0]
    chosen = None if wanted is None else set(wanted)
    for same in spellings.values():
        if len(same) > 1:
            yield from _collision(same, chosen)


def _may_collide(paths: list[str]) -> bool:
    """Say whether two of the files and folders could be of one spelling.

    All names are folded as one text, which takes a tenth of the time that each by
    itself does; as good as always, none collides.
    """
    names = set(paths)
    folders = {path.rpartition("/")[0] for path in paths}
    while folders:
        names |= folders
        folders = {folder.rpartition("/")[0] for folder in folders} - names
    return len(set(folded("\0".join(names)).split("\0"))) < len(names)


def _collision(same: dict[str, str], wanted: set[str] | None) -> Iterator[Finding]:
    """Report a folder at its first file, a file at itself; those above it were reported then."""
    names = sorted(same)
    if len({name.rpartition("/")[0] for name in names}) > 1:
        return  # their folders collide already
    for name in names if wanted is not None else names[1:]:
        other = names[0] if name != names[0] else names[1]
        file = same[name]
        if wanted is None or file in wanted:
            what = "the file" if file == name else f"its folder `{name}`"
            yield Finding(
                file, 1, 1, "OKF218",
                f"{what} is the same as `{other}` on macOS and Windows; rename one",
            )  # fmt: skip

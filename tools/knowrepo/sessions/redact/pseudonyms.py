"""Pseudonyms for user names in home paths.

Owns the option that keeps a person's account name out of a shared archive. A
pseudonym is a short hash of the name: the same on every machine without shared
state, and not to be read at a glance. It is no protection against somebody who
tries names: that would need a secret that all clones share.
"""

from __future__ import annotations

import hashlib
import re

# Accounts that are nobody's.
_NOBODY = frozenset(
    "root runner user users ubuntu vscode node shared public default linuxbrew circleci".split()
)
_PSEUDONYM = re.compile(r"user-[0-9a-f]{8}\Z")
_HOME = re.compile(
    r"(?P<lead>(?:/home|/Users|(?<=[A-Za-z]:)\\{1,4}Users|(?<=/[a-z])/Users)[\\/]{1,4})"
    r"(?P<name>[^\\/\s:;,\"'`<>|*?()\[\]{}\x00-\x1f]{1,64})"
)
_DASHED = re.compile(r"(?P<lead>-(?:home|Users)-)(?P<name>user-[0-9a-f]{8}|[A-Za-z0-9_]{1,64})")


def may_hold_home(raw: bytes) -> bool:
    """Say whether a line is worth looking through for home paths."""
    return b"home" in raw or b"Users" in raw


def pseudonym(name: str) -> str:
    """Return what stands for a user's name, itself where it is nobody's or a pseudonym."""
    if name.lower() in _NOBODY or _PSEUDONYM.match(name):
        return name
    digest = hashlib.sha256(f"knowrepo user {name.lower()}".encode()).hexdigest()
    return f"user-{digest[:8]}"


def with_pseudonyms(text: str) -> str:
    """Return ``text`` with the names in its home paths replaced; the same object where none is.

    Folders that Claude Code names after a path (`-home-NAME-project`) are seen
    too; where the name itself has a dash, by the same text's own home paths.
    """
    if "home" not in text and "Users" not in text:
        return text
    dashed = text
    for name in dict.fromkeys(match["name"] for match in _HOME.finditer(text)):
        slug = re.sub(r"[^A-Za-z0-9]", "-", name)
        if "-" in slug:
            for lead in ("-home-", "-Users-"):
                dashed = dashed.replace(f"{lead}{slug}", f"{lead}{pseudonym(name)}")
    clean = _HOME.sub(_replaced, _DASHED.sub(_replaced, dashed))
    return text if clean == text else clean


def _replaced(match: re.Match[str]) -> str:
    return match["lead"] + pseudonym(match["name"])

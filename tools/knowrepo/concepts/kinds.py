"""The types that our own tools write, and where a concept of each is kept.

Owns the vocabulary of types. OKF registers none, and a reader knows none: a
concept of any other type is as good.
"""

from __future__ import annotations

from knowrepo.concepts.compose import slug
from knowrepo.concepts.model import FOLDER

TYPES = (
    "Decision",
    "Solution",
    "Failure",
    "Correction",
    "Preference",
    "DevOps",
    "Project Knowledge",
    "Reference",
)
_FOLDERS = {
    "Decision": "decisions",
    "Solution": "solutions",
    "Failure": "failures",
    "Correction": "corrections",
    "Preference": "preferences",
    "DevOps": "devops",
    "Project Knowledge": "project-knowledge",
    "Reference": "references",
}


def spelled(kind: str) -> str:
    """Return a type as it is written: one of ours in any case or spacing is told again."""
    wanted = slug(kind)
    return next((known for known in TYPES if slug(known) == wanted), " ".join(kind.split()))


def folder_of(kind: str) -> str:
    """Return the folder for a concept of this type, relative to the repository."""
    name = spelled(kind)
    return f"{FOLDER}/{_FOLDERS.get(name) or slug(name)}"

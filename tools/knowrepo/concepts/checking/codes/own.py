"""Our own files: know.toml and the archive of sessions."""

from __future__ import annotations

from knowrepo.concepts.checking.codes.code import Code

CODES = (
    Code(
        "KNOW301", "warning", "", "know.toml has a key that means nothing",
        "It does not do what its writer thinks.",
        "comand = true",
        "remove it, or correct its name.",
    ),
    Code(
        "KNOW302", "error", "", "a file is in conflict after a merge",
        "What it says is not decided.",
        "git status: both modified",
        "resolve it, then `git add` it.",
    ),
    Code(
        "KNOW303", "warning", "", "know.toml allows a secret to be archived",
        "What the hash stands for is left as it is, in every clone.",
        'allow = ["sha256:…"]',
        "remove it unless the text is no secret.",
    ),
    Code(
        "KNOW304", "error", "", "files of a forgotten session are there again",
        "Somebody wanted them gone; a merge brought them back.",
        "sessions/claude/<id>.jsonl beside its tombstone",
        "run `know forget SESSION --yes` once more.",
    ),
    Code(
        "KNOW305", "error", "", "an archived session holds conflict markers",
        "Its lines cannot be read from there on.",
        "<<<<<<< HEAD in a .jsonl file",
        "run the command that the message names.",
    ),
)  # fmt: skip

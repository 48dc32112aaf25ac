"""Labelled sets of a few rows, in the three forms that `know bench` reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from helpers import assistant, jsonl, user

SPOKEN = [
    ("Ann", "The kiln is broken."),
    ("Ben", "Ask Cleo to mend it."),
    ("Ann", "What about the glaze?"),
    ("Ben", "The cobalt glaze is in the cellar."),
]
ONE = "0a0a0a0a-0b0b-4c0c-8d0d-0e0e0e0e0e01"
TWO = "0a0a0a0a-0b0b-4c0c-8d0d-0e0e0e0e0e02"


def lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def dialogues(
    folder: Path,
    *,
    spoken: Sequence[tuple[str, str]] = SPOKEN,
    groups: Sequence[str] = ("g1", "g2"),
) -> Path:
    """Two groups of a session each; the second session speaks of other things."""
    other = [("Dora", "My tortoise eats clover."), ("Emil", "Mine prefers dandelions.")]
    rows: list[dict[str, Any]] = []
    for group in groups:
        said = spoken if group == groups[0] or spoken is not SPOKEN else other
        for number, (speaker, text) in enumerate(said, start=1):
            rows.append({
                "id": f"{group}/a{number}", "group": group, "session": f"{group}/s",
                "title": "1:56 pm on 8 May, 2023", "speaker": speaker, "text": text,
            })  # fmt: skip
    lines(folder / "corpus.jsonl", rows)
    first, last = groups[0], groups[-1]
    lines(folder / "queries.jsonl", [
        {"id": "q1", "group": first, "kind": "who", "text": "who mends the broken kiln"},
        {"id": "q2", "group": last, "kind": "what", "text": "does my tortoise eat clover"},
        {"id": "q3", "group": first, "kind": "abstention", "text": "how tall is the lighthouse"},
    ])  # fmt: skip
    lines(folder / "qrels.jsonl", [
        {"q": "q1", "d": [f"{first}/a2"]}, {"q": "q2", "d": [f"{last}/a1"]}, {"q": "q3", "d": []},
    ])  # fmt: skip
    return folder


def passages(folder: Path) -> Path:
    """Three passages, of which the first and the last are the same."""
    texts = ["The river Arn is 90 km long.", "Lake Sil freezes in January."]
    rows = [*texts, texts[0]]
    lines(folder / "corpus.jsonl", (
        {"id": f"en/p{number}", "group": "en", "session": "s", "title": "", "text": text}
        for number, text in enumerate(rows)
    ))  # fmt: skip
    lines(folder / "queries.jsonl", [
        {"id": "a", "group": "en", "kind": "en", "text": "When does lake Sil freeze?"},
        {"id": "b", "group": "en", "kind": "en", "text": "How long is the river Arn?"},
    ])  # fmt: skip
    lines(folder / "qrels.jsonl", [{"q": "a", "d": ["en/p1"]}, {"q": "b", "d": ["en/p2"]}])
    return folder


def bundles(folder: Path) -> Path:
    """Two bundles of which each has a concept that answers the first question."""
    for name, tag, title in (
        ("one/kiln.md", "firing", "Firing the kiln"),
        ("one/glaze.md", "glaze", "Mixing a glaze"),
        ("two/oven.md", "firing", "Heating the oven"),
    ):
        path = folder / "bundles" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\ntype: Playbook\ntitle: {title}\ntags: [{tag}]\n---\n\nHow it is done.\n",
            encoding="utf-8",
        )
    lines(folder / "dev.jsonl", [
        {"id": "t", "bundle": "one", "kind": "tag", "text": "firing", "answers": ["kiln.md"],
         "also": ["two:oven.md"]},
        {"id": "n", "bundle": "two", "kind": "none", "text": "salary of the mayor", "answers": []},
    ])  # fmt: skip
    return folder


def sessions(folder: Path) -> Path:
    """Two transcripts, and three questions of which the last has no answer."""
    one = [
        user("Why does the importer hang?", 1, sessionId=ONE),
        assistant("The importer waits for a lock that the scheduler holds.", 2, sessionId=ONE),
    ]
    two = [
        user("Rename the exporter flag.", 1, sessionId=TWO),
        assistant("The flag is called colour now.", 2, sessionId=TWO),
    ]
    for name, records in (("one", one), ("two", two)):
        path = folder / "corpus" / "app" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jsonl(records))
    lines(folder / "dev.jsonl", [
        {"id": "a", "kind": "failure", "text": "importer hangs on a lock",
         "session": "app/one.jsonl", "uuids": [one[1]["uuid"]]},
        {"id": "b", "kind": "lexical", "text": "exporter flag colour",
         "session": "app/two.jsonl", "uuids": ["L2"]},
        {"id": "c", "kind": "none", "text": "price of the lighthouse", "session": None,
         "uuids": []},
    ])  # fmt: skip
    return folder

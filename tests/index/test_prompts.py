"""Passages and queries cannot be swapped: a type checker sees it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
RIGHT = """\
from knowrepo.index.embed import Embedder, LlamaEmbedder, Passage, Query
from knowrepo.index.endpoint import EndpointEmbedder

def both(llama: LlamaEmbedder, endpoint: EndpointEmbedder) -> list[Embedder]:
    return [llama, endpoint]

def right(embedder: Embedder) -> None:
    embedder.embed_passage(Passage("a"))
    list(embedder.embed_passages([Passage("a")]))
    embedder.embed_query(Query("a"))
"""
WRONG = (
    'embedder.embed_passage(Query("a"))',
    'list(embedder.embed_passages([Query("a")]))',
    'embedder.embed_query(Passage("a"))',
    'embedder.embed_passage("a")',
    'embedder.embed_query("a")',
)


def test_mypy_refuses_a_query_as_a_passage_and_the_reverse(tmp_path):
    first = RIGHT.count("\n") + 3
    body = "".join(f"    {line}\n" for line in WRONG)
    snippet = tmp_path / "snippet.py"
    snippet.write_text(f"{RIGHT}\ndef wrong(embedder: Embedder) -> None:\n{body}")
    # In a process of its own: mypy raises the limit of recursion for all that comes after it.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent",
         "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache"), "snippet.py"],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": str(TOOLS)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    out = done.stdout
    assert (done.returncode, done.stderr) == (1, "")
    lines = [int(number) for number in re.findall(r"^snippet\.py:(\d+): error:", out, re.MULTILINE)]
    assert lines == [first + at for at in range(len(WRONG))], out

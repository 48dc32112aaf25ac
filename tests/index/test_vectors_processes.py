"""What only processes of their own can show: writers at once, killed ones, readers beside them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from test_vectors_damage import nearest, rows

from knowrepo.index.chunk import text_hash
from knowrepo.index.vectors import MOST_SEGMENTS, VectorStore, manifest

# Adds batches of ten texts, and says so after each.
WRITER = """
import sys; from pathlib import Path
from test_vectors_damage import rows; from knowrepo.index.vectors import VectorStore
store = VectorStore(Path(sys.argv[1]), "words")
for batch in range(int(sys.argv[3])):
    store.add(rows(*(f"{sys.argv[2]} {batch} {n}" for n in range(10))))
    print(batch, flush=True)
"""
# Dies on the way: at a call of the named function, before or after it is done.
KILLED = """
import os, sys; from pathlib import Path
from test_vectors_damage import rows
from knowrepo.index.vectors import VectorStore, manifest, segment, sweep
module, name = {"write": (segment, "insert"), "publish": (manifest, "write"),
                "merge": (segment, "merge"), "unlink": (manifest, "write")}[sys.argv[2]]
whole = getattr(module, name)
def killed(*given, **named):
    if sys.argv[2] == "unlink":  # the merged segment is published, the old ones lie there still
        whole(*given, **named)
        if len(given[1]) > 1 or given[1][0].rows < 20: return
    os.kill(os.getpid(), 9)
setattr(module, name, killed)
VectorStore(Path(sys.argv[1]), "words").add(rows(*(f"new {n}" for n in range(10))))
"""


def run(script: str, *arguments: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    made = VectorStore(tmp_path / "vectors", "words")
    made.add(rows(*(f"base {n}" for n in range(10))))
    return made


def test_two_processes_add_at_once_while_a_reader_finds_what_there_is(store):
    writers = [run(WRITER, str(store.folder.parent), name, "8") for name in ("a", "b")]
    looks = 0
    while any(writer.poll() is None for writer in writers):
        assert nearest(store, "base 3", ["base 3", "base 4", "a 0 1"]) == "base 3"
        looks += 1
    for writer in writers:
        assert writer.communicate()[0].split() == [str(n) for n in range(8)]
        assert writer.returncode == 0
    assert looks > 1
    assert store.damaged == []
    names = [f"{name} {batch} {n}" for name in "ab" for batch in range(8) for n in range(10)]
    assert store.hashes() == {text_hash(t) for t in [*names, *(f"base {n}" for n in range(10))]}
    assert len(manifest.read(store.folder) or []) <= MOST_SEGMENTS + 1
    assert manifest.waste(store.folder) == []


@pytest.mark.parametrize("moment", ["write", "publish", "merge", "unlink"])
def test_a_writer_killed_on_the_way_costs_its_batch_at_most(store, moment):
    process = run(KILLED, str(store.folder.parent), moment)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    base = {text_hash(f"base {n}") for n in range(10)}
    new = {text_hash(f"new {n}") for n in range(10)}
    published = moment in {"merge", "unlink"}
    assert store.hashes() == (base | new if published else base)
    assert manifest.waste(store.folder) != []
    assert store.check(full=True) == []
    assert manifest.waste(store.folder) == []
    store.add(rows(*(f"new {n}" for n in range(10))))
    assert store.hashes() == base | new
    assert nearest(store, "new 7", ["new 7", "base 1"]) == "new 7"

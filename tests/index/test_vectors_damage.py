"""Files that are not what they should be: never trusted, never fatal, told and replaced."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

from helpers import WordEmbedder, unprivileged
from knowrepo.errors import KnowError
from knowrepo.index.chunk import text_hash
from knowrepo.index.embed import Passage, Query
from knowrepo.index.vectors import VectorStore, manifest

EMBEDDER = WordEmbedder()
TEXTS = [f"text {number}" for number in range(300)]


def rows(*texts: str, embedder: WordEmbedder = EMBEDDER) -> list:
    return [(text_hash(text), 0, embedder.embed_passage(Passage(text))[0]) for text in texts]


def nearest(store: VectorStore, query: str, live: list[str]) -> str:
    names = {text_hash(text): text for text in live}
    with store.ranked(EMBEDDER.embed_query(Query(query))) as ranking:
        found = ranking.among(list(names), 1)
        first = next(ranking.batches(), [])[:1]
    assert first == found[:1]
    return names[found[0][0]] if found else ""


@pytest.fixture
def store(tmp_path: Path) -> VectorStore:
    """A large segment and a small one."""
    made = VectorStore(tmp_path / "vectors", "words")
    made.add(rows(*TEXTS))
    made.add(rows("other"))
    return made


def large(store: VectorStore) -> Path:
    segments = manifest.read(store.folder)
    assert segments is not None
    assert [segment.rows for segment in segments] == [300, 1]
    return store.folder / segments[0].file


def foreign(path: Path, statement: str) -> None:
    path.unlink()
    with duckdb.connect(str(path)) as db:
        db.execute(statement)


def of_another_table(path: Path, fingerprint: str, embedder: WordEmbedder) -> None:
    other = VectorStore(path.parent.parent.parent / "elsewhere", fingerprint)
    other.add(rows(*TEXTS, embedder=embedder))
    (segment,) = manifest.read(other.folder) or []
    shutil.copy(other.folder / segment.file, path)


def flip(path: Path) -> None:
    """Flip a bit of a vector, at the same size and time: what only reading shows."""
    stat = path.stat()
    content = bytearray(path.read_bytes())
    vector = rows("text 123")[0][2][:48].astype(np.float16).astype(np.float32)
    content[content.index(vector.tobytes()) + 50] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def newer_storage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    at = content.index(b"DUCK") + 4
    content[at : at + 8] = (9999).to_bytes(8, "little")
    path.write_bytes(content)


DAMAGE = {
    "gone": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "text": lambda path: path.write_text("not a database\n" * 1000),
    "truncated": lambda path: os.truncate(path, path.stat().st_size - 5000),
    "cut to a block": lambda path: os.truncate(path, 12288),
    "flipped": flip,
    "another schema": lambda path: foreign(path, "CREATE TABLE vectors AS SELECT 1 AS x"),
    "a view": lambda path: foreign(
        path,
        "CREATE TABLE about (format INTEGER, fingerprint VARCHAR, dimension INTEGER);"
        "INSERT INTO about VALUES (1, 'words', 64);"
        "CREATE VIEW pieces AS SELECT * FROM read_csv('/etc/passwd')",
    ),
    "another fingerprint": lambda path: of_another_table(path, "others", EMBEDDER),
    "another dimension": lambda path: of_another_table(path, "words", WordEmbedder(dimension=32)),
    "a newer storage": newer_storage,
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("first", ["a search", "the index"])
def test_a_damaged_segment_costs_its_own_vectors_and_is_set_aside(store, damage, first):
    path = large(store)
    DAMAGE[damage](path)
    if first == "a search":
        assert nearest(store, "other", ["other", *TEXTS]) == "other"
        told = store.damaged
    else:
        # From outside, bits that flipped are not to be seen; the next search reads all.
        told = store.check(full=damage == "flipped")
    assert [(one.name, bool(one.why)) for one in told] == [(path.name, True)]
    assert not path.exists()
    assert damage == "gone" or path.with_name(f"{path.name}.damaged").exists()
    again = VectorStore(store.folder.parent, "words")
    assert again.check(full=True) == []
    assert again.hashes() == {text_hash("other")}
    again.add(rows("text 7"))
    assert nearest(again, "text 7", ["other", *TEXTS]) == "text 7"
    assert again.damaged == []


@pytest.mark.parametrize("damage", DAMAGE)
def test_of_what_is_damaged_nothing_is_left_when_a_text_is_to_go(store, damage):
    path = large(store)
    DAMAGE[damage](path)
    path.with_name(f"{'c' * 32}.duckdb.damaged").write_bytes(b"what it holds nobody knows")
    store.remove({text_hash("text 123")})
    named = {found.file for found in manifest.read(store.folder) or []}
    assert {found.name for found in store.folder.iterdir()} == {manifest.FILE, "lock", *named}
    assert store.check(full=True) == []
    assert VectorStore(store.folder.parent, "words").hashes() == {text_hash("other")}


def test_a_text_goes_also_where_the_manifest_cannot_be_read(store):
    manifest.path(store.folder).write_text("{")
    assert store.remove({text_hash("text 123")}) == 1
    assert len(store.hashes()) == 300
    assert text_hash("text 123") not in store.hashes()


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_table_with_damage_is_cut_down_to_what_is_needed_and_it_is_told(store, damage):
    path = large(store)
    DAMAGE[damage](path)
    needed = [bytes.fromhex(text_hash(text)) for text in ("text 5", "other")]
    would = store.retain(needed, dry_run=True)
    done = store.retain(needed)
    for kept in (would, done):
        assert [(one.name, bool(one.why)) for one in kept.damaged] == [(path.name, True)]
        assert (kept.kept, kept.dropped) == (1, 300)
    assert store.hashes() == {text_hash("other")}


def test_a_whole_table_of_damage_is_an_empty_answer(store):
    for segment in manifest.read(store.folder) or []:
        (store.folder / segment.file).write_bytes(b"x")
    assert nearest(store, "other", ["other"]) == ""
    assert store.is_empty()


def test_vectors_of_another_dimension_are_never_compared(store):
    query = WordEmbedder(dimension=32).embed_query(Query("other"))
    with store.ranked(query) as ranking:
        assert ranking.among([text_hash("other")], 5) == []
        assert list(ranking.batches()) == []


def test_a_segment_that_was_touched_is_read_once_and_then_known_again(store, monkeypatch):
    path = large(store)
    os.utime(path, ns=(1, 1))
    assert store.check() == []
    (found, _) = manifest.read(store.folder) or []
    assert found.mtime_ns == path.stat().st_mtime_ns == 1
    flip(path)
    assert store.check() == []  # as it was written, seen from outside
    assert [one.name for one in store.check(full=True)] == [path.name]


@pytest.mark.parametrize(
    "content", ["{", "", "[]", '{"segments": [{"file": "../../x.duckdb", "rows": 1}]}', None]
)
def test_a_manifest_that_is_lost_is_made_from_the_segments(store, content):
    large(store)
    path = manifest.path(store.folder)
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    (store.folder / f"{'a' * 32}.duckdb").write_bytes(b"half")
    assert store.is_empty()
    assert nearest(store, "other", ["other"]) == ""
    assert store.check() == []
    assert store.hashes() == {text_hash(text) for text in [*TEXTS, "other"]}


def test_what_a_killed_writer_left_goes_and_is_never_adopted_beside_a_good_manifest(store):
    stray = store.folder / f"{'b' * 32}.duckdb"
    shutil.copy(large(store), stray)
    half = store.folder / ".x.duckdb.1.tmp"
    half.write_bytes(b"half")
    assert len(store.hashes()) == 301
    assert store.check() == []
    assert not stray.exists()
    assert not half.exists()
    assert len(store.hashes()) == 301


def test_a_disk_that_cannot_be_written_is_searched(store):
    damaged = large(store)
    flip(damaged)
    for folder in store.folder.parents[:4]:
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(0o755)
    store.folder.chmod(0o555)
    try:
        with unprivileged():
            for _ in range(2):
                assert nearest(store, "other", ["other", *TEXTS]) == "other"
            assert [one.name for one in store.damaged] == [damaged.name]
            with pytest.raises(KnowError, match="cannot be written"):
                store.add(rows("more"))
    finally:
        store.folder.chmod(0o755)
    assert damaged.exists()


def test_a_full_disk_is_said_and_leaves_the_table_as_it_was(store):
    before = manifest.path(store.folder).read_bytes()
    script = (
        "import resource, signal, sys; from pathlib import Path\n"
        "sys.path.insert(0, sys.argv[2])\n"
        "from test_vectors_damage import rows; from knowrepo.errors import KnowError\n"
        "from knowrepo.index.vectors import VectorStore\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: VectorStore(Path(sys.argv[1]), 'words').add(rows(*map(str, range(2000))))\n"
        "except KnowError as error: print(error.message)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(store.folder.parent), str(Path(__file__).parent)],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert "vectors cannot be written" in done.stdout
    assert manifest.path(store.folder).read_bytes() == before
    assert manifest.temporary(store.folder) == []
    assert json.loads(before)["segments"]
    assert len(store.hashes()) == 301

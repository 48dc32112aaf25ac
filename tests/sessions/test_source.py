from __future__ import annotations

import gzip
import json
import sys

import pytest

from helpers import SESSION, assistant, jsonl, make_repository, transcript, user
from knowrepo.errors import KnowError
from knowrepo.sessions.archive import archive
from knowrepo.sessions.discover import find_sources
from knowrepo.sessions.source import Source, as_lines, canonical

RECORDS = [user("one", 1), assistant("two", 2)]


def compressed(data: bytes, how: str) -> bytes:
    if how == "gzip":
        return gzip.compress(data)
    from backports import zstd

    return zstd.compress(data)


@pytest.mark.parametrize("how", ["gzip", "zstd"])
def test_a_compressed_transcript_is_the_session_that_it_holds(repository, tmp_path, how):
    source = tmp_path / f"{SESSION}.jsonl.z"
    source.write_bytes(compressed(jsonl(RECORDS), how))
    plain = transcript(tmp_path, RECORDS)
    assert [o.action for o in archive(repository, [source])] == ["new"]
    assert [o.action for o in archive(repository, [source, plain])] == ["unchanged", "unchanged"]
    stored = repository.sessions / "claude" / f"{SESSION}.jsonl"
    assert stored.read_bytes() == jsonl(RECORDS)
    source.write_bytes(compressed(jsonl([*RECORDS, user("more", 3)]), how))
    assert [o.action for o in archive(repository, [source])] == ["grown"]


@pytest.mark.parametrize("how", ["gzip", "zstd"])
@pytest.mark.parametrize("cut", [3, 6, 40])
def test_a_compressed_file_that_is_cut_off_fails_alone_and_is_said(repository, tmp_path, how, cut):
    source = tmp_path / f"{SESSION}.jsonl"
    source.write_bytes(compressed(jsonl(RECORDS), how)[:cut])
    good = transcript(tmp_path / "in", RECORDS)
    outcomes = list(archive(repository, [source, good]))
    assert outcomes[0].action in {"failed", "empty", "not a transcript"}
    assert "a bug" not in outcomes[0].note
    assert outcomes[1].action == "new"


KIRO = {"version": "v1", "kind": "Prompt", "data": {
    "message_id": "m1", "content": [{"kind": "text", "data": "build it"}]}}  # fmt: skip
CURSOR = {"role": "user", "message": {"content": [{"type": "text", "text": "build it"}]}}
SPAWNED = user("task", 1, isSidechain=True)
AIDER = b"# aider chat started at 2026-06-09 14:01:00\n\n#### faster  \n\nDone.\n"


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize(
    "files",
    [
        {"full.jsonl": jsonl([KIRO])},
        {f"{SESSION}.jsonl": jsonl([KIRO]), f"{SESSION}.json": json.dumps({
            "session_id": SESSION, "cwd": "/home/dev/app", "title": "Building"}).encode()},
        {"full.jsonl": jsonl([CURSOR])},
        {"full.txt": b"user:\n<user_query>\nbuild it\n</user_query>\n\nassistant:\nDone.\n"},
        {".aider.chat.history.md": AIDER},
        {f"{SESSION}/tool-results/a.txt": b"long output\n"},
        {f"{SESSION}.jsonl": jsonl(RECORDS),
         f"{SESSION}/subagents/agent-a.jsonl": jsonl([SPAWNED])},
    ],
    ids=["kiro", "kiro's folder", "cursor", "cursor's text", "aider", "tool result", "sub-agent"],
)  # fmt: skip
def test_a_file_is_the_same_session_compressed(tmp_path, files, ending):
    found = []
    for name in ("plain", "packed"):
        repository, folder = make_repository(tmp_path / name / "memory"), tmp_path / name / "in"
        for path, data in files.items():
            packed = name == "packed"
            source = folder / (path + ending if packed else path)
            source.parent.mkdir(parents=True, exist_ok=True)
            how = "gzip" if ending == ".gz" else "zstd"
            source.write_bytes(compressed(data, how) if packed else data)
        outcomes = list(archive(repository, find_sources([folder])))
        assert "failed" not in [o.action for o in outcomes], outcomes
        stored = repository.sessions.rglob("*.jsonl")
        found.append({p.relative_to(repository.root): p.read_bytes() for p in stored})
    assert found[0] == found[1] != {}


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python reads zstd by itself")
def test_without_zstd_it_is_said_what_to_install(tmp_path, monkeypatch):
    source = tmp_path / "x.jsonl"
    source.write_bytes(compressed(b"{}", "zstd"))
    monkeypatch.setitem(sys.modules, "backports", None)
    with pytest.raises(KnowError, match="compressed with zstd") as error:
        Source(source)
    assert "knowrepo[zstd]" in (error.value.hint or "")


@pytest.mark.parametrize(
    ("text", "is_document"),
    [
        ('{"a": 1}', True),
        ('{"a": 1}\n', True),
        ('\ufeff{\n "a": [1,\n 2]\n}', True),
        ('[{"a": 1}]', True),
        ('{"a": 1}\n{"b": 2}\n', False),
        ('{"a": 1', False),
        ("text", False),
        ("[" * 100_000, False),
    ],
)
def test_a_json_document_is_told_from_json_lines(tmp_path, text, is_document):
    path = tmp_path / "file"
    path.write_text(text, encoding="utf-8")
    assert (Source(path).document is not None) == is_document


def test_a_native_message_has_one_spelling():
    one, two = {"b": 1, "a": "ü\ud83d"}, {"a": "ü\ud83d", "b": 1}
    assert canonical(one) == canonical(two)
    assert json.loads(canonical(one)) == one
    assert canonical({"a": "ü"}) == '{"a":"ü"}'.encode()
    (line,) = as_lines([one])
    assert (line.number, line.raw, line.record) == (1, canonical(one), one)

"""Real transcripts and bundles, where they are laid out beside the checkout.

They belong to others and are no part of this project. What must hold of any
input is tested with our own small ones; here it is held against real ones.
"""

from __future__ import annotations

import io
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers import SHARED, git, make_repository
from knowrepo.concepts.checking import validate
from knowrepo.git.layout import Repository
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.recall import present, route
from knowrepo.recall.structured import ask
from knowrepo.sessions.archive import archive
from knowrepo.sessions.discover import find_sources
from knowrepo.sessions.export import FORMATS, Limits, open_page
from knowrepo.sessions.intake import take_file
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.listing import find, glance
from knowrepo.sessions.outcome import Outcome
from knowrepo.sessions.readers import READERS, recognise
from knowrepo.sessions.readers.claude import ClaudeReader
from knowrepo.sessions.source import Source
from knowrepo.sessions.store import resolved
from knowrepo.terminal import json_text

TRANSCRIPTS, BUNDLES = SHARED / "transcripts", SHARED / "okf" / "bundles"
SESSIONS = SHARED / "sessions" / "corpus"
pytestmark = pytest.mark.skipif(
    not TRANSCRIPTS.is_dir(), reason="the shared data is not laid out beside the checkout"
)


@pytest.fixture(scope="module")
def archived(tmp_path_factory) -> tuple[Repository, list[Outcome]]:
    repository = make_repository(tmp_path_factory.mktemp("real") / "memory")
    return repository, list(archive(repository, find_sources([TRANSCRIPTS])))


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """A second, independent reading: whole lines that are JSON objects."""
    for raw in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(raw.strip(b"\0\r\n \xef\xbb\xbf").decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def said(record: dict[str, Any]) -> Iterator[str]:
    """The texts of a record that somebody said or a tool printed."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict):
            if isinstance(block.get("text"), str):
                yield block["text"]
            if block.get("type") == "tool_result" and isinstance(block.get("content"), str):
                yield block["content"]


def test_no_message_of_a_claude_code_transcript_is_lost(archived):
    repository, outcomes = archived
    checked = 0
    for outcome in outcomes:
        if not outcome.session or outcome.action == "empty":
            continue
        path = repository.sessions / f"{outcome.session}.jsonl"
        kept = {text for record in objects(path) for text in said(record)}
        for record in objects(outcome.source):
            for text in said(record):
                checked += 1
                assert text in kept, (outcome.source, text[:80])
    assert checked > 2400


def test_no_real_transcript_is_claimed_by_two_readers():
    claimed = 0
    for path in sorted([*TRANSCRIPTS.rglob("*"), *SESSIONS.rglob("*")]):
        if not path.is_file():
            continue
        records = [line.record for line in Source(path).first_lines if line.record is not None]
        agents = [reader.agent for reader in READERS if reader.recognises(records)]
        assert len(agents) <= 1, (path, agents)
        claimed += len(agents)
    assert claimed > 240


def test_every_transcript_of_claude_code_is_recognised(archived):
    _, outcomes = archived
    assert not [outcome for outcome in outcomes if outcome.action == "failed"]
    reader = ClaudeReader()
    for outcome in outcomes:
        if outcome.action == "not a transcript":
            records = list(objects(outcome.source))
            named = [r for r in records if reader.session_id(r) and "payload" not in r]
            typed = [r for r in named if r.get("type") in {"user", "assistant"}]
            assert not typed or "messages" in records[0], outcome.source


def test_archiving_all_again_changes_nothing(archived):
    repository, _ = archived
    before = {p: p.stat().st_mtime_ns for p in repository.sessions.rglob("*.jsonl")}
    again = list(archive(repository, find_sources([TRANSCRIPTS])))
    assert {outcome.action for outcome in again} == {"unchanged", "not a transcript", "empty"}
    assert {p: p.stat().st_mtime_ns for p in repository.sessions.rglob("*.jsonl")} == before


def test_another_order_gives_the_same_archive(archived, tmp_path):
    repository, _ = archived
    sources = list(find_sources([TRANSCRIPTS]))
    random.Random(5).shuffle(sources)
    other = make_repository(tmp_path / "memory")
    list(archive(other, sources))
    first, second = (
        {p.relative_to(r.sessions): p.read_bytes() for p in r.sessions.rglob("*.jsonl")}
        for r in (repository, other)
    )
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_what_is_archived_is_indexed_and_recalled(archived):
    repository, _ = archived
    refresh(repository)
    assert refresh(repository).indexed == 0
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        assert catalog.counts()["chunks"] > 900
        titles = [document.title for document in catalog.newest(100, Filter())]
    for title in titles[:40]:
        answer = route.recall(repository, title)
        json.loads(json_text([present.fields(hit, full=True) for hit in answer.hits]))
        assert answer.hits


@pytest.mark.parametrize(
    "path", sorted((TRANSCRIPTS / "_synthetic").glob("*.jsonl")), ids=lambda p: p.stem
)
def test_one_defect_costs_no_marker(path, tmp_path):
    repository = make_repository(tmp_path / "memory")
    (outcome,) = archive(repository, [path])
    with (repository.sessions / f"{outcome.session}.jsonl").open("rb") as stream:
        lines = list(resolved(read_lines(stream)))
    text = " ".join(record.text for record in ClaudeReader().read(lines))
    raw = path.read_bytes().decode("utf-8", "replace")
    for marker in ("MARKER-ONE", "MARKER-TWO", "MARKER-THREE", "MARKER-FOUR", "MARKER-QUEUED"):
        pending = outcome.kept.pending and marker == "MARKER-FOUR"
        if marker in raw and not pending:
            assert marker in text
    if "MARKER-QUEUED" in raw:
        assert text.count("MARKER-QUEUED") == 1


def test_real_bundles_are_judged_as_they_should_be():
    errors: dict[str, set[str]] = {}
    for bundle in sorted(p for p in BUNDLES.iterdir() if p.is_dir()):
        files = {
            f"concepts/{p.relative_to(bundle).as_posix()}": p.read_bytes()
            for p in bundle.rglob("*.md")
        }
        found = validate.check(
            files,
            lambda path, top=bundle: (top / path.removeprefix("concepts").lstrip("/")).exists(),
        )
        codes = {finding.code for finding in found if finding.severity == "error"}
        if codes:
            errors[bundle.name] = codes
    # Its unquoted colons are broken YAML, and its index has keys of its own.
    assert errors == {"okf-studio": {"OKF103", "OKF111"}}


def test_the_structured_layer_is_right_where_it_speaks(tmp_path):
    import shutil

    repository = make_repository(tmp_path / "memory")
    shutil.copytree(BUNDLES, repository.concepts, dirs_exist_ok=True)
    for path in [repository.root, *repository.root.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    git(repository.root, "add", "-A")
    refresh(repository)
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    answered = right = asked = none = 0
    with catalog:
        for line in (SHARED / "okf" / "dev.jsonl").read_text(encoding="utf-8").splitlines():
            query = json.loads(line)
            answer = ask(catalog, query["text"], Filter())
            paths = [
                document.path
                for document in catalog.documents(
                    [match.document for match in answer.matches[:1]]
                ).values()
            ]
            gold = {f"concepts/{query['bundle']}/{path}" for path in query["answers"]}
            gold |= {f"concepts/{other.replace(':', '/', 1)}" for other in query.get("also", [])}
            if query["kind"] == "none":
                none += bool(paths)
            elif query["kind"] in {"tag", "title", "anticipated"}:
                asked += 1
                answered += bool(paths)
                right += bool(set(paths) & gold)
    assert none == 0
    assert right / answered >= 0.95
    assert answered / asked >= 0.90


def test_every_real_session_has_a_page_and_a_glance_tells_what_reading_it_does(archived):
    repository, _ = archived
    sessions = find(repository)
    assert len(sessions) > 40
    for session in sessions:
        page = open_page(repository, session)
        for kind, render in FORMATS.items():
            assert session.id in "".join(render(page, Limits())), kind
        if session.size:
            assert glance(session).title == page.main.facts.title
            assert glance(session).date == page.main.facts.date


# -- a second count ---------------------------------------------------------------


def sources_as_lines() -> list[Path]:
    every = [*find_sources([TRANSCRIPTS]), *find_sources([SESSIONS])]
    return [path for path in every if path.suffix == ".jsonl"]


def test_every_record_is_kept_but_for_what_a_rule_drops(tmp_path):
    """What came in adds up, and each record is the same but for what may change."""
    records = dropped = bad = 0
    for path in sources_as_lines():
        found = recognise(Source(path))
        if found is None or found.sessions is not None:
            continue
        out = io.BytesIO()
        kept = take_file(path, out, found.reader).kept
        assert kept.pieces == kept.records + kept.dropped + len(kept.bad) + kept.pending, path
        written = tmp_path / "archived"
        written.write_bytes(out.getvalue())
        archived = list(objects(written))
        assert len(archived) == kept.records + len(kept.bad), path
        records, dropped, bad = records + kept.records, dropped + kept.dropped, bad + len(kept.bad)
        left = iter(archived)
        for record in objects(path):
            if is_progress_chatter(record):
                continue
            # What stands on a broken line comes in between.
            match = next((one for one in left if head_of(one) == head_of(record)), None)
            assert match is not None, (path, head_of(record))
            lost = list(unexplained(record, match, json.dumps(match, ensure_ascii=False)))
            assert not lost, (path, lost[:1])
    assert records > 40_000
    assert dropped > 1_000
    assert bad > 10


def head_of(record: dict[str, Any]) -> list[Any]:
    return [record.get(key) for key in ("type", "uuid", "id", "timestamp", "leafUuid", "messageId")]


def is_progress_chatter(record: dict) -> bool:
    data = record.get("data")
    kinds = {"hook_progress", "mcp_progress", "waiting_for_task"}
    return record.get("type") == "progress" and isinstance(data, dict) and data.get("type") in kinds


def unexplained(before: object, after: object, shown: str) -> Iterator[object]:
    """Yield what an archived record lacks without a stub, a placeholder or a copy of it."""
    if before == after:  # without this function's own steps, which a deep record has too many of
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            if key in after:
                yield from unexplained(value, after[key], shown)
            elif not (isinstance(value, str) and is_shown(value, shown)):
                yield key, value
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for one, other in zip(before, after, strict=True):
            yield from unexplained(one, other, shown)
    elif not (
        isinstance(after, str) and ("[redacted:" in after or after.startswith(("[stub ", "data:")))
    ):
        yield before, after


def is_shown(value: str, shown: str) -> bool:
    text = json.dumps(value.strip(), ensure_ascii=False)[1:-1]
    numbered = re.sub(r"(^|\\n) *\d+(?:\\t|→)", r"\1", shown)
    return text in shown or text in numbered

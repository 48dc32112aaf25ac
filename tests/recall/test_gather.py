"""What is left out of a ranking because it says nothing new."""

from __future__ import annotations

import pytest

from helpers import assistant, concept, tool_call, tool_result, transcript, user, write
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.recall.gather import A_DOCUMENT, gather
from knowrepo.sessions.archive import archive

SESSIONS = [f"{digit * 8}-1111-4111-8111-111111111111" for digit in "abc"]
LONG = "why does the indexer lock every reader out while it writes to the rollback journal of it?"


@pytest.fixture
def catalog(repository, tmp_path):
    for session in SESSIONS[:2]:  # one resumed from the other repeats its exchange
        records = [user(LONG, 1), assistant("It must not.", 2), user(f"own {session}", 3)]
        list(archive(repository, [transcript(tmp_path / "in", records, f"{session}.jsonl")]))
    records = [user(f"question number {n}", n) for n in range(1, 8)]
    list(archive(repository, [transcript(tmp_path / "in", records, f"{SESSIONS[2]}.jsonl")]))
    refresh(repository)
    opened = Catalog.open(repository.catalog)
    assert opened is not None
    with opened:
        yield opened


def of(catalog: Catalog, session: str) -> list[int]:
    document = catalog.document_at(f"sessions/claude/{session}")
    assert document is not None
    return [chunk.id for chunk in catalog.chunks_of(document.id)]


def gathered(catalog, ranked, limit, parts=None):
    places = catalog.places([number for number, _ in ranked], Filter())
    documents = {number: place.document for number, place in places.items()}
    return gather(catalog, ranked, documents, limit, lambda number: (parts or {}).get(number, {}))


def test_equal_texts_are_one_hit_that_names_the_others(catalog):
    first, second = of(catalog, SESSIONS[0])[0], of(catalog, SESSIONS[1])[0]
    twins = gathered(catalog, [(second, 0.9), (first, 0.8)], 10)
    assert len(twins) == 1
    assert twins[0].uid == catalog.chunks([second])[second].uid
    other = catalog.chunks([first])[first].uid
    assert [other.startswith(shown) for shown in twins[0].also] == [True]


def test_short_texts_that_are_equal_by_chance_stay(catalog):
    ids = [of(catalog, session)[-1] for session in SESSIONS[:2]]
    assert len(gathered(catalog, [(number, 0.5) for number in ids], 10)) == 2


def test_a_document_has_few_hits_and_the_limit_holds(catalog):
    many = of(catalog, SESSIONS[2])
    ranked = [(number, 1.0 - place / 100) for place, number in enumerate(many)]
    ranked.append((of(catalog, SESSIONS[0])[0], 0.1))
    hits = gathered(catalog, ranked, 10)
    assert [SESSIONS[2] in hit.path for hit in hits] == [True] * A_DOCUMENT + [False]
    assert len(gathered(catalog, ranked, 1)) == 1


def test_a_document_with_most_of_the_ranking_leaves_room_for_others(catalog, monkeypatch):
    monkeypatch.setattr("knowrepo.recall.spread.CANDIDATES_A_DOCUMENT", 3)
    monkeypatch.setattr("knowrepo.recall.gather.CANDIDATES", 4)
    monkeypatch.setattr("knowrepo.recall.gather.OVERFETCH", 1)
    ranked = [(number, 0.9) for number in of(catalog, SESSIONS[2])]
    ranked.append((of(catalog, SESSIONS[0])[0], 0.1))
    assert len({hit.path for hit in gathered(catalog, ranked, 3)}) == 2


def test_the_evidence_of_a_chunk_comes_with_its_hit(catalog):
    number = of(catalog, SESSIONS[0])[0]
    hit = gathered(catalog, [(number, 0.5)], 1, {number: {"words": 0.123456}})[0]
    assert hit.evidence == {"words": 0.1235}


def test_what_somebody_said_comes_before_the_output_of_a_tool_that_fits_as_well(
    repository, tmp_path
):
    output = [tool_call("Bash", 1, command="make"), tool_result("the lock is held", 2, 1)]
    for session, records in zip(SESSIONS, (output, [user("the lock is held", 1)]), strict=False):
        list(archive(repository, [transcript(tmp_path / "in", records, f"{session}.jsonl")]))
    write(repository, "concepts/a.md", concept("Lock", body="Output: the lock is held"))
    refresh(repository)
    with Catalog.open(repository.catalog) as opened:
        quoted, told = (of(opened, session)[0] for session in SESSIONS[:2])
        document = opened.document_at("concepts/a")
        kept = opened.chunks_of(document.id)[0].id
        hits = gathered(opened, [(quoted, 0.5), (told, 0.5), (kept, 0.5)], 10)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert SESSIONS[0] in hits[-1].path
    assert [hit.score for hit in hits[:2]] == [
        0.5,
        0.5,
    ]  # a concept's text is as its author left it

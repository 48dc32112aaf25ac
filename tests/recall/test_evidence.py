"""What the words of a query say of chunks, on a real catalog."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import assistant, concept, transcript, user, write
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.text import content_words
from knowrepo.recall import evidence
from knowrepo.recall.evidence import Evidence, Lexical, look_for
from knowrepo.recall.spread import CANDIDATES_A_DOCUMENT
from knowrepo.sessions.archive import archive


@pytest.fixture
def catalog(repository, tmp_path):
    write(repository, "concepts/a.md", concept("Rollback journals", body="A journal is kept."))
    write(repository, "concepts/b.md", concept("Other", body="the journal of the rollback ended"))
    write(repository, "concepts/c.md", concept("Far", body=f"rollback {'filler ' * 30} journal"))
    records = [
        user("does the parser fold quokkas?", 1),
        assistant("It does, in the lexer.", 2),
        user("and wombats?", 3),
        assistant("Those are left alone.", 4),
        user("thanks", 5),
    ]
    list(archive(repository, [transcript(tmp_path / "in", records)]))
    refresh(repository)
    opened = Catalog.open(repository.catalog)
    assert opened is not None
    with opened:
        yield opened


def ask(catalog: Catalog, query: str, only: Filter | None = None) -> Lexical:
    return look_for(catalog, content_words(query), only or Filter())


def by_title(catalog: Catalog, found: Lexical) -> dict[str, Evidence]:
    documents = catalog.documents([place.document for place in found.places.values()])
    return {
        documents[place.document].title: found.evidence[chunk]
        for chunk, place in found.places.items()
    }


def test_each_kind_of_evidence_is_a_share_of_the_querys_weight(catalog):
    found = by_title(catalog, ask(catalog, "rollback journal"))
    assert found["Rollback journals"].title == 1.0
    assert found["Rollback journals"].coverage == 1.0
    assert found["Other"].title == 0.0
    assert found["Other"].coverage == 1.0
    assert 0 < found["Other"].words < 1


def test_words_that_stand_together_are_told_from_words_far_apart(catalog):
    found = by_title(catalog, ask(catalog, "rollback journal"))
    assert found["Other"].together > 0
    assert found["Far"].together == 0.0


def test_a_neighbours_words_count_by_half_and_the_document_as_a_whole(catalog):
    found = ask(catalog, "quokkas")
    places = {found.places[chunk].seq: one for chunk, one in found.evidence.items()}
    document = next(iter(found.places.values())).document
    beside = catalog.sequences([document])[document][1]
    more = look_for(catalog, content_words("quokkas"), Filter(), [beside]).evidence[beside]
    assert places[0].words == pytest.approx(1 / 1.9)
    assert more.words == pytest.approx(0.5 / 1.4)
    assert more.document == places[0].document > 0


def test_a_word_that_nothing_holds_costs_coverage(catalog):
    found = by_title(catalog, ask(catalog, "journal xyzzyplugh"))
    assert 0 < found["Other"].coverage < 0.5


def test_the_common_word_of_two_is_little_coverage_without_the_rare_one(catalog):
    found = by_title(catalog, ask(catalog, "journal ended"))
    assert found["Other"].coverage == 1.0  # which alone says that it ended
    assert 0 < found["Far"].coverage < 0.2  # of the plain weight it holds 0.3


def test_the_heaviest_missing_word_is_measured_by_one_that_stands_nowhere(catalog):
    assert by_title(catalog, ask(catalog, "journal rollback"))["Other"].missing == 0.0
    assert by_title(catalog, ask(catalog, "journal parser"))["Other"].missing < 1.0
    nowhere = by_title(catalog, ask(catalog, "journal parser xyzzyplugh"))
    assert nowhere["Other"].missing == 1.0


def test_words_that_say_when_cost_no_coverage(catalog):
    words = content_words("journal last week")
    timed = look_for(catalog, words, Filter(), of_time={"last", "week"})
    assert by_title(catalog, timed)["Other"].coverage == 1.0
    assert by_title(catalog, timed)["Other"].missing == 0.0
    assert (
        by_title(catalog, timed)["Other"].words
        < by_title(catalog, ask(catalog, "journal"))["Other"].words
    )
    assert not look_for(catalog, words[1:], Filter(), of_time={"last", "week"}).places


def test_a_misspelled_word_is_taken_for_its_neighbour_at_a_lower_weight(catalog):
    found = ask(catalog, "rolback journal")
    assert "rolback" in found.respelled
    assert by_title(catalog, found)["Other"].coverage < 1.0


def test_a_filter_comes_before_any_cut(catalog, monkeypatch):
    monkeypatch.setattr(evidence, "FIRST", 1)
    found = ask(catalog, "journal the quokkas", Filter(kind="session"))
    documents = catalog.documents([place.document for place in found.places.values()])
    assert {document.kind for document in documents.values()} == {"session"}


def test_of_common_words_the_places_are_read_in_what_is_put_forward(catalog, monkeypatch):
    whole = by_title(catalog, ask(catalog, "rollback journal"))
    monkeypatch.setattr(evidence, "MOST_OCCURRENCES", 1)
    found = by_title(catalog, ask(catalog, "rollback journal"))
    assert found.keys() == whole.keys()
    assert found["Other"].coverage == 1.0
    assert found["Other"].together > 0


def test_a_word_in_most_chunks_says_nothing_beside_one_that_tells_them_apart(
    catalog, repository, monkeypatch
):
    for number in range(9):
        write(repository, f"concepts/n{number}.md", concept(f"N{number}", body="journal"))
    refresh(repository)
    with Catalog.open(repository.catalog) as changed:
        monkeypatch.setattr(evidence, "MOST_OCCURRENCES", 9)
        assert by_title(changed, ask(changed, "rollback journal")).keys() == {
            "Rollback journals", "Other", "Far",
        }  # fmt: skip
        for query in ("journal", "journal xyzzyplugh"):
            alone = by_title(changed, ask(changed, query))
            assert {f"N{number}" for number in range(9)} < alone.keys()


@pytest.mark.parametrize("most", [20_000, 1])
def test_a_long_session_hides_no_other_document(catalog, repository, tmp_path, monkeypatch, most):
    monkeypatch.setattr(evidence, "FIRST", 2)
    monkeypatch.setattr(evidence, "MOST_OCCURRENCES", most)
    records = [user(f"journal {n} of the rollback journal", n) for n in range(1, 30)]
    name = f"{'e' * 8}-1111-4111-8111-111111111111.jsonl"
    list(archive(repository, [transcript(tmp_path / "in", records, name)]))
    refresh(repository)
    changed = Catalog.open(repository.catalog)
    assert changed is not None
    with changed:
        places = ask(changed, "rollback journal").places.values()
    of = Counter(place.document for place in places)
    assert len(of) == 4
    assert max(of.values()) == CANDIDATES_A_DOCUMENT


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from("rollback journal the quokkas parser xyz folds filler".split())))
def test_all_shares_lie_between_0_and_1(catalog, words):
    for one in ask(catalog, " ".join(words)).evidence.values():
        assert all(0 <= share <= 1 + 1e-9 for share in one)

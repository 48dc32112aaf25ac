"""Labelled sets in their three forms: how they are read, and as which files they are searched."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from helpers import assistant, jsonl, user
from knowrepo.bench.labelled_records import lines_of
from knowrepo.bench.making import answers, made
from knowrepo.bench.sets import read_set
from knowrepo.bench.shown import Shown, Spot
from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from set_samples import bundles, dialogues, lines, passages, sessions


def opened(done, unit):
    refresh(done.repository)
    catalog = Catalog.open(done.repository.catalog)
    assert catalog is not None
    rows = {path: line for path, line in sorted(done.places.values()) if line}
    return Shown(catalog, unit, done.exchanges, rows)


def test_dialogues_become_transcripts_whose_first_speaker_is_the_user(tmp_path):
    labelled = read_set(dialogues(tmp_path / "talk"))
    done = made(labelled, tmp_path / "made")
    path, line = done.places["g1/a2"]
    records = [json.loads(one) for one in (done.repository.root / path).read_text().splitlines()]
    assert (path.startswith("sessions/claude/"), line) == (True, 2)
    assert [record["type"] for record in records] == ["user", "assistant", "user", "assistant"]
    assert records[0]["message"]["content"] == "Ann: The kiln is broken."
    assert records[1]["message"]["content"][0]["text"] == "Ben: Ask Cleo to mend it."
    assert records[0]["timestamp"] == "2023-05-08T13:56:00.000Z"
    assert done.exchanges[path] == (1, 3)


def test_an_assistant_of_several_users_is_judged_by_the_exchange_and_one_users_by_the_session(
    tmp_path,
):
    spoken = [("user", "q"), ("assistant", "a")]
    several = read_set(dialogues(tmp_path / "several", spoken=spoken))
    assert several.unit == "turns"
    one = read_set(dialogues(tmp_path / "one", spoken=spoken, groups=("g",)))
    assert one.unit == "session"
    assert read_set(dialogues(tmp_path / "named")).unit == "session"


def test_rows_that_nobody_says_become_concepts_without_a_title(tmp_path):
    labelled = read_set(passages(tmp_path / "xq" / "en"))
    done = made(labelled, tmp_path / "made")
    assert (labelled.name, labelled.unit) == ("xq-en", "concept")
    assert done.places["en/p0"] == ("concepts/en-p0.md", 0)
    text = (done.repository.root / "concepts/en-p0.md").read_text()
    assert text == "---\ntype: Reference\n---\nThe river Arn is 90 km long.\n"
    assert "concepts/en-p0.md" in plumbing.tracked(done.repository, "concepts")


def test_bundles_are_copied_and_other_groups_left_out_where_one_is_asked_for(tmp_path):
    labelled = read_set(bundles(tmp_path / "okf"))
    whole, own = made(labelled, tmp_path / "all"), made(labelled, tmp_path / "own", group="one")
    question = labelled.questions[0]
    assert answers(labelled, question, whole) == {
        "concepts/one/kiln.md": frozenset(), "concepts/two/oven.md": frozenset(),
    }  # fmt: skip
    assert answers(labelled, question, own) == {"concepts/one/kiln.md": frozenset()}


def test_transcripts_are_archived_and_labelled_records_found_again(tmp_path):
    labelled = read_set(sessions(tmp_path / "sess"))
    done = made(labelled, tmp_path / "made")
    ((path, found),) = answers(labelled, labelled.questions[0], done).items()
    assert path == done.places["app/one.jsonl"][0]
    assert found == {2}
    assert [one.answerable for one in labelled.questions] == [True, True, False]
    shown = opened(done, "session")
    assert shown.right({path: found}) == {path}


def test_what_was_made_is_kept_and_read_again(tmp_path):
    labelled = read_set(dialogues(tmp_path / "talk"))
    first = made(labelled, tmp_path / "made")
    marker = first.repository.root / "marker"
    marker.touch()
    again = made(labelled, tmp_path / "made")
    assert (again.places, again.exchanges) == (first.places, first.exchanges)
    assert marker.exists()


def test_the_fingerprint_is_of_what_is_searched_and_not_of_what_is_asked(tmp_path):
    folder = dialogues(tmp_path / "talk")
    before = read_set(folder).fingerprint()
    lines(folder / "queries.jsonl", [{"id": "q", "group": "g1", "kind": "k", "text": "other"}])
    lines(folder / "qrels.jsonl", [{"q": "q", "d": []}])
    assert read_set(folder).fingerprint() == before
    dialogues(folder, spoken=[("Ann", "Something else."), ("Ben", "Yes.")])
    assert read_set(folder).fingerprint() != before


def test_compressed_files_are_read_alike(tmp_path):
    folder = dialogues(tmp_path / "talk")
    plain = read_set(folder)
    for path in list(folder.iterdir()):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert read_set(folder) == plain


def test_another_file_of_questions_may_be_named_in_place_of_the_folder(tmp_path):
    folder = bundles(tmp_path / "okf")
    other = folder / "held.jsonl"
    lines(other, [{"id": "x", "bundle": "one", "kind": "tag", "text": "kiln", "answers": []}])
    named = read_set(other)
    assert (named.name, [one.id for one in named.questions]) == ("okf-held", ["x"])
    assert named.fingerprint() == read_set(folder).fingerprint()


@pytest.mark.parametrize("broken", ["nothing", "no qrels", "a strange row", "no JSON", "a key"])
def test_what_is_no_set_is_told_with_its_place(tmp_path, broken):
    folder = dialogues(tmp_path / "talk")
    if broken == "nothing":
        folder = tmp_path
    elif broken == "no qrels":
        (folder / "qrels.jsonl").unlink()
    elif broken == "a strange row":
        lines(folder / "qrels.jsonl", [{"q": "q1", "d": ["nowhere"]}])
    elif broken == "no JSON":
        (folder / "corpus.jsonl").write_text("{")
    else:
        lines(folder / "corpus.jsonl", [{"id": "a"}])
    with pytest.raises(KnowError) as caught:
        read_set(folder)
    assert str(folder) in caught.value.message


def test_an_exchange_is_what_a_user_says_and_all_answers_to_it(tmp_path):
    done = made(read_set(dialogues(tmp_path / "talk")), tmp_path / "made")
    path = done.places["g1/a1"][0]
    shown = opened(done, "turns")
    assert shown.right({path: frozenset({1, 2})}) == {f"{path}#1"}
    assert shown.right({path: frozenset({2, 4})}) == {f"{path}#1", f"{path}#2"}
    rows = opened(done, "row")
    assert rows.right({path: frozenset({4})}) == {f"{path}:4"}


def test_what_stands_verbatim_in_another_unit_is_a_twin(tmp_path):
    done = made(read_set(passages(tmp_path / "xq" / "en")), tmp_path / "made")
    shown = opened(done, "concept")
    twins = shown.twins({"concepts/en-p0.md": frozenset()})
    assert twins == {"concepts/en-p0.md", "concepts/en-p2.md"}
    assert shown.units(Spot("concepts/en-p1.md", 0, (Spot("concepts/en-p2.md", 0),))) == (
        "concepts/en-p1.md", "concepts/en-p2.md",
    )  # fmt: skip


def test_a_label_is_found_by_id_by_line_and_by_how_the_line_begins(tmp_path):
    long = "x" * 80
    before = [user(long, 1, timestamp="2026-05-01T10:00:00Z"), assistant("two", 2)]
    after = [assistant("two", 2), user(long + " [stub]", 1, timestamp="2026-05-01T10:00:00Z")]
    source, archived = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    source.write_bytes(jsonl(before))
    archived.write_bytes(jsonl(after))
    assert lines_of([before[1]["uuid"]], source, archived) == {1}
    assert lines_of(["L2"], source, archived) == {1}
    assert lines_of(["L1"], source, archived) == {2}
    assert lines_of(["L9", "nothing"], source, archived) == set()
    assert lines_of(["L1"], source, Path(tmp_path / "gone")) == set()

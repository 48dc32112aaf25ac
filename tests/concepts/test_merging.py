"""Three versions of a generated file become one, whichever side is which."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import git
from knowrepo.cli.main import main
from knowrepo.concepts import tags
from knowrepo.concepts.merging import merge_index, merge_tag_index
from knowrepo.concepts.model import Concept, concept_id, title_of
from knowrepo.distill import ledger

WORDS = st.sampled_from(["one", "t_wo", "*three*", "[four]", "a\\b", "fünf #", "&amp; <x>"])
PATHS = st.builds(
    "concepts/{}{}.md".format,
    st.sampled_from(["", "a/", "a/b/", "ü b/"]),
    st.sampled_from(["x", "y z", "ö(1)", "p%"]),
)


def concept(path: str, **values: object) -> Concept:
    empty = Concept(
        id=concept_id(path), path=path, type="Decision", title=title_of(path), description="",
        tags=(), aliases=(), status="stable", date="", superseded_by="", stale_after="", body="",
    )  # fmt: skip
    return replace(empty, **values)


@st.composite
def bundles(draw) -> dict[str, Concept]:
    paths = draw(st.lists(PATHS, unique=True, max_size=8))
    some = st.lists(WORDS, unique=True, max_size=3).map(tuple)
    return {
        path: concept(
            path,
            type=draw(st.sampled_from(["", "Decision", "Folders", "Two_words [x]", "A", "B", "C"])),
            title=draw(WORDS | st.just(title_of(path))),
            description=draw(WORDS | st.just("")),
            tags=draw(some),
            aliases=draw(some),
            date=draw(st.sampled_from(["", "2026-05-01T10:00:00Z"])),
        )
        for path in paths
    }


def files(bundle: dict[str, Concept]) -> dict[str, bytes]:
    return {
        **tags.index_files(bundle.values(), ours=["a", "a/b"]),
        tags.TAG_INDEX: tags.tag_index(bundle.values()),
    }


def driver(path: str):
    return merge_tag_index if path == tags.TAG_INDEX else merge_index


@given(bundles())
def test_what_is_read_of_a_generated_file_is_written_as_it_was(bundle):
    for path, data in files(bundle).items():
        assert driver(path)(b"", data, data) == data
        assert driver(path)(data, data, data) == data


@given(bundles(), bundles(), bundles())
def test_either_direction_gives_the_same_and_what_one_side_left_alone_is_the_others(one, two, base):
    versions = [files(bundle) for bundle in (base, one, two)]
    for path in set.intersection(*map(set, versions)):
        old, ours, theirs = (version[path] for version in versions)
        merged = driver(path)(old, ours, theirs)
        assert merged is not None
        assert merged == driver(path)(old, theirs, ours)
        assert driver(path)(merged, merged, merged) == merged
        assert driver(path)(old, old, theirs) == theirs


@given(bundles(), st.data())
def test_what_each_side_did_to_other_concepts_is_all_there(base, data):
    paths = sorted(base)
    sides = [dict(base), dict(base)]
    both = dict(base)
    for number, path in enumerate(paths):
        did = data.draw(st.sampled_from(["nothing", "delete", "edit", "rename"]))
        mine = sides[data.draw(st.integers(0, 1))]
        for bundle in (mine, both):
            if did == "delete":
                del bundle[path]
            elif did == "edit":
                bundle[path] = replace(bundle[path], title=f"New {number}", tags=("new",))
            elif did == "rename":
                old = bundle.pop(path)
                new = path.replace(".md", f"-{number}.md")
                bundle[new] = replace(old, path=new, id=concept_id(new))
    merged = merge_tag_index(*(tags.tag_index(b.values()) for b in (base, *sides)))
    assert merged == tags.tag_index(both.values())


@pytest.mark.parametrize("path", [tags.TAG_INDEX, tags.INDEX])
def test_an_edit_follows_a_concept_that_the_other_side_renamed_and_edited(path):
    old = concept("concepts/a/x.md", description="What it is.", tags=("one", "two"))
    other = concept("concepts/b.md", title="B")
    moved = replace(
        old, path="concepts/a/y.md", id="a/y", title=title_of("y.md"), tags=("one", "three")
    )
    edited = replace(old, type="Failure", aliases=("n",), tags=("zero", "one", "two"))
    wanted = replace(moved, type="Failure", aliases=("n",), tags=("zero", "one", "three"))
    base, ours, theirs, all_of_it = (
        files({c.path: c for c in (some, other)})[path] for some in (old, moved, edited, wanted)
    )
    assert driver(path)(base, ours, theirs) == all_of_it
    assert driver(path)(base, theirs, ours) == all_of_it


def test_two_that_changed_one_field_get_the_greater_whichever_side_is_ours():
    base, one, two = (
        tags.tag_index([concept("concepts/x.md", date=date)])
        for date in ("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z")
    )
    assert merge_tag_index(base, one, two) == two == merge_tag_index(base, two, one)


@pytest.mark.parametrize(
    "damaged", [b"<<<<<<< ours\n", b"{\n", b'{"concept": "x", "new": 1}\n', b"\xff\n"]
)
def test_what_is_not_as_we_write_it_is_not_merged_by_records(damaged):
    good = tags.tag_index([concept("concepts/x.md")])
    assert merge_tag_index(good, good + damaged, good) is None
    assert merge_tag_index(good, good, damaged + good) is None
    index = tags.index_files([concept("concepts/x.md")])[tags.INDEX]
    assert merge_index(index, index + damaged, index) is None
    assert merge_index(index, index, b"# Mine\n\n* [X](x.md)\n") is None


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("merge-tags", "tag_index.jsonl"),
        ("merge-index", "index.md"),
        ("merge-ledger", "distilled.jsonl"),
    ],
)
@pytest.mark.parametrize("content", [b"text\n", b"\xff\x00\n", b"<<<<<<< a\n", b"[" * 5000 + b"\n"])
def test_a_driver_leaves_what_it_cannot_merge_as_git_does(
    tmp_path, monkeypatch, capsys, entry, name, content
):
    monkeypatch.chdir(tmp_path)
    files = [tmp_path / f"{side} ü" for side in "oab"]
    for number, file in enumerate(files):
        file.write_bytes(content + b"<<<<<<< %d\n" % number)
    code = main(["hook", entry, *map(str, files), f"concepts/{name}", "9"])
    assert code == 1
    assert "Traceback" not in capsys.readouterr().err
    left = files[1].read_bytes()
    assert (b"<" * 9 in left) == (b"\x00" not in content)
    assert b"<<<<<<< 1\n" in left


def test_a_file_that_is_not_there_is_a_conflict_and_no_traceback(tmp_path: Path, capsys):
    (tmp_path / "a").write_text("kept\n")
    names = [str(tmp_path / name) for name in ("gone", "a", "gone too")]
    assert main(["hook", "merge-tags", *names, "concepts/tag_index.jsonl", "7"]) == 1
    assert (tmp_path / "a").read_text() == "kept\n"
    assert "Traceback" not in capsys.readouterr().err


def test_a_line_of_the_ledger_that_one_side_took_out_stays_out():
    line = '{{"concept": "decisions/{0}", "statement": "{0}"}}\n'.format
    base = "".join(map(line, "amz")).encode()
    ours = "".join(map(line, "amyz")).encode()
    theirs = "".join(map(line, "bmz")).encode()
    wanted = "".join(map(line, "bmyz")).encode()
    assert ledger.merged(base, ours, theirs) == wanted == ledger.merged(base, theirs, ours)


def test_a_line_of_the_ledger_that_we_do_not_know_is_kept():
    assert ledger.merged(b"", b'{"later": 1}\n', b'{"concept": "a"}\n') == (
        b'{"concept": "a"}\n{"later": 1}\n'
    )


def test_gits_attributes_name_a_driver_for_each_file_of_ours(repository):
    from knowrepo.git import drivers

    assert drivers.unnamed(repository) == list(drivers.DRIVERS)
    old = "sessions/**/*.jsonl -text merge=know-session\nconcepts/tag_index.jsonl -text\n"
    (repository.root / ".gitattributes").write_text(old)
    names = [driver.name for driver in drivers.unnamed(repository)]
    assert names == ["know-project", "know-tags", "know-index", "know-ledger"]
    text = "".join(f"{driver.attributes}\n" for driver in drivers.DRIVERS)
    (repository.root / ".gitattributes").write_text(old + text)
    assert drivers.unnamed(repository) == []
    for path in ("concepts/a/b/index.md", "concepts/index.md"):
        assert "know-index" in git(repository.root, "check-attr", "merge", path)
    assert set(drivers.commands(repository).values()) == {""}
    assert drivers.install(repository)
    assert all("-P -m knowrepo" in command for command in drivers.commands(repository).values())

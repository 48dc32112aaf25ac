"""Which words become tags."""

from __future__ import annotations

from collections import Counter

from knowrepo.distill.tagging import MOST, CatalogBackground, Tagger, Unknown, tag_words


class Shares:
    """A background that is told."""

    def __init__(self, **shares: float) -> None:
        self._shares = shares

    def share(self, word: str) -> float:
        return self._shares.get(word, 0.01)


def heard(*texts: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(set(tag_words(text)))
    return counts


TEXTS = ("The manifest keeps its segments sorted", "segments of the manifest are merged at night")


def test_the_bundles_own_tags_come_first_the_most_used_before_others():
    tagger = Tagger({"storage": 2, "segments": 7, "manifest": 3, "auth": 9}, Unknown())
    assert tagger.tags(TEXTS, heard(*TEXTS))[:2] == ("segments", "manifest")


def test_a_tag_of_the_bundle_is_known_in_another_form_and_keeps_its_own():
    tagger = Tagger({"Merge-Driver": 1}, Unknown())
    assert tagger.tags(["the merge drivers join both sides"], {}) == ("Merge-Driver",)


def test_words_that_are_common_elsewhere_are_no_tags():
    tagger = Tagger({}, Shares(manifest=0.5, segments=0.02))
    found = tagger.tags(TEXTS, heard(*TEXTS))
    assert "segments" in found
    assert "manifest" not in found


def test_a_word_that_was_said_once_is_no_tag_and_a_generic_one_never():
    tagger = Tagger({}, Unknown())
    assert "night" not in tagger.tags(TEXTS, heard(*TEXTS))
    text = "fix the issue with the new test file"
    assert tagger.tags([text, text], heard(text, text, text)) == ()


def test_names_of_code_are_spelled_as_tags():
    assert list(tag_words("shadowBranch dry_run HTTPServer")) == [
        "shadow-branch", "dry-run", "http-server",
    ]  # fmt: skip


def test_there_are_never_more_than_five_and_none_says_the_same_twice():
    text = "alpha beta gamma delta epsilon zeta theta kappa gammas"
    found = Tagger({}, Unknown()).tags([text], heard(text, text))
    assert len(found) == MOST
    assert len({tag.rstrip("s") for tag in found}) == MOST


def test_the_catalog_says_how_common_a_word_is():
    class Catalog:
        asked = 0

        def counts(self) -> dict[str, int]:
            return {"chunks": 200}

        def chunk_frequency(self, word: str) -> int:
            self.asked += 1
            return 50 if word == "manifest" else 0

    catalog = Catalog()
    background = CatalogBackground(catalog)
    assert [background.share(w) for w in ("manifest", "segment", "manifest")] == [0.25, 0.0, 0.25]
    assert catalog.asked == 2

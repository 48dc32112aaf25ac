"""Near spellings: what a word of a query may have meant that no chunk holds.

Owns what counts as near. A word with a typo is compared as it was typed and as
its stem, for a catalog knows stems only: `migratoin` has another stem than
`migration`, and is one slip away from it. What is found is an addition: the
caller looks for it beside the words that were typed, and says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from string import ascii_lowercase

from knowrepo.index.catalog import Catalog
from knowrepo.index.text import STOP_WORDS, Term, stem

MOST = 3
"""Spellings given for a word."""
MOST_UNKNOWN = 4
"""Words of a query that no chunk holds: more of them are no slips, but another subject."""
_SHORTEST = 4  # letters of a word that is repaired at all
_TWO_SLIPS = 8  # letters from which a word may hold two slips
_ENDING = 4  # letters by which the stem that was meant may be shorter
_LONGEST = 40  # a longer one is no word
_ROW = 32  # characters that Unicode sets in a row: an alphabet begins with one
_NARROW = 6  # letters from which three must begin alike, not two: fewer terms to go through


def near(
    catalog: Catalog, words: Iterable[str], held: Collection[str] = ()
) -> dict[str, tuple[Term, ...]]:
    """Return the nearest spellings of those words of a query that no chunk holds.

    ``words`` are those of `index.text.content_words`. The nearest come first,
    the commonest of them before the others. A word that nothing is near to is
    left out, as are numbers, hashes, and names with digits. Of those in ``held`` it
    is known that a chunk holds them.
    """
    asked = list(words)
    found: dict[str, tuple[Term, ...]] = {}
    unknown = 0
    for word in asked:
        if not _may_hold_a_slip(word) or _is_made_of(word, asked):
            continue
        if word in held or catalog.chunk_frequency(word):
            continue
        unknown += 1
        if unknown > MOST_UNKNOWN:
            return {}
        spellings = _nearest(catalog, str(word))
        if spellings:
            found[word] = spellings
    return found


def _may_hold_a_slip(word: str) -> bool:
    """Say whether a word is one of letters, of a script that is written with spaces."""
    return _SHORTEST <= len(word) <= _LONGEST and word.isalpha() and word.islower()


def _is_made_of(word: str, others: list[str]) -> bool:
    """Say whether a word is a name whose parts are asked for too: they are repaired."""
    reached = {0}
    for start in range(len(word)):
        if start in reached:
            reached.update(
                start + len(part)
                for part in others
                if len(part) < len(word) and word.startswith(part, start)
            )
    return len(word) in reached


def _nearest(catalog: Catalog, word: str) -> tuple[Term, ...]:
    """Return the spellings of the fewest slips, the commonest first."""
    own = stem(word)
    prefix = own[: 3 if len(word) >= _NARROW else 2]
    alike = catalog.vocabulary(prefix, max(2, len(own) - _ENDING), len(word) + 2)
    letters = _alphabet(word)
    one = {*map(stem, _slips(word, letters)), *_slips(own, letters)}
    found = {term: alike[term] for term in one & alike.keys()}
    # The slip may be among the first letters.
    found |= catalog.terms_among([term for term in one if not term.startswith(prefix)])
    if not found and len(word) >= _TWO_SLIPS:
        # One slip is in an ending, which hid the stem, and another in the stem.
        endings = [other for other in one if _NARROW <= len(other) < len(own) - 1]
        found = {
            term: chunks
            for term, chunks in alike.items()
            if _within(2, own, term) or any(_within(1, ending, term) for ending in endings)
        }
    least = max(3, min(_SHORTEST, len(own) - 1))  # of a shorter one too little was typed
    spellings = [t for t in found if len(t) >= least and t.isalpha() and t not in STOP_WORDS]
    spellings.sort(key=lambda t: (t[0] != word[0], -found[t], t))
    return tuple(map(Term, spellings[:MOST]))


def _slips(word: str, letters: str) -> Iterator[str]:
    """Yield all that is one slip away: a letter dropped, put in, or replaced, or two swapped."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        for letter in letters:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]


def _alphabet(word: str) -> str:
    """Return the letters with which a word may be written, those of its script."""
    if word.isascii():
        return ascii_lowercase
    first, last = ord(min(word)) // _ROW * _ROW, ord(max(word)) // _ROW * _ROW + _ROW
    return "".join(filter(str.islower, map(chr, range(first, min(last, first + 4 * _ROW)))))


def _within(most: int, one: str, other: str) -> bool:
    """Say whether at most so many slips lie between two words.

    That is the restricted Damerau-Levenshtein distance, given up where it grows too large.
    """
    if abs(len(one) - len(other)) > most:
        return False
    last: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, last, row = last, row, [at]
        for column, its in enumerate(other, 1):
            cost = min(last[column] + 1, row[-1] + 1, last[column - 1] + (letter != its))
            swapped = at > 1 < column and letter == other[column - 2] and its == one[at - 2]
            row.append(min(cost, before[column - 2] + 1) if swapped else cost)
        if min(row) > most:
            return False
    return row[-1] <= most

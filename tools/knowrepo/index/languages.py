"""Languages other than English: telling them by their commonest words, and their stems.

English is what most repositories hold, so its stemmer (Porter's, in SQLite)
serves all text that is not known to be something else. Text of these languages
is stemmed by its own, and its stems are marked, so that they never meet an
English word by accident. A language is told by words that nearly every
sentence of it holds and hardly any English one does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import Stemmer

MARK = "·"
"""What a stem of these languages ends with where it stands in an index."""
_ENOUGH = 2  # different words that tell a language

# Folded, as all words are. The names are Snowball's.
_FUNCTION_WORDS = {
    "german": """
        aber als auch auf aus bei das dass dem den der des die durch ein eine einem einen einer
        eines er es fur hat ich im ist kann mit nach nicht noch nur oder sein sich sie sind uber
        und uns unter viele vom von vor war waren was welche welcher welches wenn wer werden wie
        wir wird wo wurde wurden zu zum zur
        """,
    "french": """
        au aux avec ce ces cette dans de des du elle en est et etait il ils je la le les leur
        mais ne nous ou par pas pour qu quand que quel quelle qui sa se ses son sont sur un une
        vous
        """,
    "spanish": """
        al como con cual cuando de del donde el ella en entre es esta este fue ha la las lo los
        mas no para pero por que quien se ser si sin sobre son su sus un una y
        """,
    "italian": """
        al alla anche che chi come con cui da dal dalla dei del della delle di e gli ha i il in
        la le lo ma nel nella non per piu quale quando questa questo se si sono sul sulla un una
        """,
    "portuguese": """
        ao as com como da das de do dos e em entre foi isso mais mas na nao nas no nos o os ou
        para pela pelo por qual quando que quem se sem ser seu sua sao um uma
        """,
    "dutch": """
        aan als bij dat de deze die dit door een en er het hij hoe ik in is je maar met naar niet
        nog of om onder ook op over te tot uit van voor waar waren was wat we welke werd wie
        worden wordt ze zijn
        """,
    "russian": """
        бы был была были было в во вы где для до его ее если есть же за и из или их к как какой
        когда который ли мы на не но о об он она они от по при с со так то у что это я
        """,
}
LANGUAGES = tuple(_FUNCTION_WORDS)
# Words that are English as well tell nothing.
_ENGLISH = frozenset(
    "as do had he i in is no me on or over so son sur was we wie am an at be by war".split()
)
_TELLING: dict[str, tuple[str, ...]] = {}
for _language, _text in _FUNCTION_WORDS.items():
    for _word in _text.split():
        if _word not in _ENGLISH:
            _TELLING[_word] = (*_TELLING.get(_word, ()), _language)
_FUNCTION = {language: frozenset(text.split()) for language, text in _FUNCTION_WORDS.items()}
_FOREIGN_LETTER = re.compile("[À-ÖØ-öø-ɏЀ-ӿ]")


def may_be_foreign(text: str) -> bool:
    """Say at a glance whether a longer text may be of one of these languages.

    All of them write letters that English does not, Dutch the fewest.
    """
    return _FOREIGN_LETTER.search(text) is not None


def language_of(words: Iterable[str], english: frozenset[str]) -> str:
    """Return the language of a text by its words; empty where it is English or nothing tells.

    ``english`` are the function words of English, which count against the others.
    """
    distinct = set(words)
    told = dict.fromkeys(LANGUAGES, 0)
    for word in distinct & _TELLING.keys():
        for language in _TELLING[word]:
            told[language] += 1
    best = max(told, key=told.__getitem__)
    most = told[best]
    return best if most >= _ENOUGH and most > len(distinct & english) else ""


def function_words(language: str) -> frozenset[str]:
    """Return the words of a language that carry no content, as far as they are known here."""
    return _FUNCTION.get(language, frozenset())


@lru_cache(maxsize=1 << 15)
def stem_in(language: str, word: str) -> str:
    """Return the stem of a word in a language."""
    found: str = _stemmer(language).stemWord(word)
    return found


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    import Stemmer

    return Stemmer.Stemmer(language, 0)

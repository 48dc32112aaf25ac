"""How many tokens a text is, without a tokenizer.

Owns one estimate, for whoever keeps a text within a budget. Loading a model to
count would cost more than the answer, and which model will read it nobody knows.
So it counts what tokenizers make tokens of, word pieces, digits and signs, and
rather more than fewer.
"""

from __future__ import annotations

import math
import re

from knowrepo.index.languages import may_be_foreign

_RUN = re.compile(r"(?P<word>[A-Za-z\u00c0-\u024f]+)|(?P<digits>[0-9]+)|(?P<sign>[!-~])|[^\s]")
# Fitted to the tokenizer of the default model on prose, code, transcripts and Chinese, so
# that the sum over a few thousand characters is not below its count (docs/recall.md).
_A_WORD, _A_LETTER, _A_LETTER_BEYOND, _USUAL = 0.78, 0.083, 0.42, 7
_A_NUMBER, _A_DIGIT, _A_SIGN, _ANOTHER = 0.52, 0.68, 1.15, 1.09
_FOREIGN = 1.4  # a vocabulary is of English first: words of other languages are in more pieces


def estimate(text: str) -> int:
    """Return how many tokens ``text`` is at most, as a rule; see above."""
    total = 0.0
    for run in _RUN.finditer(text):
        length = run.end() - run.start()
        if run.lastgroup == "word":
            beyond = max(0, length - _USUAL)
            total += _A_WORD + _A_LETTER * length + _A_LETTER_BEYOND * beyond
        elif run.lastgroup == "digits":
            total += _A_NUMBER + _A_DIGIT * length
        else:
            total += _A_SIGN if run.lastgroup else _ANOTHER
    return math.ceil(total * _FOREIGN if may_be_foreign(text) else total)

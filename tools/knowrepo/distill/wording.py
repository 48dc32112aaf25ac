"""The title and the description of a concept, made of what was said.

Owns how a sentence becomes a title: without what leads it in, in the
imperative where it was a wish, cut at a clause. It adds no word of its own
that changes what was said.
"""

from __future__ import annotations

import re

LONGEST_TITLE = 120
LONGEST_DESCRIPTION = 240
_FEWEST = 4  # words of a title that was cut
_TELLING = 25  # characters that may be a title of their own
PLACEHOLDER = re.compile(r"\[(?:redacted|REDACTED)[^\[\]]{0,60}\]|\bREDACTED\b")

_STRAY = re.compile(r"^[\"”’')\]]+\s+")
_FILE = re.compile(r"^[\w./-]+\.\w{1,5}(?: \([^()]*\))? ?(?:[—–-]|:) (?=[A-Z])")  # what was changed
_ADDRESS = re.compile(r"\s*\(?\b\w+://\S+")
_LABEL = re.compile(
    r"^(?:(?:the |actual |key |design )*(?:root causes?|causes?|fix(?:ed)?|issue|problem|bug|"
    r"decisions?|solution|resolution|result|summary|rationale|reason|recommendation|rejected|"
    r"answer|note)(?: ?#?\d{1,2})?(?: ?[—–(-][^:]{0,60})?\s*:)\s*",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^(?:option |step |phase )?[\dA-Ea-e][.):]\s+", re.IGNORECASE)
_FILLER = re.compile(
    r"^(?:no[,.!;:]+\s+|(?:ok(?:ay)?|so|yes|yeah|yep|nope|well|and|but|also|actually|alright|"
    r"right|now|then|please|pls|hm+|great|good|perfect|thinking again|in short|overall|basically|"
    r"however|additionally|finally|instead|first|second|btw|therefore|thus|hence|"
    r"again)\b[,:;.!–—-]*\s+)+",
    re.IGNORECASE,
)
_SAYS = (
    (re.compile(r"^(?:i|we) (?:really |strongly )?(?:think|believe|feel|guess|"
                r"suppose)(?: that)?[, ]+", re.I), ""),
    (re.compile(
        r"^the (?:\w+ )?(?:error|failure|issue|problem|bug|crash)s? (?:occur|happen)(?:s|ed|"
        r"red)? because ", re.I
    ), ""),
    (re.compile(r"^(?:the |here's the |actual |real )*root cause(?: here)? (?:is|"
                r"was)(?: that)?:?\s+", re.I), ""),
    (re.compile(
        r"^(?:[^,]{0,30}, (?:so )?)?the (?:\w+ ){0,2}(?:issue|problem|bug|culprit|cause|"
        r"reason)(?: here| now)? (?:is|was)(?: now| of course)*(?: that\b|:)?\s+", re.I
    ), ""),
    (re.compile(r"\bi (?:mostly |actually |only )?(?:thought|meant)(?: that)?:? ", re.I), ""),
    (re.compile(r"^the (?:\w+ )?(?:fix|solution)(?: here)?(?: is to| was to|"
                r":) not\s+", re.I), "Do not "),
    (re.compile(r"^the (?:\w+ )?(?:fix|solution)(?: here)?(?: is to| was to| is that|"
                r":)\s+", re.I), ""),
    (re.compile(r"^.*\b(?:that|this|it)(?:'s| is)(?: not (?:\w+ly )?(?:correct|right|true)|"
                r" wrong| incorrect)[,.:;—-]+ (?=.{20,})", re.I), ""),
    (re.compile(r"^(?:i|we)(?:'ve| have)? (?:decided|chose|opted|agreed) to\s+", re.I), ""),
    (re.compile(r"^(?:i|we)(?:'ve| have)? (?:decided on|went with|settled on|"
                r"chose)\s+", re.I), "Use "),
    (re.compile(r"^(?:we(?:'re| are) (?:going to|gonna)|we(?:'ll| will))\s+", re.I), ""),
    (re.compile(r"^let'?s\s+(?:also |just )?", re.I), ""),
    (re.compile(r"^(?:i|we)(?:'d| would)? (?:really |actually |definitely )?(?:want|"
                r"like) to\s+", re.I), ""),
    (re.compile(r"^(?:i|we) (?:really |actually )?(?:don't|"
                r"do not) want (?:to )?", re.I), "Do not "),
    (re.compile(r"^(?:i|we) want (.{3,40}?) to (be|have|use|go|get)\b", re.I), r"\1 should \2"),
    (re.compile(r"^we (?:definitely |really )?should (?:also |definitely )?(?!not)", re.I), ""),
)  # fmt: skip
# Where a title may end: before a clause or an aside, before what explains, before a phrase.
_REASONS = re.compile(r",? (?:because|since|so that|so|given|as)\b")
_CLAUSES = re.compile(r",? (?:which|but|while|where|when|otherwise|and then|then|unless)\b|;")
_ASIDES = re.compile(r" [—–-] | \(")
_COLONS = re.compile(r": ")
# What may go from before the main clause; a condition may not.
_LEADING = re.compile(
    r"^(?:after|before|since|because|although|while)\b[^,]{3,100}, (?=.{25,})", re.I
)
_TOPIC_START = re.compile(r"^(?:which|what)\s+(?=\w)", re.I)
_TOPIC_END = re.compile(
    r" (?:do|would|should) (?:you|we|i) (?:want|like|prefer|use|have)(?: me)?(?: to (?:use|"
    r"have))?\b",
    re.I,
)
_SHOULD_WE = re.compile(r"(?<=\w) should (?:we|i) ", re.I)
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_ADVICE = re.compile(r"\s*\((?:recommended|default)\)", re.I)
_PHRASES = re.compile(
    r" (?:for|in|on|with|from|to|by|of|into|at|and|or|via|per|under|after|before|instead|rather)\b"
)
_DANGLING = re.compile(
    r"[\s,;:(\[—–-]+(?:(?:a|an|the|of|to|for|in|on|at|by|with|from|and|or|but|that|which|as|is|"
    r"are|was|were|not|instead|rather|than|when|if|so|e\.g|i\.e|its?|their|your|our|into|via|per|"
    r"only|also)[\s,;:(\[—–-]*)*$|[\s,;:(\[—–-]+$",
    re.IGNORECASE,
)


def title(text: str, *, why: bool = False) -> str:
    """Return a title of at most 120 characters, or an empty string where there is none to be had.

    ``why``: the text says why something went wrong.
    """
    before = _ADDRESS.split(text, maxsplit=1)[0]  # what comes before an address, where it says it
    said = _as_said(_plain(before if len(before) > _TELLING else _ADDRESS.sub("", text)))
    if len(said) > LONGEST_TITLE:
        said = _as_said(_LEADING.sub("", said))
    said = said.strip().rstrip(".!:;,")
    held = PLACEHOLDER.search(said)
    if held:
        said = said[: held.start()].rstrip()
    short = _shortened(said, LONGEST_TITLE, why=why)
    if held and len(short.split()) < 4:
        return ""
    return _capital(short)


def description(text: str, reason: str = "", *, named: str = "") -> str:
    """Return one sentence; ``reason`` is taken where ``text`` says no more than the title."""
    said = _capital(_LABEL.sub("", text).strip())
    if named and _bare(said) == _bare(named) and reason:
        said = _capital(_LABEL.sub("", reason).strip())
    if len(said) > LONGEST_DESCRIPTION:
        said = _shortened(said, LONGEST_DESCRIPTION - 1) + "…"
    said = said.rstrip(":;, ")
    return said if said.endswith((".", "!", "?", "…")) else f"{said}."


def answered(question: str, answer: str) -> str:
    """Return the title of what was answered to a question: its topic, and the answer."""
    topic = _TOPIC_END.sub("", _TOPIC_START.sub("", question.strip()).rstrip("? "))
    topic = _BRACKETS.sub("", _SHOULD_WE.sub(" to ", topic))
    said = _ADVICE.sub("", answer.strip())
    return _capital(_shortened(f"{topic}: {said}", LONGEST_TITLE)) if said else ""


def _as_said(said: str) -> str:
    """Leave out how it was said: `the fix is to`, `let's`."""
    for pattern, instead in _SAYS:
        said = _FILLER.sub("", pattern.sub(instead, said, count=1))
    return said


def _plain(text: str) -> str:
    said = _FILE.sub("", _STRAY.sub("", text.strip()))
    for _ in range(3):
        said = _FILLER.sub("", _NUMBER.sub("", _LABEL.sub("", said))).strip()
    return said


def _shortened(said: str, most: int, *, why: bool = False) -> str:
    """Cut at the last clause that leaves enough, else between two words.

    With ``why`` a reason is not cut off: it is what the text is about.
    """
    if len(said) <= most:
        return _balanced(said)
    places = [*_CLAUSES.finditer(said, 0, most + 1)]
    colons = [] if why else [*_COLONS.finditer(said, 0, most + 1)]
    if not why:
        places += [*_ASIDES.finditer(said, 0, most + 1), *_REASONS.finditer(said, 0, most + 1)]
    phrases = [*_PHRASES.finditer(said, 0, most + 1)]
    tries = ((places, most // 3), (colons, most // 3), (phrases, most * 3 // 5))
    for found, least in tries:
        end = max((match.start() for match in found), default=0)
        if end >= least and said.count(" ", 0, end) >= _FEWEST - 1:
            return _balanced(_DANGLING.sub("", said[:end]).rstrip())
    cut = said.rfind(" ", 0, most)
    return _balanced(_DANGLING.sub("", said[: cut if cut > 0 else most - 1]).rstrip()) + "…"


def _balanced(said: str) -> str:
    """Leave out what follows a bracket or a quotation mark that nothing closes."""
    for opening, closing in ("()", "[]", "“”"):
        if said.count(opening) > said.count(closing):
            cut = said.rfind(opening)
            said = said[:cut].rstrip(" ,;:—–-") if cut > 12 else said.replace(opening, "")
    if said.count('"') % 2:
        said = said.replace('"', "")
    return said


def _capital(said: str) -> str:
    """Begin with a capital, unless the first word is a name of code."""
    first = said.split(" ", 1)[0].replace("'", "").replace("’", "")
    if first.isascii() and first.isalpha() and first.islower():
        return said[:1].upper() + said[1:]
    return said


def _bare(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip().casefold()

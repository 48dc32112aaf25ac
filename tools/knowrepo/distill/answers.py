"""What a user chose among the things that an agent offered.

Owns the offers of an agent's last turn and the short answers that take one of
them: `option 2`, `yes`, an answer to a question that the agent's tool asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowrepo.distill.sentences import sentences

_LONGEST_ANSWER = 240
_OPTION = re.compile(
    r"^\W{0,4}(option |approach |alternative )?([1-9]|[A-Ea-e])(?:\s?[.):]|"
    r"\s[—–-])\W{0,4}\s*(\S.{8,300})$",
    re.I,
)
_PICKED = re.compile(
    r"^(?:(?:ok(?:ay)?|yes|yeah|sure|please|then|so|i think|i like|i'd (?:like|prefer|go (?:with|"
    r"for))|i(?: would)? (?:prefer|choose)|i (?:want|vote for)|let'?s (?:do|implement|use|"
    r"go (?:with|for))|do|go (?:with|for)|use|implement|take|pick)[,:]? )*(?:the "
    r")?(?:(?P<word>option|options|approach|number|nr|#) ?#?)?(?P<key>[1-9]|"
    r"[A-Ea-e])(?P<end>\W*$|[,.;!:]| (?:and|but|please|sounds|is|looks|seems|with)\b)",
    re.I,
)
_YES = re.compile(
    r"^(?:(?:yes|yep|yeah|yup|sure|ok(?:ay)?|perfect|great|agreed?|exactly|sounds good|go ahead|"
    r"do it|do that|please do|makes sense|i agree|that works|let'?s do (?:it|that|this)|"
    r"go for it|i like (?:it|that|this)|please|then|all good|works for me|do so)[\s,.!]*)+$",
    re.I,
)
_RECOMMENDED = re.compile(
    r"\b(?:i(?:'d| would)? (?:strongly )?(?:recommend|suggest|propose)|my (?:suggestion|"
    r"recommendation|proposal) is|recommend(?:ation|ed)(?: approach)?:)"
)
_CHORE = re.compile(
    r"^\W*(?:commit|push|merge|run|test|review|check|start|stop|continue|open|create a (?:pr|"
    r"pull|branch)|close|proceed|explain|look|investigate|debug|skip|cancel|yes|no|nothing|"
    r"leave it|i (?:can|will|could))\b",
    re.I,
)
_ASKED = re.compile(r"\"([^\"\n]{8,300})\"=\"([^\"\n]{2,300})\"")
_ASKS = ("User has answered your questions:", "Your questions have been answered:")
_CHOICE = re.compile(
    r"^(?:which\b|should\b|(?:what|how|where|when)\b.*\b(?:should|want|prefer)\b)", re.I
)
_NO_CHOICE = re.compile(
    r"^(?:yes|no|ok|sure|other|skip|cancel|proceed|continue|go ahead|commit|push)\b", re.I
)


class Offers:
    """What the agent's last turn offered."""

    def __init__(self) -> None:
        self._text = ""

    def hear(self, text: str) -> None:
        """Remember a turn of the agent, in place of the last one."""
        self._text = text

    def taken(self, answer: str) -> str:
        """Return the text of the offer that the user's turn takes, or an empty string."""
        said = answer.strip()
        if not self._text or len(said) > _LONGEST_ANSWER:
            return ""
        if _YES.match(said):
            return _recommended(self._text)
        picked = _PICKED.match(said)
        if not picked:
            return ""
        key = picked["key"]
        if key.isalpha() and key.islower() and not picked["word"] and len(said) > 2:
            return ""  # an article or a pronoun
        return _options(self._text).get(key.casefold(), "")


def _options(text: str) -> dict[str, str]:
    """Return what a turn lists to choose from, by number or letter."""
    listed: dict[str, list[tuple[bool, str]]] = {}
    for line in text.splitlines():
        match = _OPTION.match(line.replace("*", "").replace("#", "")) if len(line) < 400 else None
        if match and not _CHORE.match(match[3]):
            said = match[3].strip().replace("`", "")
            listed.setdefault(match[2].casefold(), []).append((bool(match[1]), said))
    found = {}
    for key, ways in listed.items():
        named = [said for is_named, said in ways if is_named] or [said for _, said in ways]
        if len(named) == 1 and len(listed) > 1:  # else nobody knows which was meant
            found[key] = named[0]
    return found


def _recommended(text: str) -> str:
    for sentence in sentences(text):
        if _RECOMMENDED.search(sentence.plain) and not sentence.plain.endswith((":", "?")):
            return sentence.text
    return ""


def asked(output: str) -> Iterator[tuple[str, str]]:
    """Yield (question, answer) of what a tool asked the user, where the answer is a choice."""
    if output.startswith(_ASKS):
        for question, answer in _ASKED.findall(output[:20_000]):
            if _CHOICE.match(question) and not _NO_CHOICE.match(answer):
                yield question, answer

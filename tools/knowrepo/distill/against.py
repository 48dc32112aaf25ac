"""What speaks against a sentence: it only looks like something worth keeping.

Owns the grammar of what is not settled or not news: questions, guesses, plans,
offers, what is going on, what is done by now. English only.
"""

from __future__ import annotations

import re

from knowrepo.distill.sentences import Sentence

_QUESTION = re.compile(
    r"\?\W*$|^(?:(?:and|or|but|so|ok|okay|also|hm+|then|wait|please|q),?:? )*(?:(?:can|could|"
    r"would|should|shall|will|do|does|did|is|are|was|were|has|have|am|may) (?:you|we|i|it|they|"
    r"there|this|that|the|these|those|someone|anyone)\b|(?:what|why|how|which|who|where|"
    r"when) (?:is|are|was|were|do|does|did|can|could|should|would|if|about|to)\b|what's\b|"
    r"wondering\b|i wonder\b|any (?:ideas?|suggestions?)\b)"
)
_GUESS = re.compile(
    r"\b(?:probably|may ?be|perhaps|might|likely|possibly|presumably|potentially|apparently|"
    r"seem(?:s|ed|ingly)?|appears? to|i (?:think|guess|suspect|believe|assume|wonder|suppose)|"
    r"i'm (?:not sure|guessing|wondering)|not sure|unclear|could (?:also )?(?:be|have|cause)|"
    r"suspect(?:ed)?|looks like|must be|must have|would (?:be|have|need|make|mean|allow|also)|"
    r"hypothes[ie]s|theory|should (?:now )?(?:work|pass|fix|be (?:fine|ok|good|enough|fixed))|"
    r"(?:let me|need to|to) (?:verify|confirm|check)|wouldn't|if (?:so|not|that's|you|we|i)\b|"
    r"in theory|assuming|my guess|may (?:still|have|not|also|need))\b"
)
_DOUBT = re.compile(
    r"\b(?:probably|may ?be|perhaps|might|possibly|in theory|not sure|unsure|i (?:wonder|guess|"
    r"suspect)|wondering|for now|at the moment|temporar\w+|this time|^if (?:we|you|i)|hopefully|"
    r"could (?:also )?(?:be|have|cause)|seems?|appears? to|if (?:so|not|that's|possible))\b"
)
_LEAD_IN = (
    r"^(?:(?:now|next|then|first|also|so|ok|okay|good|great|perfect|right|yes|no|alright|"
    r"actually|wait|hm+|well|and|but|finally|instead|for (?:now|this|that)|(?:since|before|after|"
    r"once|given) [^,]{1,60},)[,.!:—-]? ?)*+"
)
_PLAN = re.compile(
    _LEAD_IN
    + r"(?:let me\b|let's (?!not\b)|i'll\b|i will\b|i(?:'m| am) (?:now |also |just |only )?"
    r"(?:going to|about to|\w+ing)\b|i(?: still| now| also)? (?:need|have|want|should|can|could|"
    r"would|must)\b|we(?: still| now| also)? (?:need to|should|can|could|will|must|have to|"
    r"might)\b|we'll\b|need to\b|time to\b|(?:my|the) (?:next step|plan)\b|next steps?\b|todo\b|"
    r"to do\b)|\b(?:let me (?:check|see|look|verify|try|fix|add|update|run|read|find|test|now|"
    r"also)|i'll (?:then|now|also)|(?:so|and) (?:i'm|i'll|i am|i need|let me|i will)|"
    r"i'm (?:going to|about to)|will be (?:added|done|updated)|next i)\b"
)
_OFFER = re.compile(
    r"\b(?:if you(?:'d)? (?:want|like|prefer|need|agree)|want me to|would you|shall i|should i|"
    r"do you want|let me know|you (?:can|could|may|might|should consider)|feel free|(?:we|i|it|"
    r"one) could\b|options? (?:are|include)|alternatively|recommend(?:ed)?(?: approach)?:?|"
    r"i'd (?:suggest|recommend|propose|go|prefer)|i (?:suggest|propose|recommend)|"
    r"consider (?:\w+ing|a|the)|worth considering|up to you|your (?:call|choice|decision))\b"
)
_STATUS = re.compile(
    r"^(?:(?:all|the|my|now|everything|and|both|great|good|perfect|excellent|done|yes|"
    r"confirmed)[!,.:]? )*(?:\d+ )?(?:\w+ ){0,3}(?:tests?|checks?|lints?|builds?|types?|"
    r"fix(?:es)?|changes?|suite|ci|implementation|commits?|prs?|branch(?:es)?|work|"
    r"code)\b(?: \w+){0,2} (?:pass(?:es|ed|ing)?|is|are|was|were|has been|have been|now|looks?|"
    r"works?|succeed(?:s|ed)?|compiles?)(?: now| all| also| successfully)*(?: (?:complete|done|"
    r"ready|working|good|green|clean|in place|fixed|passing|straightforward|simple|clear|correct|"
    r"minimal|committed|pushed|merged|applied|up to date|confirmed|verified|running|identified|"
    r"obvious|here|known))?(?:[\W]*$| and\b|,| with\b| but\b| -)"
)
_GOING_ON = re.compile(
    r"^(?:(?:ok|okay|good|great|perfect|now|so|yes|and|but)[,.!:]? )*(?:i (?:see|found|"
    r"notice[d]?|can see|understand|have|hit|just|now see)\b|i've\b|i (?:checked|looked|read|ran|"
    r"verified|confirmed|reviewed|tested|sent|asked|told|opened|pushed|committed|merged|created|"
    r"searched|left)\b|looking at|here(?:'s| is| are)\b|found (?:it|the)|this is (?:the|a|"
    r"an) (?:real|good|right|clean|key|known)|running|checking|waiting|the (?:output|log|result|"
    r"diff|test output|worker|agent) (?:shows?|says?|is|has))"
)
_EMPTY = re.compile(
    r"\b(?:root cause|cause|fix|issue|problem|bug|reason|solution|decision|"
    r"culprit)\b(?: here)? (?:is|was|are|were|looks|seems|became|has been|"
    r"have been)(?: \w+ly)?(?: (?:now|already|very|pretty|fairly|all|quite|also))* (?:clear|"
    r"simple|easy|straightforward|obvious|confirmed|identified|fixed|resolved|found|complete|"
    r"done|in place|correct|working|here|this|there|known|unclear|different|good|minimal|small|"
    r"trivial|solved|twofold|two-fold|unrelated|ready|applied|sound|valid|real|not (?:in|with|"
    r"the|related)|as follows)\b[^,;—-]*$"
)
_NOT_YET = re.compile(r"(?:\bnot|n't)\b.{0,60}\byet\b")
_ORDERS_A_TOOL = re.compile(r"\buse (?:the |your )?(?:`?\w+`? )?(?:tools?|skills?|sub-?agents?)\b")
_UNSETTLED_HEADINGS = re.compile(
    r"\b(?:next|options?|alternatives?|todo|remaining|open|questions?|risks?|limitations?|"
    r"test(?:s|ing)?|verif\w+|validation|plan|files|examples?|usage|pros|cons|recommend\w+|"
    r"suggest\w+|future|follow[- ]?ups?|outstanding|considerations?|trade-?offs?|ideas?|"
    r"scenarios?|steps|concerns?|^(?:\w+ )?status$|current (?:state|behaviou?r)|before|weak\w*|"
    r"strengths?|advantages?|commands?|prerequisites|acceptance|success|checklist|findings?|"
    r"research|background)\b"
)
_OPTION = re.compile(
    r"^(?:option|approach|alternative|variant|choice|scenario|example|step|phase|"
    r"task) ?[\w#]{1,2}\b"
)


def question(sentence: Sentence) -> bool:
    """Say whether a sentence asks."""
    return _QUESTION.search(sentence.plain) is not None


def guess(sentence: Sentence) -> bool:
    """Say whether a sentence is unsure of itself."""
    return _GUESS.search(sentence.plain) is not None


def doubt(sentence: Sentence) -> bool:
    """Say whether a wish is in doubt or for once; `I think we should` is not."""
    plain = sentence.plain
    return bool(_DOUBT.search(plain) or _ORDERS_A_TOOL.search(plain))


def unsettled(sentence: Sentence) -> bool:
    """Say whether a sentence of an agent plans, offers or lists what might be."""
    plain = sentence.plain
    return bool(
        _PLAN.search(plain)
        or _OFFER.search(plain)
        or _OPTION.match(sentence.label)
        or _OPTION.match(sentence.heading)
        or _UNSETTLED_HEADINGS.search(sentence.heading)
    )


def no_news(sentence: Sentence) -> bool:
    """Say whether a sentence tells what goes on or is done, and not what was found or chosen."""
    plain = sentence.plain
    return bool(
        _STATUS.match(plain)
        or _GOING_ON.match(plain)
        or _EMPTY.search(plain)
        or _NOT_YET.search(plain)
    )

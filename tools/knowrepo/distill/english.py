"""How English says that something was decided, went wrong, was mended, is wished.

Owns the table of cues and nothing that looks at it. Each cue names the words
without which it is not tried. Patterns see a sentence in lower case with code
as `c0de`, and take time in proportion to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from knowrepo.distill.model import Kind

ANY, USER, REPORT, SETTLED = "any", "user", "report", "settled"
"""Where a cue counts: anywhere; in what a person typed; in an agent's report or a
plan; in these and in what a person typed."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A way of saying something, and how sure it makes of it (above 0, up to 1)."""

    kind: Kind
    weight: float
    where: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]


def one_of(*ways: str) -> str:
    """Return a pattern for any of some patterns."""
    return f"(?:{'|'.join(ways)})"


def _cue(kind: Kind, weight: float, where: str, words: str, *ways: str) -> Cue:
    return Cue(kind, weight, where, tuple(words.split()), re.compile("|".join(ways)))


_ISSUE = one_of(
    "issue", "problem", "bug", "culprit", "failure", "error", "regression", "reason", "cause",
    "blocker",
) + "s?"  # fmt: skip
_THE_ISSUE = rf"\bthe (?:(?!other|only|original)\w+ ){{0,2}}{_ISSUE} (?:here |now )?"
# `The issue is not …`, `… is in the tests`: where it is looked for, and not what it is.
_NO_CAUSE = (
    r" (?!(?:not|in\b(?!.* [—–-] )|from|all|pre-?existing|unrelated|different|similar|"
    r"specifically|the same|only|still|with|fixed|resolved|clear)\b|.*\b(?:we|i) just (?:fixed|"
    r"saw|found|did)\b)"
)
_BROKE = one_of(
    "fail(?:s|ed)?", "crash(?:es|ed)?", "br(?:eaks|oke|oken)", "hangs?", "hung", "happen(?:s|ed)?",
    "occur(?:s|red)?", "appear(?:s|ed)", "stop(?:s|ped)", "blocked", "missing", "lost", "ignored",
    r"(?:didn't|doesn't|did not|does not|don't|couldn't|wasn't|weren't|isn't|aren't|never) \w+",
)  # fmt: skip
_BECAUSE = r"(?:because|since|due to)\b .{12,}"
# An agent's account of what it left undone is no cause.
_OTHERS = r"^(?!.{0,30}\b(?:i|we) (?:did|do|have|was|am|could)\b).*"
MECHANISM = r"\b" + one_of(
    "not", "never", "without", "instead", "because", "only", "still", "before", "after",
        r"overwr\w+",
    "missing", "lo(?:ses?|st)", r"caus\w+", "even", "both", "always", "already", "but", "while",
    "since", r"leav\w+", "twice", "nothing", "again", r"wrong\w*", "stale", "expects?", "requires?",
    r"\w+n't", "empty", "so",
) + r"\b"  # fmt: skip
"""Words by which a sentence says how something works, and not only what it is."""

_DID = one_of(
    "added", "removed", "changed", "updated", "replaced", "moved", "switched", "wrapped", "renamed",
    "split", "extracted", "introduced", "set", "stopped", "extended", "limited", "skipped", "kept",
    "made", "dropped", "deleted", "rewrote", "refactored", "converted", "simplified",
        "consolidated",
    "unified", "disabled", "enabled", "(?:hard-|"
                                      "soft-)?deprecated", "clamped", "guarded", "restricted",
    "excluded", "included", "merged", "used", "preserved", "pinned", "scoped", "left", "hardened",
    "reworked", "swapped",
)  # fmt: skip
_WHY = one_of(
    "instead of", "rather than", "because", "so that", r"so (?:it|the|we|that|they|users?|there)\b",
    "since", "preventing", "ensuring", "avoiding", "in favou?r of",
        r"as (?:it|they|that|this|there)\b",
    "superseded by", "to (?:avoid|prevent|ensure|keep|handle|match|stop|guard|account|make sure|"
                     "allow|"
    "preserve|respect)",
)  # fmt: skip
_UPKEEP = r"(?!.*\b(?:tests?|assertions?|mocks?|lint\w*|comments?|imports?|docs?|typos?)\b)"
CHANGE = re.compile(rf"(?:i )?(?:\w+ly )?{_DID}\b{_UPKEEP}.{{12,}}")
"""How an agent says what it changed."""
_AIM = one_of(
    "use", "go "
           "with", "make", "keep", "remove", "drop", "rename", "move", "call", "change", "switch",
    "store", r"not\b", "have", "put", "only", "stick", "avoid", "ignore",
        "replace", "treat", "default",
    "disable", "enable", "hide", "show", "display", "return", "skip", "limit", "support", "leave",
    "adopt", "align", "group", "separate", "split", "require", "allow", "prefer", "get rid",
)  # fmt: skip
_NOT_IF = r"^(?!if |when |whenever |once |this )"
_HAVE = r"(?:'ve| have|'d| had| both| also| deliberately| intentionally)*"

_CAUSES = (
    _cue("cause", 0.95, ANY, "root",
         r"\broot cause\b[^.:]{0,60}?(?: is| was|:| -| turned out)\W.{18,}"),
    _cue("cause", 0.85, ANY, "caused", r"\b(?:was|were|is|are|been) (?:\w+ )?caused by .{8,}"),
    _cue("cause", 0.85, ANY, "was were",
         rf"{_THE_ISSUE}(?:was|were)(?: that|:| because| how)?{_NO_CAUSE}.{{18,}}"),
    _cue("cause", 0.75, SETTLED, "is are",
         rf"{_THE_ISSUE}(?:is|are)(?: that|:| because| "
         rf"how|,)?{_NO_CAUSE}(?=.*{MECHANISM}).{{24,}}"),
    _cue("cause", 0.68, ANY, "is are",
         rf"{_THE_ISSUE}(?:is|are)(?: that|:| because| "
         rf"how|,)?{_NO_CAUSE}(?=.*{MECHANISM}).{{24,}}"),
    _cue("cause", 0.75, REPORT, "because since due",
         rf"{_OTHERS}\b{_BROKE}\b.{{0,60}}?\b{_BECAUSE}"),
    _cue("cause", 0.6, ANY, "because since due",
         rf"{_OTHERS}\b{_BROKE}\b.{{0,60}}?\b{_BECAUSE}"),
    _cue("cause", 0.7, ANY, "turns turned", r"\bturn(?:s|ed) out (?:that|to be|the)\b .{12,}"),
    _cue("cause", 0.6, REPORT, "causing caused", r".{15,}\bcaus(?:ing|ed)\b .{6,}"),
)  # fmt: skip

_FIXES = (
    _cue("fix", 0.9, ANY, "fixed solved resolved",
         r"\b(?:fixed|solved|resolved)\b (?:\w+ ){0,3}by \w+ing\b.{6,}"),
    _cue("fix", 0.8, ANY, "fix solution",
         r"\bthe (?:\w+ )?(?:fix|solution)\b(?: here)?"
         + one_of(": ", " is to ", " was to ", " is that ", " adds? ", " ensures? ", " makes? ",
                  " uses? ", " strips? ", r" was (?=.*\b(?:instead|so|not|by|adding|that)\b)",
                  r" (?=\w+s (?:that|the|a)\b)")
         + ".{12,}"),
    _cue("fix", 0.75, REPORT, "fixed resolved corrected fixes",
         r"^(?:fixed|resolved|corrected|fixes) (?!(?:the )?(?:\w+ )?(?:lint|compil\w+|type|typo|"
         r"import|format\w*|test)s?\b).{6,}? (?:to|by|so|where|when|that|in which|which|not|"
         r"instead|caus\w+)\b.{6,}"),
    _cue("fix", 0.78, REPORT, "solves fixes resolves addresses",
         r"^(?:this|it|which) (?:now |also )*(?:solves|fixes|resolves|addresses) (?:the|"
         r"an?) (?:\w+ )?(?:issue|problem|bug|case|error)s? (?:where|that|when|with|of)\b.{15,}"),
)  # fmt: skip

_DECISIONS = (
    _cue("decision", 0.9, ANY, "decided chose opted settled agreed went chosen",
         rf"\b(?:we|i|you|the (?:team|user)){_HAVE} (?:decided|chose|opted|settled on|agreed|"
         rf"went with|"
         r"chosen)\b(?! to (?:check|look|read|run|wait|ask)).{8,}"),
    _cue("decision", 0.72, REPORT,
         "because instead rather since so avoid prevent ensure keep handle favor favour superseded "
         "preventing ensuring avoiding as match stop guard account make allow preserve respect",
         rf"^(?:i )?(?:\w+ly )?{_DID}\b{_UPKEEP}.{{6,}}?\b{_WHY}\b.{{4,}}"),
    _cue("decision", 0.66, REPORT, "instead rather",
         rf"{_NOT_IF}[^,]{{4,}}\b(?:now|is|are|uses?|stays?|keeps?|goes|runs?|gets?|returns?|"
         rf"shows?|"
         r"becomes?|lives?)\b.{2,}\b(?:instead of|rather than)\b.{4,}"),
    _cue("decision", 0.7, REPORT, "first only always never instead",
         r"^(?:[\w']+ ){0,2}now (?:\w+ly )?\w+s\b.{2,}\b(?:first|only|always|never|"
         r"instead)\b.{6,}"),
    _cue("decision", 0.64, REPORT, "now",
         r"^(?:[\w']+ ){0,2}now (?:\w+ly )?(?!we|i|you|the|let|it|that|this|all|when|"
         r"in)\w+s\b.{12,}"),
    _cue("decision", 0.74, REPORT, "truth", r"\b(?:is|as) the (?:single |only )?source of truth\b"),
    _cue("decision", 0.64, ANY,
         "default defaults reserved opt precedence stays stay remains remain",
         rf"{_NOT_IF}(?!.*\b(?:verif\w+|tests?)\b).*\b"
         + one_of("(?:is|are) (?:now )?(?:the "
                  ")?default", "now defaults? to", "becomes? the default",
                  "defaults to", "is reserved for", "(?:is|are) (?:now )?(?:an? )?(?:explicit "
                                                    ")?opt-(?:in|out)",
                  "an? explicit opt-(?:in|"
                  "out)", "(?:en|dis)abled by default", "o(?:n|ff) by default",
                  "takes? precedence",
                  r"(?:stays?|remains?) (?:un\w+|opt\w*|explicit|separate|optional|single)")
         + r"\b"),
    _cue("decision", 0.75, USER, "let's lets",
         rf"\blet'?s (?:\w+ly |just |also |rather )?{_AIM}\b "
         r"(?!(?:it|this|that|them|going|looking)\b(?: \w+){0,3}$).{8,}"),
    _cue("decision", 0.75, USER, "want",
         r"\b(?:i|we) (?:really |actually |only |don't |do not )?want to (?:use|have|replace|"
         r"keep|store|show|display|make|allow|support|inform|avoid|remove|move|send|hide|only|"
         r"always|never)\b.{4,}",
         r"\b(?:i|we) (?:really |actually |only |don't |do not )?want (?!you\b|"
         r"to\b)[\w ]{2,40}? to (?:be|have|use|go|get)\b.{4,}"),
    _cue("decision", 0.8, USER, "should shouldn't",
         r"^(?!this|that|it|you|there|what|how|which|why|also|like)(?:[\w.-]+: |"
         r".{2,60}, )?(?!(?:we|i|it|this|that|you|there)\b)[\w' -]{2,60}\bshould(?:n't| not|"
         r" only| always| never| also| just)? (?:be|use|have|align|keep|show|default|live|become|"
         r"follow|start|return|replace|adopt|save|support|contain|match|stay)\b.{4,}"),
    _cue("decision", 0.75, USER, "should shouldn't",
         r"\bwe should(?:n't| not| only| always| never| also| just| rather)? (?:call|rename|use|"
         r"remove|align|keep|drop|replace|move|store|default|avoid|support|stop|switch|adopt|"
         r"not)\b (?!in mind).{6,}"),
    _cue("decision", 0.78, USER, "going forward longer adopt",
         r"\bwe(?:'re| are) (?:going to|gonna) (?:adopt|use|support|drop|remove|move|switch|keep|"
         r"go|stop|replace|rename|deprecate)\b.{4,}",
         r".{8,}\bgoing forward\b",
         r"no longer (?:need|use|want|support)\w*\b"),
    _cue("decision", 0.8, USER, "use keep go stick",
         r"(?:^|[,.;] |and |then |please |just )(?:use|keep|go with|stick (?:to|"
         r"with)) .{3,}(?:instead of|rather than|,? not |instead\b)"),
    _cue("decision", 0.7, USER, "instead",
         r"^(?:no,? )?instead of .{4,}, (?:we|use|do|have|make|it|let's|just)\b.{6,}",
         r"^(?!.*\b(?:check|look|see|try|run|test|read|show|tell)\b).{12,}\binstead$"),
)  # fmt: skip

_REJECTIONS = (
    _cue("rejection", 0.9, ANY, "rejected ruled dismissed discarded against declined",
         r"\b(?:we|i|you)(?:'ve| have|'d| had)? (?:\w+ly )?(?:rejected|ruled out|dismissed|"
         r"discarded|decided against|declined)\b.{6,}"),
    _cue("rejection", 0.85, ANY, "considered",
         r"\b(?:was|were|we|i|also) considered\b.*?\b(?:but|because|rejected|however|"
         r"not)\b.{6,}"),
    _cue("rejection", 0.8, USER, "need worth compatibility",
         r"\b(?:we|i) (?:don't|do not|won't|no longer) need (?!to\b).{6,}", r"\bnot worth\b.{4,}",
         r"\bno backwards? compatibility\b"),
    _cue("rejection", 0.6, USER, "need",
         r"\bno need (?:to|for)\b.{6,}", r"\b(?:we|i) (?:don't|do not) need to\b.{6,}"),
)  # fmt: skip

_PREFERENCES = (
    _cue("preference", 0.9, USER, "prefer always never future now avoid ever every next",
         r"\bi(?:'d| would)? (?:much |really |strongly )?prefer\b.{4,}",
         r"(?:^|[,.;!] |please |and |we should |must |want to |you )(?:always|"
         r"never)(?! (?:actually|worked|works|mind|been|was|is|had|got|seen|did|change|the|a|an|"
         r"executes?|\w+ed)\b) .{6,}",
         r"^(?!to |if you).*\b(?:in (?:the )?future|from now on|every time you|next time you)\b",
         r"(?:^|[,.;] |please )avoid \w+ing\b.{4,}",
         r"\bdon't ever\b.{6,}"),
    _cue("preference", 0.8, USER, "only",
         r"\bi(?: would| do|'d)? only (?:want|like|expect|need)\b.{6,}", r"\bi want only\b.{6,}"),
    _cue("preference", 0.78, USER, "don't never not",
         r"\b(?:i|we) (?:don't|never|do not) (?!think|know|see|understand|believe|recall|"
         r"remember|have|need|want|get|mind|care)\w+ .{6,}\bbecause\b.{6,}"),
)  # fmt: skip

_CORRECTIONS = (
    _cue("correction", 0.8, USER, "no nope",
         r"^(?:no|nope)(?:[,.!;] ?(?!worr|problem|need|thanks).{12,}| (?:that's|this|it's|we|i|"
         r"you|the|don't|not)\b.{8,})"),
    _cue("correction", 0.85, USER, "not isn't wrong incorrect inaccurate",
         r"\b(?:that|this|it)(?:'s| is|'re| are)? (?:not|n't) (?:fully |quite |entirely |really |"
         r"at all )?(?:correct|right|true|what i)\b",
         r"\b(?:is|are|isn't|aren't)(?: not)? (?:correct|incorrect|inaccurate|wrong)\b.{4,}"),
    _cue("correction", 0.82, USER, "meant talking",
         r"\bi (?:mostly |actually |only )?meant\b.{10,}", r"\bi was talking about\b.{6,}"),
    _cue("correction", 0.8, USER, "thought",
         r"\bi thought (?:that )?we(?:'d| had)? (?:\w+ly )?(?:\w+ed|rename|remove|drop|use|call|"
         r"chose|went|kept|got)\b.{6,}"),
    _cue("correction", 0.8, USER, "should shouldn't supposed",
         r"\byou (?:should have|shouldn't have|should not have|were supposed to)\b.{6,}"),
    _cue("correction", 0.8, USER, "doesn't don't won't can't",
         r"\b(?:doesn't|don't|won't|can't) work (?:since|because|as)\b.{8,}"),
    _cue("correction", 0.7, USER, "actually",
         r"^(?:no,? |wait,? |hm+,? )?actually,? (?!can|could|let's|wait|i (?:think|don't|"
         r"like)).{10,}"),
)  # fmt: skip

CUES = (*_CAUSES, *_FIXES, *_DECISIONS, *_REJECTIONS, *_PREFERENCES, *_CORRECTIONS)


@dataclass(frozen=True, slots=True)
class Label:
    """What leads a sentence in (`Root cause: …`) and makes it something by that."""

    kind: Kind
    weight: float
    where: str
    pattern: re.Pattern[str]


_NUMBERED = r"(?: ?#?\d{1,2})?(?: ?[—–(-].*)?$"
LABELS = (
    Label("cause", 0.95, ANY, re.compile(
        r"^(?:the |likely |actual )*(?:root )?causes?\b|^why (?:it|this|they) (?:fail|happen|"
        r"broke)")),
    Label("cause", 0.75, REPORT, re.compile(rf"^(?:the )?(?:issue|problem|bug){_NUMBERED}")),
    Label("fix", 0.85, REPORT, re.compile(rf"^(?:the |actual )*(?:fix|resolution|"
                                          rf"fixed){_NUMBERED}")),
    Label("decision", 0.95, ANY, re.compile(
        r"^(?:design |key |final |product )*decisions?\b(?! (?:logic|matrix|needed))")),
    Label("rejection", 0.9, ANY, re.compile(
        r"^(?:rejected|not chosen|discarded|ruled out|non-goals?)\b")),
)  # fmt: skip

DECIDED = re.compile(
    r"\b(?:decisions?|agreed|principles?|confirmed choices)\b(?! (?:logic|matrix|heuristic|tree|"
    r"criteria|table|flow|points?|needed|log|record))"
)
SEVERAL = re.compile(r"\b(?:decisions|principles|choices|agreed)\b")
REJECTED = re.compile(r"\b(?:rejected|ruled out|discarded|non-goals?|not chosen)\b")
ROOT_CAUSE = re.compile(r"\broot causes?\b")
PROBLEM = re.compile(r"^(?:the )?(?:cause|bug|problem|issue)$")
MENDING = re.compile(r"\b(?:fix(?:es|ed)?|bugs?|resolved)\b")
FIX = re.compile(r"^(?:the )?(?:fix|resolution)(?: applied| implemented)?$")
"""Headings, in lower case."""

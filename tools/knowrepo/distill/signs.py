"""What in a session's text tells that something failed, that it worked, and why it failed.

Owns the patterns, and nothing else. They take linear time: outputs are anybody's
text, and only both ends of a long one are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowrepo.terminal import plain
from knowrepo.units import shorten

LONGEST_LINE = 200
_SCANNED = 1 << 15  # characters of either end of an output
_SAID = 4000  # characters of what is said in which causes are looked for
_LONGEST_CAUSE = 300
_SHORTEST_CAUSE = 28  # characters of a cause that tells anything
_REFUSED = re.compile(
    r"\s*(?:The user doesn't want|\[Request interrupted|<tool_use_error>|Permission to use"
    r"|Claude requested permission|User rejected|User chose|\[?Operation cancel|Tool .{0,40}cancel"
    r"|Aborted by user|aborted|Sibling tool call|File has not been read|Command was aborted"
    r"|.{0,80}was (?:blocked|denied|rejected))"
)
_EXIT = re.compile(r"(?:Exit code:?|Process exited with code) (-?\d+)\s*")
_STOPPED = frozenset({"124", "130", "137", "143", "-1", "-2", "-9", "-15"})
_RED = re.compile(
    r"(?im)^[ \t]*(?:--- FAIL|FAIL(?:ED)?\b|not ok \d|npm ERR!|error(?:\[\w+\])?:|E   \S"
    r"|make(?:\[\d+\])?: \*\*\*|.*\b[1-9]\d* (?:failed|failing|errors?)\b|.*\berror TS\d+"
    r"|[✗✘×]|panic:|fatal:|Traceback \(most)"
)
_GREEN = re.compile(
    r"(?im)^[ \t]*(?:ok\s|PASS|.*\b\d+ pass(?:ed|ing)|.*\b0 (?:failed|errors|issues|failures)"
    r"|All checks passed|.*no issues found|Success|.*\bsuccessful|✓|✔|.*built in)"
)
_WRAPPING = re.compile(
    r"(?i)task failed|exit status|exited with|exit code|^make\b.*\*\*\*|ELIFECYCLE|command failed"
    r"|failed to push some refs|no test files|\[no tests|short test summary|^FAIL\b"
    r"|^npm (?:ERR!|error) (?:code|errno)"
)
_STRONG = re.compile(
    r"(?i)\b(?:\w*error|fatal|panic|exception|fail(?:ed|ure))(?:\[\w+\])?\s?:|^E   |error TS\d+"
)
_WEAK = re.compile(
    r"(?i)\b(?:errors?|failed|fatal|cannot|can't|could not|unable|not found|undefined|no such"
    r"|denied|unexpected|invalid|missing|unknown|refused|unresolved|expected|mismatch)\b"
)
_MEANT = re.compile(
    r"(?i)\bfail(?:s|ed|ing|ure)?,? (?:as|like|is|was|are|were)? ?(?:we )?expect"
    r"|\bexpect(?:ed|ing)? (?:it |this |them |the tests? )?(?:to )?fail|\bshould (?:now )?fail"
    r"|\b(?:verify|confirm|see|watch|check|ensure|prove)\w* (?:that )?(?:it|they|the tests?|this)"
    r" (?:\w+ )?fails?|\bTDD\b|\bred[ -](?:phase|green|state)|\bRED\b|\bfailing tests? first"
    r"|tests? (?:correctly |properly )?fails? correctly"
    r"|tests? fails? because (?:the|it|we)[^.]{0,60}(?:not|n't)"
    r"|pre-existing|reproduc"
)
# A sentence that says why something went wrong, and one that only sounds like it.
_CAUSE = re.compile(
    r"(?i)\b(?:the|real|actual|root|underlying|main) (?:\w+ )?(?:issue|problem|cause|reason|bug)s?"
    r"(?: here)? (?:is|was|were)\b|\broot cause\b|\bcaused by\b|\bturns out\b"
    r"|\b(?:fail(?:s|ed|ing|ure|ures)?|errors?|broken|breaks?|wrong|reject(?:s|ed)|cannot|can't"
    r"|couldn't|doesn't|didn't|isn't|wasn't|not|missing)\b[^.]{0,80}\b(?:because|due to)\b"
    r"|^(?:this|that) (?:is|was|happens|happened|fails|failed) (?:because|due to)\b"
)
_NO_CAUSE = re.compile(
    r"(?i)[?:]$|\b(?:might|may|maybe|perhaps|probably|likely|let me|let's|i think|could be|seems?"
    r"|appears?|i'll|i’ll|i need|i should|i will|i see|if|should pass|no longer|old|new behaviou?r"
    r"|updating|impact|now correctly)\b|^(?:now|first|next|good|great|perfect|as expected)\b"
)
_PAST = re.compile(r"(?i)\b(?:was|were|had|turned out|fixed)\b")
_LEAD = re.compile(
    r"(?i)^(?:still failing\. |ah,? |so,? )?(?:the|this|that) (?:\w+ ){0,2}(?:(?:issue|problem"
    r"|cause|reason|bug) (?:here )?)?(?:is|was) (?:that |because )"
    r"|^(?:the|this) (?:\w+ )?(?:issue|problem|cause|reason|bug) (?:here )?(?:is|was) "
)
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")
_MARKUP = re.compile(r"\*\*|__|`|^\s*\d+\.\s")
_LEADING = re.compile(r"^[^\w\"'(\[]+")


def is_refused(output: str) -> bool:
    """Say whether a call was not carried out: refused, stopped, or wrongly made."""
    return _REFUSED.match(output) is not None


def announces_failure(said: str) -> bool:
    """Say whether what comes next is meant to fail, by the end of what was said."""
    return _MEANT.search(said[-2000:]) is not None


def expected_failure(said: str) -> bool:
    """Say whether what has just failed was meant to, by the beginning of what was said."""
    return _MEANT.search(said[:400]) is not None


def telling_line(output: str) -> str:
    """Return the line of a tool's output that says best what went wrong."""
    text = plain(_EXIT.sub("", output[:_SCANNED], count=1))
    if len(output) > _SCANNED:
        text += "\n" + plain(output[-_SCANNED:])
    lines = [line.strip() for line in text.split("\n")]
    lines = [line for line in lines if any(c.isalpha() for c in line)]
    for pattern in (_STRONG, _WEAK):
        for line in filter(pattern.search, lines):
            if len(line) < 400 and not _WRAPPING.search(line):
                return shorten(line, LONGEST_LINE)
    return shorten(lines[-1], LONGEST_LINE) if lines else ""


def has_failed(output: str, marked: bool | None, *, checks: bool, masked: bool) -> bool | None:
    """Say whether an attempt failed; None where neither its agent nor its output tells.

    ``marked`` is what the agent says. ``masked``: that is said of another command
    after it. ``checks``: its output says itself how it went.
    """
    code = _EXIT.match(output)
    if code and code[1] in _STOPPED:
        return None
    if marked or (code and code[1] != "0"):
        return bool(output[code.end() :].strip() if code else output.strip()) or None
    if not masked and marked is not None:
        return False
    if not checks:
        return None
    long = len(output) > 2 * _SCANNED
    ends = output[:_SCANNED] + output[-_SCANNED:] if long else output
    if _RED.search(ends):
        return True
    return False if _GREEN.search(ends) else None


def causes(said: str) -> Iterator[str]:
    """Yield the sentences that say why something went wrong, without Markdown's marks."""
    for raw in _SENTENCE.split(said[:_SAID]):
        text = _LEADING.sub("", _MARKUP.sub("", raw)).strip()
        told = len(text) <= _LONGEST_CAUSE and len(reason(text)) >= _SHORTEST_CAUSE
        if told and not text.count('"') % 2 and _CAUSE.search(text) and not _NO_CAUSE.search(text):
            yield text


def reason(cause: str) -> str:
    """Return what a sentence gives for the cause, without the words that announce it."""
    return _LEAD.sub("", cause).rstrip(".")


def looks_back(cause: str) -> bool:
    """Say whether a sentence tells of what is over."""
    return _PAST.search(cause) is not None

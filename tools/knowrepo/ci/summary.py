"""The summary of a change as Markdown, for a workflow's page.

Owns its form, and that no text of a concept, a path or a question is anything but
text in it: no link, no image, no markup, no other row. Where it goes is the
command's business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from knowrepo.ci.changes import KINDS, Change
from knowrepo.ci.recalls import Turned
from knowrepo.concepts.checking.codes import CODES
from knowrepo.concepts.checking.findings import Finding
from knowrepo.evaluate.cases import FILE, Case
from knowrepo.evaluate.run import Outcome
from knowrepo.terminal import plain
from knowrepo.units import count, shorten

MOST_ROWS = 50
"""Rows of a table; what is left is counted. A host takes a megabyte a step."""
_LONGEST = 160
_SEVERITIES = ("error", "warning", "notice")
_SPECIAL = {ord(sign): f"&#{ord(sign)};" for sign in "&<>|`*_[]\\~!#@$"}


def as_text(value: str) -> str:
    """Return a text on one line, shown as it is wherever it stands in Markdown."""
    said = shorten(" ".join(plain(value).split()), _LONGEST).translate(_SPECIAL)
    return said.replace("://", "&#58;//").replace("www.", "www&#46;")


def of_findings(found: Sequence[Finding], *, files: int, conformant: bool) -> Iterator[str]:
    """Yield what `know check` found."""
    verdict = "conformant" if conformant else "**not conformant**"
    yield "### Concepts"
    yield ""
    told: Counter[str] = Counter(finding.severity for finding in found)
    numbers = ", ".join(count(told[name], name) for name in _SEVERITIES)
    yield f"The bundle is {verdict}: {numbers} in {count(files, 'file')}."
    ordered = sorted(found, key=lambda one: (_SEVERITIES.index(one.severity), one))
    rows = [
        (one.severity, one.code, f"{one.path}:{one.line}", one.message or CODES[one.code].meaning)
        for one in ordered
    ]
    yield from _table(("severity", "code", "place", "finding"), rows)


def of_generated(wrong: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield which generated files are not as they would be, each with how."""
    yield "### Generated files"
    yield ""
    if not wrong:
        yield "Up to date."
        return
    yield "Not up to date. The default branch's workflow rebuilds them; so does `know tags build`."
    yield from _table(("file", "is"), wrong)


def of_secrets(found: Sequence[tuple[str, int, str]]) -> Iterator[str]:
    """Yield where secrets are, and of which kind."""
    yield "### Secrets"
    yield ""
    yield f"**{count(len(found), 'secret')}**: revoke them first." if found else "None found."
    yield from _table(("place", "kind"), [(f"{path}:{line}", kind) for path, line, kind in found])


def of_changes(found: Sequence[Change] | None) -> Iterator[str]:
    """Yield what became of the concepts; None where there is nothing to compare with."""
    yield "### Knowledge that changed"
    yield ""
    if found is None:
        yield "There is no base to compare with."
        return
    told = Counter(change.kind for change in found)
    said = [f"{told[kind]} {kind}" for kind in KINDS if told[kind]]
    yield f"Concepts: {', '.join(said)}." if said else "No concept is new, changed or removed."
    rows = [(one.kind, one.title or one.path, one.type, one.status, _place(one)) for one in found]
    yield from _table(("", "concept", "type", "status", "path"), rows)


def of_recalls(
    outcomes: Sequence[Outcome],
    turned: Sequence[Turned] | None,
    dropped: Sequence[Case],
    notes: Iterable[str],
) -> Iterator[str]:
    """Yield what is found and no longer found; ``turned`` is None where nothing was compared."""
    yield "### Questions"
    yield ""
    failing = [one for one in outcomes if not one.passed]
    if outcomes:
        yield f"Answered: {len(outcomes) - len(failing):,} of {len(outcomes):,}."
    else:
        yield f"None is asked: there is no {FILE}, or no case in it."
    yield from _table(("not answered", "why"), [(one.case.query, one.problem) for one in failing])
    if turned is not None:
        yield ""
        yield "Against the base:" if turned or dropped else "Against the base nothing changed."
        rows = [
            (one.turn, one.case.query, _rank(one.before), _rank(one.after)) for one in turned
        ] + [("no longer asked", case.query, "", "") for case in dropped]
        yield from _table(("", "question", "place before", "place now"), rows)
    for note in notes:
        yield ""
        yield f"Note: {as_text(note)}"


def _place(change: Change) -> str:
    return f"{change.before} → {change.path}" if change.before else change.path


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table; nothing where it has no row."""
    if not rows:
        return
    yield ""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows[:MOST_ROWS]:
        yield f"| {' | '.join(map(as_text, row))} |"
    if len(rows) > MOST_ROWS:
        yield ""
        yield f"And {len(rows) - MOST_ROWS:,} more."

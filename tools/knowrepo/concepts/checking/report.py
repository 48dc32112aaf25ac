"""Findings for others to read: lines, JSON, SARIF, and annotations of a code host.

Owns the formats, and prints nothing. Paths are made relative to the top of the
git work tree where a code host reads them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

from knowrepo import __version__
from knowrepo.concepts.checking.codes import CODES, Code
from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.validate import is_conformant

FORMATS = ("text", "json", "sarif", "github")
_MOST_ALIKE = 20  # warnings or notices of one code, before the rest is only counted
_LEVELS = {"error": "error", "warning": "warning", "notice": "note"}
_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def text(found: Sequence[Finding], *, everything: bool) -> tuple[list[str], list[str]]:
    """Return the findings as lines, and what is to be said of those that are left out."""
    counts: Counter[str] = Counter()
    lines: list[str] = []
    for finding in found:
        counts[finding.code] += 1
        if everything or finding.severity == "error" or counts[finding.code] <= _MOST_ALIKE:
            lines.append(
                f"{_shown(finding.path)}:{finding.line}:{finding.column}:"
                f" {finding.severity} {finding.code} {finding.message}"
            )
    left = [
        f"{code}: {number - _MOST_ALIKE} more ({CODES[code].meaning}); --all shows them"
        for code, number in sorted(counts.items())
        if number > _MOST_ALIKE and not everything and CODES[code].severity != "error"
    ]
    return lines, left


def _shown(path: str) -> str:
    """Return a path on one line; a name may hold any character."""
    return path if "\n" not in path and "\r" not in path else repr(path)[1:-1]


def as_json(
    found: Iterable[Finding], *, files: int, fixable: Collection[Finding] = ()
) -> dict[str, Any]:
    """Return the findings as an object; keys are only ever added under one version.

    ``fixable`` are those that `know check --fix` mends.
    """
    shown = list(found)
    counts = Counter(finding.severity for finding in shown)
    return {
        "version": 1,
        "conformant": is_conformant(shown),
        "files": files,
        "counts": {name: counts[name] for name in ("error", "warning", "notice")},
        "findings": [
            {
                **vars(finding),
                "severity": finding.severity,
                "section": finding.section,
                "fixable": finding in fixable,
            }
            for finding in shown
        ],
    }


def github(found: Iterable[Finding], *, prefix: str = "") -> Iterator[str]:
    """Yield workflow commands that annotate the files, errors first: a host shows only some."""
    order = {"error": 0, "warning": 1, "notice": 2}
    for finding in sorted(found, key=lambda one: (order[one.severity], one)):
        properties = {
            "file": prefix + finding.path,
            "line": str(finding.line),
            "col": str(finding.column),
            "title": f"{finding.code} {CODES[finding.code].meaning}",
        }
        yield workflow_command(finding.severity, finding.message, **properties)


def workflow_command(level: str, message: str, **properties: str) -> str:
    """Return a line by which a step of a workflow has its host show a message.

    No text in it can end the line or a property, so none is another command.
    """
    said = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{level} {said}::{_data(message)}" if said else f"::{level}::{_data(message)}"


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def sarif(found: Iterable[Finding], *, prefix: str = "") -> dict[str, Any]:
    """Return the findings as SARIF 2.1.0, for a host's code scanning."""
    shown = list(found)
    used = sorted({finding.code for finding in shown})
    places = {code: number for number, code in enumerate(used)}
    seen: Counter[str] = Counter()
    results = []
    for finding in shown:
        said = f"{finding.code}\0{finding.path}\0{finding.message}"
        seen[said] += 1  # of several alike, each is itself again when lines move
        key = hashlib.sha256(f"{said}\0{seen[said]}".encode("utf-8", "replace")).hexdigest()
        results.append(_result(finding, places[finding.code], prefix, key))
    driver = {
        "name": "know check",
        "semanticVersion": __version__,
        "rules": [_rule(CODES[code]) for code in used],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: Finding, rule: int, prefix: str, key: str) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": quote(prefix + finding.path, errors="replace")},
        "region": {"startLine": finding.line, "startColumn": finding.column},
    }
    return {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"knowFinding/v1": key},
    }


def _rule(code: Code) -> dict[str, Any]:
    tags = ["okf", *([code.section] if code.section else ())]
    return {
        "id": code.code,
        "shortDescription": {"text": code.meaning},
        "fullDescription": {"text": code.why},
        "help": {"text": f"{code.why}\n\nTo mend it: {code.mend}"},
        "defaultConfiguration": {"level": _LEVELS[code.severity]},
        "properties": {"tags": tags},
    }

"""The codes of findings: stable names, severities, and what is said of each.

One module a subject. Owns the table and nothing else; the rules that find are
elsewhere. 1xx is what makes a bundle non-conformant (S11 of the spec, and nothing beyond its three
rules), 2xx is everything else about a bundle, KNOW3xx is about our own files. A
code is never given another meaning, and none is used again.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from knowrepo.concepts.checking.codes import (
    conformance,
    files,
    lifecycle,
    links,
    own,
    sources,
    values,
)
from knowrepo.concepts.checking.codes.code import Code, Severity

__all__ = ["CODES", "FIXABLE", "Code", "Severity", "explain", "is_non_conformance", "near"]

CODES: Mapping[str, Code] = {
    code.code: code
    for part in (conformance, files, links, sources, values, lifecycle, own)
    for code in part.CODES
}

FIXABLE = frozenset(
    {
        "OKF103", "OKF203", "OKF204", "OKF211", "OKF232", "OKF233", "OKF237", "OKF263", "OKF269",
        "OKF272", "OKF279",
    }
)  # fmt: skip
"""Codes whose findings a tool may mend, at least where the cause allows it."""


def is_non_conformance(code: str) -> bool:
    """Say whether a finding of this code breaks one of the three rules of S11."""
    return code.startswith("OKF1")


def near(code: str) -> list[str]:
    """Return the codes that somebody may have meant by one that does not exist."""
    wanted = code.strip().upper()
    if wanted.isdigit():
        return [known for known in CODES if known.endswith(wanted)]
    return difflib.get_close_matches(wanted, CODES, n=4, cutoff=0.6)


def explain(code: Code) -> str:
    """Return all that is known of a code, for a terminal."""
    if is_non_conformance(code.code):
        verdict = "makes a bundle non-conformant"
    else:
        verdict = "says nothing about conformance"
    section = f", {code.section} of OKF v0.2" if code.section else ""
    example = "\n".join(f"    {line}" for line in code.example.splitlines())
    fixable = "\n`know check --fix` can mend it." if code.code in FIXABLE else ""
    return (
        f"{code.code}: {code.meaning}\n({code.severity}{section}; {verdict})\n\n"
        f"Why it matters: {code.why}\n\nExample:\n{example}\n\nTo mend it: {code.mend}{fixable}"
    )

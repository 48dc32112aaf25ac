"""Whether a concept is current, and how it stands among the others."""

from __future__ import annotations

from knowrepo.concepts.checking.codes.code import Code

CODES = (
    Code(
        "OKF271", "warning", "S5.4", "a status that the spec does not know",
        "Readers take what they do not know for stable, or for nothing.",
        "status: published",
        "write draft, stable or deprecated.",
    ),
    Code(
        "OKF272", "warning", "S5.4", "a status in another case",
        "Readers compare it letter by letter.",
        "status: Draft",
        "write it in lower case.",
    ),
    Code(
        "OKF277", "notice", "S4.1", "two concepts have one title",
        "Search results and indexes show them alike.",
        "title: Overview, in two files of a folder",
        "say in each title what sets it apart, or join the concepts.",
    ),
    Code(
        "OKF283", "notice", "S5.5", "a concept is stale",
        "Its `stale_after` has passed: what it says may no longer be true.",
        "stale_after: 2025-01-01T00:00:00Z",
        "look whether it still holds, and set a later date.",
    ),
    Code(
        "OKF284", "notice", "S5.4", "a link to a deprecated concept",
        "The reader is led to what is no longer current.",
        "[Orders](orders-v1.md), whose status is deprecated",
        "link to what replaced it.",
    ),
    Code(
        "OKF285", "notice", "S5.4", "a deprecated concept does not say what replaced it",
        "Whoever arrives there does not know where to go on.",
        "status: deprecated",
        "add `superseded_by: path/of/the/new.md`, or link to it in the text.",
    ),
    Code(
        "OKF286", "warning", "S6.2", "`superseded_by` names a concept that is not there",
        "Whoever follows it finds nothing.",
        "superseded_by: orders-v3.md",
        "correct the path.",
    ),
    Code(
        "OKF287", "warning", "S5.4", "concepts supersede each other in a circle",
        "None of them is the current one.",
        "a.md superseded by b.md, and b.md by a.md",
        "remove `superseded_by` from the one that holds.",
    ),
    Code(
        "OKF288", "notice", "S5.4", "a superseded concept is not deprecated",
        "Readers go by `status`, and take it for current.",
        "superseded_by: orders-v2.md, and no status",
        "add `status: deprecated`.",
    ),
    Code(
        "OKF291", "notice", "S6.1", "nothing links to a concept",
        "It is found by search alone; a link says what it belongs to. This is said only where"
        " most concepts are linked to.",
        "a concept that no other, and no index written by hand, names",
        "link to it from a concept that it has to do with.",
    ),
)  # fmt: skip

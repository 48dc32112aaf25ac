"""Provenance: sources, and the footnotes that cite them."""

from __future__ import annotations

from knowrepo.concepts.checking.codes.code import Code

CODES = (
    Code(
        "OKF251", "warning", "S5.1", "a footnote with neither a source nor a definition",
        "It attributes a claim to nothing; Markdown shows the brackets as they are.",
        "Sharded daily.[^schema]",
        "add a source with the id `schema`, or a line `[^schema]: …`.",
    ),
    Code(
        "OKF252", "notice", "S5.1", "a footnote's label is no id of a source",
        "The label is what joins a claim to its source.",
        "[^schema] where `sources` has the id ga4-schema",
        "use the source's id as the label, or add a source with this id.",
    ),
    Code(
        "OKF253", "notice", "S5.1", "a source is never cited",
        "Others of this concept are; a claim may lack its footnote.",
        "- id: policy without any [^policy]",
        "cite it where it is used: `[^policy]`.",
    ),
    Code(
        "OKF254", "warning", "S5.1", "two sources have one id",
        "A footnote cannot tell which of them is meant.",
        "- id: policy, twice",
        "give each an id of its own.",
    ),
    Code(
        "OKF255", "warning", "S5.1", "a source has no `resource`",
        "It is the one key that an entry must have: what the source is.",
        "- id: policy\n  title: The policy",
        "add `resource: …`, a URL, a path, or words.",
    ),
)  # fmt: skip

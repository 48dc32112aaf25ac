"""Values of keys: their types, times, actors, tags."""

from __future__ import annotations

from knowrepo.concepts.checking.codes.code import Code

CODES = (
    Code(
        "OKF204", "warning", "S4.1", "`tags` is not a list",
        "Readers see one long tag, or none.",
        "tags: sales, orders",
        "write a list: `tags: [sales, orders]`.",
    ),
    Code(
        "OKF205", "notice", "S13", "`timestamp`, a key of OKF v0.1",
        "Readers of v0.2 look for `generated.at`, and may or may not fall back.",
        "timestamp: 2026-05-28T22:53:05Z",
        "write `generated: {by: …, at: …}`; `know migrate` does it.",
    ),
    Code(
        "OKF261", "warning", "S4.1", "a value of the wrong type",
        "Readers that expect the type of the spec skip the value, or stop.",
        "title: [Orders]",
        "write it as the message says.",
    ),
    Code(
        "OKF262", "warning", "S5.2", "`generated` does not say by whom",
        "`by` is required within it: who or what wrote this.",
        "generated: {at: 2026-05-28T22:53:05Z}",
        "add `by: human:jane`, or `by: tool/version`.",
    ),
    Code(
        "OKF263", "notice", "S5.2", "`verified` is one mapping and not a list",
        "The spec allows it; not every reader knows.",
        "verified: {by: human:jane, at: 2026-06-25T09:00:00Z}",
        "put it into a list: `verified: [{by: …, at: …}]`.",
    ),
    Code(
        "OKF264", "warning", "S5.2", "an entry of `verified` lacks `by` or `at`",
        "How far a concept can be trusted follows from who verified it, and when.",
        "verified: [{at: 2026-06-25T09:00:00Z}]",
        "add what is missing.",
    ),
    Code(
        "OKF265", "warning", "S5", "a time without an offset from UTC",
        "It is another instant in every time zone.",
        "at: 2026-05-28T22:53:05",
        "add the offset, or `Z` for UTC: `2026-05-28T22:53:05Z`.",
    ),
    Code(
        "OKF266", "notice", "S5", "a date without a time",
        "This was the form of v0.2 until August 2026; now a time and an offset are asked for.",
        "stale_after: 2026-09-23",
        "write `2026-09-23T00:00:00Z`.",
    ),
    Code(
        "OKF267", "warning", "S5", "a time that is not ISO 8601",
        "Programs cannot read it.",
        "at: 28 May 2026",
        "write `2026-05-28T22:53:05Z`.",
    ),
    Code(
        "OKF268", "warning", "S5", "a time in the future",
        "What was written or verified was so in the past; perhaps the year is wrong.",
        "at: 2062-05-28T22:53:05Z",
        "correct it; up to a day ahead is tolerated, for clocks and time zones.",
    ),
    Code(
        "OKF269", "warning", "S7", "an actor that was meant to be `human:<id>`",
        "Trust is derived from exactly this prefix: this person counts as a machine.",
        "by: Human:jane, by: human-jane",
        "write `human:jane`.",
    ),
    Code(
        "OKF280", "warning", "S7", "`human:` without the person",
        "Nobody can be asked, and readers need not take it for a person.",
        "by: human",
        "write `human:<id>`, as `human:jane`.",
    ),
    Code(
        "OKF270", "notice", "S7", "an actor in none of the forms",
        "Readers cannot tell a person from a program.",
        "by: Jane Doe",
        "write `human:jane`, `tool/version`, or `process:name`.",
    ),
    Code(
        "OKF273", "notice", "S4.1", "two tags of a concept are the same word",
        "One of them adds nothing, and a list of tags grows twins.",
        "tags: [data-lake, Data Lake]",
        "keep one spelling.",
    ),
    Code(
        "OKF274", "notice", "S4.1", "an unquoted text that YAML takes for something else",
        "Readers see a number, a truth value or a date: `no` becomes false, 1.10 becomes 1.1.",
        "tags: [2026, no]",
        'quote it: `tags: ["2026", "no"]`.',
    ),
    Code(
        "OKF275", "notice", "S4.1", "a concept has no title",
        "Readers make one up from the file's name.",
        "---\ntype: Table\n---",
        "add `title: …`.",
    ),
    Code(
        "OKF276", "notice", "S4.1", "a concept has no description",
        "Indexes and search results show nothing but its title.",
        "---\ntype: Table\ntitle: Orders\n---",
        "add `description: …`, one sentence.",
    ),
    Code(
        "OKF278", "warning", "S10.2", "an Attested Computation that cannot be run",
        "It needs `runtime`, and one computation: `computation`, or code below `# Computation`.",
        "type: Attested Computation, and no `runtime`",
        "add what is missing.",
    ),
    Code(
        "OKF281", "warning", "S4.1", "a tag or a key of YAML that not every reader takes",
        "It is YAML, but many readers know neither tags of others nor keys that are no text, "
        "and stop there.",
        "owner: !person jane",
        "remove the tag; quote what begins with `!` or `{{` and is meant as text.",
    ),
    Code(
        "OKF282", "notice", "S13", "a `# Citations` list, of OKF v0.1",
        "Readers of v0.2 look for `sources`.",
        "# Citations\n\n1. https://example.org/policy",
        "move the entries to `sources`, and cite them by footnotes; `know migrate` does it.",
    ),
)  # fmt: skip

"""What makes a bundle non-conformant: the three rules of S11."""

from __future__ import annotations

from knowrepo.concepts.checking.codes.code import Code

CODES = (
    Code(
        "OKF101", "error", "S11.1", "a concept has no front matter",
        "Without it no reader knows what kind of concept this is.",
        "# Orders\n\nOne row an order.",
        "begin the file with a block: `---`, `type: …`, `---`. Nothing may stand before it.",
    ),
    Code(
        "OKF102", "error", "S11.1", "the front matter is not closed",
        "Readers take the whole file for YAML, or for text.",
        "---\ntype: Table\n\n# Orders",
        "put `---` on a line of its own after the last key.",
    ),
    Code(
        "OKF103", "error", "S11.1", "the front matter is not YAML",
        "A reader that parses strictly sees none of the keys.",
        "title: Multi-view: tabs and windows",
        'quote the value: `title: "Multi-view: tabs and windows"`. Indent with spaces, close'
        " quotes and brackets, and resolve merge conflicts.",
    ),
    Code(
        "OKF104", "error", "S11.1", "the front matter is not a mapping",
        "Keys cannot be read from a list, from text, or from nothing.",
        "---\n- Table\n- Orders\n---",
        "write `key: value` lines, at least `type: …`.",
    ),
    Code(
        "OKF105", "error", "S11.2", "`type` is missing, empty or no text",
        "It is the only key that the spec requires; readers route and filter by it.",
        "---\ntitle: Orders\n---",
        "add `type: …`, one short text. Any will do: types are not registered.",
    ),
    Code(
        "OKF106", "error", "S4", "the front matter is not UTF-8",
        "YAML is Unicode; a reader gets wrong letters or stops.",
        "title: caf\\xe9 (a byte of Latin-1)",
        "save the file as UTF-8.",
    ),
    Code(
        "OKF111", "error", "S8", "an index.md has front matter that it may not have",
        "An index is no concept; only that at the bundle's root may carry `okf_version`.",
        "---\ntitle: Contents\n---\n\n# Tables",
        "remove the key; what it says belongs into a concept or into the text.",
    ),
    Code(
        "OKF112", "error", "S8", "an index.md has no section",
        "Its entries stand in groups, each below a heading.",
        "* [Orders](orders.md) - one row an order",
        "put a heading before the entries: `# Tables`.",
    ),
    Code(
        "OKF121", "error", "S9", "a log.md has a date heading that is no date",
        "Entries are grouped by date, and found by it.",
        "## Yesterday",
        "write the date as YYYY-MM-DD: `## 2026-05-22`.",
    ),
)  # fmt: skip

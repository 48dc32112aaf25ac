"""Links between concepts, and fields that hold a path."""

from __future__ import annotations

from knowrepo.concepts.checking.codes.code import Code

CODES = (
    Code(
        "OKF201", "warning", "S6.1", "a link leads nowhere",
        "The spec allows it, as knowledge not yet written; mostly it is a mistake.",
        "[Orders](order.md) where orders.md is the file",
        "correct the target, or write the concept.",
    ),
    Code(
        "OKF202", "warning", "S6.1", "a link leaves the repository",
        "Nobody else has what it leads to.",
        "[notes](../../../home/me/notes.md)",
        "link to a URL, or bring the file into the repository.",
    ),
    Code(
        "OKF231", "notice", "S6.1", "a link leads to the file that it stands in",
        "It relates the concept to itself; perhaps another was meant.",
        "[Orders](orders.md) in orders.md",
        "link to the other concept, or to a heading: `#schema`.",
    ),
    Code(
        "OKF232", "warning", "S6.1", "a link is spelled otherwise than the file's name",
        "It works on macOS and Windows, and nowhere else.",
        "[Orders](Orders.md) where orders.md is the file",
        "write the name as the file has it.",
    ),
    Code(
        "OKF233", "notice", "S6.1", "a link lacks the `.md` of its target",
        "Only some programs add it; a code host does not.",
        "[Orders](orders)",
        "write `orders.md`.",
    ),
    Code(
        "OKF234", "notice", "S6.1", "a link names a heading that its target does not have",
        "The reader arrives at the top instead.",
        "[joins](orders.md#joined) where the heading is `# Joins`",
        "write the heading in lower case with hyphens: `#joins`.",
    ),
    Code(
        "OKF235", "notice", "S6.1", "a wikilink",
        "OKF's links are standard Markdown; other readers see brackets.",
        "[[orders]]",
        "write `[Orders](orders.md)`.",
    ),
    Code(
        "OKF236", "warning", "S6.1", "a link is absolute from the root of the repository",
        "In OKF `/` is the bundle's root, so readers look elsewhere.",
        "[Orders](/docs/okf/orders.md) in a bundle at docs/okf",
        "write it relative to the file, or from the bundle's root: `/orders.md`.",
    ),
    Code(
        "OKF237", "warning", "S6.1", "a link is percent-encoded in a wrong way",
        "Readers decode a target once, and look for what that gives.",
        "[Orders](all%2520orders.md) where `all orders.md` is the file",
        "encode the name once: `all%20orders.md`, `%25` for a percent sign.",
    ),
    Code(
        "OKF239", "notice", "S6.2", "a field names a file that is not there",
        "Whoever follows it finds nothing.",
        "computation: lib/revenue.sql",
        "correct the path; it may start at the file's folder or, with `/`, at the bundle's root.",
    ),
)  # fmt: skip

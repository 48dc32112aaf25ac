"""What is to be said of a file as such: its name, its bytes, and the reserved ones."""

from __future__ import annotations

from knowrepo.concepts.checking.codes.code import Code

CODES = (
    Code(
        "OKF203", "warning", "S4.1", "a key stands twice",
        "Readers keep one value and lose the other, and do not agree which.",
        "status: draft\nstatus: stable",
        "keep the right one.",
    ),
    Code(
        "OKF206", "notice", "S12", "a version of OKF that this check does not know",
        "It is checked as v0.2, as well as that goes.",
        'okf_version: "9.9"',
        'write "0.2" or "0.1", or use a newer know.',
    ),
    Code(
        "OKF207", "warning", "S9", "a log.md has front matter",
        "The spec foresees none; some readers take the log for a concept of that type.",
        "---\ntype: Log\n---\n\n# Log",
        "remove the block.",
    ),
    Code(
        "OKF208", "warning", "S3", "a file's name is not UTF-8",
        "It cannot be linked to, and is another name on other platforms.",
        "caf\\xe9.md",
        "rename the file.",
    ),
    Code(
        "OKF211", "warning", "S4.1", "the file begins with a byte order mark",
        "A reader that looks for `---` at the start finds no front matter.",
        "\\ufeff---\ntype: Table\n---",
        "save the file as UTF-8 without a mark.",
    ),
    Code(
        "OKF212", "notice", "", "lines end in different ways",
        "Every tool that normalises them shows changes that nobody made.",
        "one line with CRLF, the next with LF",
        "use one line end; `* text=auto` in .gitattributes keeps it so.",
    ),
    Code(
        "OKF213", "warning", "S4", "the text holds control characters",
        "Programs take a file with NUL bytes for a binary one: no diff, no search.",
        "a NUL byte in the middle of a sentence",
        "remove it; perhaps the file is no text, or was damaged.",
    ),
    Code(
        "OKF214", "error", "", "the body holds the markers of a merge conflict",
        "Two versions of the text stand beside each other, and readers see both.",
        "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> topic",
        "keep what is right and remove the markers.",
    ),
    Code(
        "OKF215", "error", "S4", "the body is not UTF-8",
        "A concept is a UTF-8 file; readers get wrong letters or stop.",
        "caf\\xe9 (a byte of Latin-1)",
        "save the file as UTF-8.",
    ),
    Code(
        "OKF216", "warning", "S3", "a symbolic link leads out of the bundle, or nowhere",
        "What it names is not part of the bundle: a clone or an archive lacks it.",
        "orders.md -> ../../elsewhere/orders.md",
        "put the file itself there.",
    ),
    Code(
        "OKF217", "warning", "S3", "a name that some platform does not allow",
        "Windows can neither check it out nor unpack it.",
        "tables/con.md, metrics/a:b.md, `notes .`",
        "rename the file or folder; letters, digits, `-` and `_` are safe.",
    ),
    Code(
        "OKF218", "warning", "S3", "two names differ only in case or in how accents are encoded",
        "On macOS and Windows one file replaces the other.",
        "Orders.md beside orders.md",
        "rename one of them.",
    ),
    Code(
        "OKF220", "notice", "S11.1", "a file about the folder stands among the concepts",
        "Every Markdown file but index.md and log.md is a concept to the spec; strict"
        " validators fail on this one. With --strict-spec this check does so too.",
        "README.md without front matter",
        "move it out of the bundle, or give it front matter with a `type`.",
    ),
    Code(
        "OKF223", "warning", "S9", "the entries of a log.md are not newest first",
        "Readers look for the latest at the top.",
        "## 2026-05-15\n\n## 2026-05-22",
        "move the newest date to the top.",
    ),
    Code(
        "OKF224", "notice", "S9", "a date heading of a log.md says more than the date",
        "Some readers take the heading for a date as a whole.",
        "## 2026-05-22 (release)",
        "keep the date alone, and say the rest in the entry.",
    ),
    Code(
        "OKF227", "notice", "S8", "an index.md lists nothing",
        "It is read to see what is there: a list of links with descriptions.",
        "# Tables\n\nAll our tables.",
        "add entries: `* [Orders](orders.md) - one row an order`.",
    ),
    Code(
        "OKF279", "warning", "S12", "`okf_version` is not quoted",
        "YAML takes it for a number: 0.10 becomes 0.1.",
        "okf_version: 0.2",
        'write `okf_version: "0.2"`.',
    ),
    Code(
        "OKF298", "warning", "", "a file is too large to be looked at",
        "Beyond a megabyte its front matter is checked, and its links and footnotes are not.",
        "an export of a database as one concept of 5 MB",
        "divide it, or keep generated data in a file of another kind and link to it.",
    ),
    Code(
        "OKF299", "notice", "", "a part of the file is too large to be looked at",
        "Links and footnotes in it are not checked.",
        "one paragraph with ten thousand brackets",
        "divide the paragraph, or keep generated data in a file of another kind.",
    ),
)  # fmt: skip

"""What a concept of each type is asked: the sections of a form to be filled in.

Owns the words of the forms. A question stands in a comment, which no reader of
the rendered page sees, and which is replaced by its answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Template:
    """A type in one line, and its sections: a heading and what belongs below it."""

    line: str
    sections: tuple[tuple[str, str], ...]


TEMPLATES: Mapping[str, Template] = {
    "Decision": Template(
        "a choice between ways, and why this one",
        (
            ("Context", "What made a choice necessary? Which facts bound it?"),
            ("Choice", "What is done from now on, in one or two sentences?"),
            ("Why", "What spoke for it? Measured, seen, or believed?"),
            ("Alternatives", "What else was weighed, and why was it not taken?"),
            (
                "Consequences",
                "What follows from it, good and bad? When is it to be looked at again?",
            ),
        ),
    ),
    "Solution": Template(
        "a problem that was hard, and what solved it",
        (
            ("Problem", "What was seen? Quote the message that one would search for."),
            ("Cause", "Why did it happen?"),
            ("Solution", "What solved it, step by step?"),
            ("What did not help", "What was tried before, and failed?"),
        ),
    ),
    "Failure": Template(
        "something that went wrong, and how not to repeat it",
        (
            ("What failed", "What was done, and what happened?"),
            ("Why", "What was the cause?"),
            ("Instead", "What is to be done in its place?"),
        ),
    ),
    "Correction": Template(
        "something that an agent or a text had wrong, and what is right",
        (
            ("Wrong", "What was said or done?"),
            ("Right", "What is true, or wanted?"),
            ("How to tell", "By what does one notice the difference?"),
        ),
    ),
    "Preference": Template(
        "how somebody wants things to be done here",
        (
            ("Preference", "What is wanted?"),
            ("Why", "What is it good for?"),
            ("Where it holds", "Everywhere, or only in some part? Which exceptions are there?"),
        ),
    ),
    "DevOps": Template(
        "how something is built, deployed, run or mended",
        (
            ("When", "In which situation is this done?"),
            ("Steps", "The commands, in order. No passwords: say where they are kept."),
            ("Check", "How does one see that it worked?"),
            ("Way back", "How is it undone?"),
        ),
    ),
    "Project Knowledge": Template(
        "a fact about this project that its code does not say",
        (
            ("Fact", "What is so?"),
            ("Where it matters", "Who needs to know it, and when?"),
        ),
    ),
    "Reference": Template(
        "something outside, and what it is used for here",
        (
            ("What it is", "Which document, service or person? Where is it found?"),
            ("What it is used for", "Which question does it answer?"),
        ),
    ),
}
PLAIN = Template("", (("What is so", "What should somebody know who was not there?"),
                      ("Why", "How is it known, and why does it matter?")))  # fmt: skip


def body(kind: str) -> str:
    """Return the body of an empty form for a type; any type that is not ours has a plain one."""
    sections = TEMPLATES.get(kind, PLAIN).sections
    return "\n\n".join(f"# {heading}\n\n<!-- {question} -->" for heading, question in sections)

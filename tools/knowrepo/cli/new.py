"""``know new`` and ``know remember``: concepts that a person, or an agent, types."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import RepoOption, repository, say, show
from knowrepo.errors import KnowError, UsageError

if TYPE_CHECKING:
    from knowrepo.concepts.model import Concept
    from knowrepo.concepts.writing.create import Author
    from knowrepo.git.layout import Repository

TagOption = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be given again.")
]
ByOption = Annotated[
    str,
    typer.Option(
        "--by", metavar="ACTOR", help="The agent that says it (claude-code/2.1); else it is you."
    ),
]


def new(
    kind: Annotated[
        str, typer.Argument(metavar="TYPE", help="The type; without one, they are listed.")
    ] = "",
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What is so, in a few words.")] = "",
    tag: TagOption = None,
    edit: Annotated[
        bool, typer.Option("--edit", "-e", help="Open it in $VISUAL or $EDITOR.")
    ] = False,
    by: ByOption = "",
    repo: RepoOption = None,
) -> None:
    """Begin a concept: a form with the sections of its type, to be filled in.

    Prints the path of the new file, which is a draft and not staged. Without
    arguments the types are listed. Any other type is as good, and gets a plain
    form.

    \b
    Examples:
      know new
      know new Decision "Retry uploads three times" --tag uploads
      know new Failure "The cache was never cleared" --edit
    """
    from knowrepo.concepts.writing import create

    if not kind:
        _list_types()
        return
    if not title:
        raise UsageError(f"{kind}: no title", hint=f'try: know new {kind} "What is so"')
    called = create.checked_title(_writable("the title", title))
    editor = _editor() if edit else []
    here = repository(repo)
    who = _author(here, by)
    type_, tags = _type(kind), _texts("--tag", tag)
    data = create.form(type_, called, tags, who, create.now())
    _refuse_secrets(here, data)
    _remark(here, type_, tags)
    path = create.place(here, type_, called, data)
    show(_from_here(here, path))
    if editor:
        _run(editor, here.root / path)
    add = f"git add {_quoted(_from_here(here, path))} && know tags build"
    say(f"a draft; when it is filled in: {add}; then commit")


def remember(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What to remember; `-` reads it from a pipe.")
    ],
    kind: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="The type of the concept.")
    ] = "Project Knowledge",
    tag: TagOption = None,
    title: Annotated[
        str, typer.Option(metavar="TITLE", help="A title; by default the first sentence.")
    ] = "",
    alias: Annotated[
        list[str] | None,
        typer.Option("--alias", metavar="NAME", help="Another name for it; may be given again."),
    ] = None,
    scope: Annotated[
        str, typer.Option(metavar="SCOPE", help="Where it holds, such as a folder or a service.")
    ] = "",
    by: ByOption = "",
    force: Annotated[
        bool, typer.Option("--force", help="Also where a concept says the same already.")
    ] = False,
    repo: RepoOption = None,
) -> None:
    """Write down one thing at once: a small concept, staged, that recall finds.

    What a person types is theirs. What an agent types (--by, or a variable that
    its agent sets) is a draft until a person accepts it. A text with a secret in
    it is refused.

    \b
    Examples:
      know remember "Releases are cut on Tuesdays." --tag release
      know remember --type Preference "Tabs, not spaces." --scope web/
      git log -1 --format=%B | know remember - --title "Why the cache went"
    """
    from knowrepo.concepts import bundle, keeping
    from knowrepo.concepts.writing import create

    said = _text(text)
    called = create.checked_title(_writable("the title", title)) if title else ""
    here = repository(repo)
    who = _author(here, by)
    type_, tags = _type(kind), _texts("--tag", tag)
    called, data = create.finished(
        said, type_, who, create.now(), title=called, tags=tags,
        aliases=_texts("--alias", alias), scope=" ".join(_texts("--scope", [scope])),
    )  # fmt: skip
    _refuse_secrets(here, data)
    bundle.refuse_conflicts(here)
    known = [*bundle.read_concepts(here), *bundle.read_drafts(here)]
    if not force:
        _refuse_alike(here, create.alike(known, called, said))
    _remark(here, type_, tags, known)
    path = create.place(here, type_, called, data)
    try:
        kept = keeping.keep(here, {path: data})
    except KnowError:
        (here.root / path).unlink(missing_ok=True)  # nobody knows of it yet
        with contextlib.suppress(KnowError):
            keeping.stage(here, [path])
        raise
    show(_from_here(here, path))
    what = "staged" if who.is_human else f"a draft by {who.actor}, staged"
    say(f"{what} with {', '.join(kept.staged[1:]) or 'nothing else'}; commit it to share it")


def _list_types() -> None:
    from knowrepo.concepts.writing.templates import TEMPLATES

    widest = max(map(len, TEMPLATES))
    for name, template in TEMPLATES.items():
        show(f"{name:{widest}}  {template.line}")
    say('try: know new Decision "What is so"; any other type works as well')


def _type(given: str) -> str:
    from knowrepo.concepts.kinds import spelled

    kind = spelled("".join(filter(str.isprintable, _writable("the type", given))))
    if not any(map(str.isalnum, kind)):
        raise UsageError(f"`{given}` names no type", hint="`know new` lists the types")
    return kind


def _texts(option: str, given: list[str] | None) -> list[str]:
    """Return what options say, each as one line; those that say nothing are left out."""
    lines = (" ".join(_writable(option, one).split()) for one in given or [])
    shown = ("".join(filter(str.isprintable, line)) for line in lines)
    return [line for line in dict.fromkeys(shown) if line]


def _writable(what: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} is not UTF-8", hint="write it in UTF-8") from error
    return text


def _text(given: str) -> str:
    """Return the text to remember, from standard input where it is `-`."""
    from knowrepo.concepts.writing.create import MOST_CHARACTERS, same_words
    from knowrepo.terminal import plain

    if given == "-":
        raw = sys.stdin.buffer.read(4 * MOST_CHARACTERS + 4) if sys.stdin else b""
        try:
            given = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise KnowError(
                "standard input is not UTF-8", hint="convert it first: iconv -t UTF-8"
            ) from error
    lines = plain(_writable("the text", given).replace("\r\n", "\n")).split("\n")
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    if not same_words(text):
        raise UsageError("nothing to remember", hint='try: know remember "What is so."')
    if len(text) > MOST_CHARACTERS:
        raise KnowError(
            f"the text has more than {MOST_CHARACTERS:,} characters",
            hint="a concept says one thing; `know archive` keeps whole sessions",
        )
    return text


def _author(here: Repository, by: str) -> Author:
    from knowrepo.concepts.writing.create import author
    from knowrepo.git.repo import author_name

    return author(author_name(here.root), by, os.environ)


def _refuse_secrets(here: Repository, data: bytes) -> None:
    """Raise KnowError where the gate of the archive would redact something."""
    from knowrepo.sessions.redact.settings import redactor_for

    found = redactor_for(here.root).findings(data.decode())
    if found:
        kinds = ", ".join(sorted({kind for _, kind in found}))
        raise KnowError(
            f"the text holds a secret ({kinds}); nothing is written",
            hint="leave it out, and say where it is kept",
        )


def _refuse_alike(here: Repository, concept: Concept | None) -> None:
    if concept is not None:
        from knowrepo.concepts import bundle

        path = _from_here(here, concept.path)
        hint = "edit that one, give this one another --title, or --force it"
        if concept.path in bundle.drafts(here):
            hint += f"; git does not know it yet: git add {_quoted(path)} && know tags build"
        raise KnowError(f"{path}: says this already, or is called so", hint=hint)


def _remark(
    here: Repository, kind: str, tags: list[str], known: list[Concept] | None = None
) -> None:
    """Say where a type or a tag is nearly one that the bundle has."""
    from collections import Counter

    from knowrepo.concepts import bundle
    from knowrepo.concepts.near_tags import nearest
    from knowrepo.concepts.writing.create import near_type

    concepts = bundle.read_concepts(here) if known is None else known
    type_ = near_type(kind, {concept.type for concept in concepts})
    if type_:
        say(f"note: {kind} is a new type; did you mean {type_}?")
    counts = Counter(tag for concept in concepts for tag in concept.tags)
    for tag in tags:
        near = nearest(tag, counts)
        if near:
            say(f"note: {tag} is a new tag; {near} is in use")


def _editor() -> list[str]:
    """Return the command of the user's editor, by their environment alone."""
    import shlex

    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    try:
        command = shlex.split(named)
    except ValueError:
        command = []
    if not command:
        raise KnowError(
            "no editor: neither VISUAL nor EDITOR names one",
            hint="set one, as `export EDITOR=vim`, or leave --edit out; nothing is written",
        )
    return command


def _run(editor: list[str], path: Path) -> None:
    import subprocess

    try:
        code = subprocess.run([*editor, str(path)], check=False).returncode
    except OSError as error:
        raise KnowError(f"{editor[0]}: {error.strerror}", hint=f"the form is {path}") from error
    if code:
        raise KnowError(f"{editor[0]} ended with {code}", hint=f"the form is {path}")


def _from_here(here: Repository, path: str) -> str:
    """Return a path that a shell can take where the user stands."""
    full = here.root / path
    folder = Path.cwd()
    inside = here.root == folder or here.root in folder.parents
    return os.path.relpath(full, folder) if inside else str(full)


def _quoted(path: str) -> str:
    import shlex

    return shlex.quote(path)

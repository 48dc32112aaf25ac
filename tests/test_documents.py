"""What the documents of the project say must be true of the code."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from helpers import git, make_repository, transcript, user
from knowrepo import __version__
from knowrepo.cli import merge_hooks
from knowrepo.cli.group import load
from knowrepo.cli.main import PARTS, app, main
from knowrepo.concepts import bundle
from knowrepo.concepts.checking import validate
from knowrepo.git.layout import repository_at
from knowrepo.sessions.readers import READERS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def commands() -> Iterator[tuple[str, object]]:
    for name, (place, _) in (item for part in PARTS.values() for item in part.items()):
        what = load(place)
        if isinstance(what, typer.Typer):
            for info in what.registered_commands:
                yield f"{name} {info.name}", info.callback
        else:
            yield name, what


def parser(words: list[str]) -> tuple[Any, Any, list[str]]:
    """Return the command that ``words`` name, its context, and what they pass to it."""
    command, rest = typer.main.get_command(app), list(words)
    context = command.context_class(command, info_name="know")
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        found = command.get_command(context, name)
        assert found is not None, f"no command `{name}` in `know {shlex.join(words)}`"
        command = found
        context = command.context_class(command, info_name=name, parent=context)
    return command, context, rest


def spoken(line: str) -> Iterator[list[str]]:
    """Yield what follows each `know` of a line of a shell, without comments."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    words = list(lexer)
    while "know" in words:
        words = words[words.index("know") + 1 :]
        end = next((at for at, word in enumerate(words) if re.fullmatch(r"[;<>|&]+", word)), None)
        if words[:end]:
            yield words[:end]


def lines_of_shells() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for kind, block in re.findall(r"^ *```(\w+)\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
            for line in block.splitlines():
                start = {"console": r"\$ know ", "yaml": r"- run: know "}.get(kind, r"know ")
                if re.match(rf"\s*{start}", line) or (kind == "sh" and re.search(r"\bknow ", line)):
                    yield page.name, re.sub(r"^\s*(\$|- run:) ", "", line)


def test_the_command_lines_of_the_pages_are_found():
    assert {page for page, _ in lines_of_shells()} > {"README.md", "git.md", "recall.md"}
    assert len(list(lines_of_shells())) > 60


@pytest.mark.parametrize(("page", "line"), list(lines_of_shells()))
def test_every_command_line_of_the_pages_is_understood(page, line):
    for words in spoken(line):
        command, _, rest = parser(words)
        command.make_context("know", rest)  # fails as the program would


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_the_pages_quote_of_commands_and_options_exists(page):
    prose = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for quoted in re.findall(r"`know ([a-z][^`]*)`", prose):
        words = re.sub(r"[\[\]…]", "", quoted).split()
        if words[0] == "hook" and len(words) > 1 and merge_hooks.asked(words):
            continue  # what git calls when it merges knows no options
        _, context, rest = parser(words)
        there = {option for param in context.command.params for option in param.opts}
        there |= {option for param in context.command.params for option in param.secondary_opts}
        used = {word for word in rest if re.fullmatch(r"--?[a-z][a-z-]*", word)}
        assert used <= there | {"--help"}, quoted


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_help_has_examples_and_they_are_understood(name, capsys):
    assert main([*name.split(), "--help"]) == 0
    told = capsys.readouterr().out.partition("Examples:\n")[2].partition("\n\n")[0]
    ours = [words for line in told.splitlines() for words in spoken(line)]
    assert any(words[: len(name.split())] == name.split() for words in ours)
    for words in ours:
        command, _, rest = parser(words)
        command.make_context("know", rest)


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_option_of_a_command_is_in_the_table(name):
    row = next(line for line in COMMANDS.splitlines() if line.startswith(f"| `know {name}"))
    command, _, _ = parser(name.split())
    for param in command.params:
        names = {*param.opts, *param.secondary_opts}
        if param.param_type_name == "option" and not names & {"--help", "--repo", "--quiet"}:
            assert any(re.search(rf"`{option}[ `]", row) for option in names), names


def test_every_variable_of_the_table_is_read():
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tools").rglob("*.py"))
    table = COMMANDS.partition("## Variables")[2]
    assert set(re.findall(r"`(KNOW_\w+)`", table)) == set(re.findall(r"\bKNOW_[A-Z_]+\b", code))


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_is_in_the_table(name):
    assert f"| `know {name}" in COMMANDS


def test_the_table_names_no_command_that_is_not_there():
    known = {name for name, _ in commands()}
    table = re.findall(r"^\| `know ([a-z ]+?)(?: \[?[A-Z]|`)", COMMANDS, re.MULTILINE)
    assert table
    assert set(table) <= known


def test_every_option_of_the_table_exists():
    for row in re.findall(r"^\| `know ([a-z ]+?)(?: \[?[A-Z][^`]*)?`.*$", COMMANDS, re.MULTILINE):
        callback = dict(commands())[row]
        line = next(part for part in COMMANDS.splitlines() if part.startswith(f"| `know {row}"))
        source = Path(callback.__code__.co_filename).read_text(encoding="utf-8")
        common = (ROOT / "tools/knowrepo/cli/common.py").read_text(encoding="utf-8")
        for option in re.findall(r"--[a-z-]+", line):
            named = option.removeprefix("--").replace("-", "_")
            assert option in source or option in common or f"{named}:" in source, (row, option)


def test_every_command_explains_itself():
    for name, callback in commands():
        assert callback.__doc__, name


def test_the_readme_stays_short():
    assert len(README.splitlines()) < 130


def test_every_page_is_in_the_readme():
    for page in PAGES[2:]:
        assert f"](docs/{page.name})" in README


def test_the_links_of_the_documents_lead_somewhere():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for path, heading in re.findall(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", text):
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), (page.name, path)
            if heading:
                names = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
                assert heading in {name.lower().replace(" ", "-") for name in names}, heading


def test_the_version_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__


def test_our_own_concepts_conform_and_link_to_what_is_there():
    repository = repository_at(ROOT)
    files = bundle.read_tracked(repository)
    assert len(files) > 10
    assert validate.check(files, lambda path: (ROOT / path).exists()) == []


def test_our_own_questions_are_answered_by_words_alone(tmp_path, monkeypatch, capsys):
    own = make_repository(tmp_path / "own")
    for name in ("concepts", "sessions"):
        shutil.copytree(ROOT / name, own.root / name, dirs_exist_ok=True)
    shutil.copy(ROOT / "eval.toml", own.root)
    git(own.root, "add", "-A")
    monkeypatch.chdir(own.root)
    assert main(["eval", "--lexical"]) == 0, capsys.readouterr().out


def test_modules_stay_small():
    for path in (ROOT / "tools").rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 350, path


def test_no_module_of_the_command_line_imports_more_than_it_needs_at_its_top():
    allowed = ("typer", "knowrepo", "__future__", "collections", "pathlib", "typing", "contextlib",
               "sys", "os", "io", "functools", "importlib")  # fmt: skip
    for path in (ROOT / "tools/knowrepo/cli").glob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            match = re.match(r"(?:from|import) (\w+)", line)
            assert match is None or match.group(1) in allowed, f"{path}: {line}"


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_help_names_things_by_what_they_mean_and_fits_a_terminal(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*name.split(), "--help"]) == 0
    told = capsys.readouterr().out
    assert not re.search(r"<[a-zA-Z]+|\[\[", told), told
    assert all(len(line) <= 80 for line in told.splitlines())
    for option in re.findall(
        r"^  (?:-\w, )?--[\w-]+ (\S+)", told.partition("\nOptions:")[2], re.MULTILINE
    ):
        assert option.isupper() or option == "/", option
    for argument in re.findall(r"^Usage: know [a-z ]+\[OPTIONS\] (.*)", told):
        assert re.fullmatch(r"[A-Z \[\]{}.]+", argument), argument


def rooms() -> list[Path]:
    return sorted(path.parent for path in (ROOT / "tools/knowrepo").rglob("__init__.py"))


def test_every_folder_is_a_room_of_which_contributing_says_what_belongs_there():
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    package = ROOT / "tools/knowrepo"
    told = {f"{room.relative_to(package).as_posix()}/" for room in rooms() if room != package}
    told |= {path.name for path in package.glob("*.py") if not path.stem.startswith("__")}
    for name in told:
        assert f"`{name}`" in table, name
    for name in re.findall(r"^\| `([a-z/]+(?:\.py)?)`", table, re.MULTILINE):
        if name.endswith(("/", ".py")):
            assert (package / name).exists(), name


@pytest.mark.parametrize("room", rooms()[1:], ids=lambda room: room.name)
def test_every_module_is_named_among_those_of_its_room(room):
    said = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))
    if re.search("(?i)one module an? ", said):
        return  # their names say it
    for path in room.iterdir():
        if (path.suffix == ".py" or (path / "__init__.py").exists()) and path.stem[:2] != "__":
            assert f"`{path.stem}`" in said, path
    for name in re.findall(r"^- `(\w+)`", said, re.MULTILINE):
        assert (room / f"{name}.py").exists() or (room / name).is_dir(), name


def test_every_agent_that_is_read_is_in_the_documents():
    archive = (ROOT / "docs/archive.md").read_text(encoding="utf-8")
    table = archive.partition("| agent |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([a-z]+)`(?=[, |])", table)) >= {reader.agent for reader in READERS}


def test_the_first_steps_of_the_readme_work_as_they_stand(own_environment, tmp_path, monkeypatch):
    steps = README.partition("```sh\nmkdir -p ~/memory")[2].partition("```")[0]
    lines = [line for line in steps.splitlines() if "model pull" not in line]
    app = own_environment / "code" / "app"
    app.mkdir(parents=True)
    git(app, "init", "-q")
    place = own_environment / ".claude" / "projects" / "x"
    place.mkdir(parents=True)
    transcript(place, [user("the build fails on macOS", 1, cwd=str(app))])
    (tmp_path / "know").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m knowrepo "$@"\n')
    (tmp_path / "know").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GIT_EDITOR", "echo archived >")
    done = subprocess.run(
        ["sh", "-ec", "\n".join(["mkdir -p ~/memory" + lines[0], *lines[1:]])],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "the build fails on macOS" in done.stdout
    memory = own_environment / "memory"
    assert git(memory, "status", "--porcelain") == ""
    assert "sessions/claude/" in git(memory, "ls-files")


def test_the_help_lists_every_command_under_what_it_is_for_and_cuts_no_line(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    assert "..." not in told.partition("To begin:")[2]
    assert "Commands:" not in told
    listed = set(re.findall(r"^  (\w+)  +\S", told.partition("To begin:")[2], re.MULTILINE))
    assert listed == {name.split()[0] for name, _ in commands()}

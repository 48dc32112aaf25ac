"""Commands load when they are asked for, and take values as typer alone would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command

from knowrepo.cli.group import Command, group_of, load
from knowrepo.cli.main import PARTS, main


def told(
    words: Annotated[list[str] | None, typer.Argument()] = None,
    name: Annotated[str, typer.Option("--name")] = "",
    maybe: Annotated[str | None, typer.Option("--maybe")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag")] = None,
    numbers: Annotated[list[int] | None, typer.Option("--number")] = None,
    limit: Annotated[int, typer.Option("-k", min=1, max=50)] = 10,
    share: Annotated[float, typer.Option("--share", min=0)] = 0.5,
    place: Annotated[Path | None, typer.Option("--place")] = None,
    loud: Annotated[bool, typer.Option("--loud/--quiet")] = False,
    parsed: Annotated[str, typer.Option("--parsed", parser=str.upper)] = "x",
) -> Any:
    return words, name, maybe, tags, numbers, limit, share, place, loud, parsed


def needing(word: Annotated[str, typer.Argument()], more: Annotated[list[str], typer.Argument()]):
    return word, more


def answer(function: Any, cls: Any, arguments: list[str], capsys: Any) -> tuple[Any, str]:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(cls=cls)(function)
    try:
        found = get_command(app).main(arguments, "told", standalone_mode=False)
    except Exception as error:
        found = type(error), str(error)
    return found, capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        "", "a b c", "--name n", "--name=", "--maybe m", "--tag a --tag b", "--tag=", "--number 1",
        "--number one", "-k 3", "-k 0", "-k 51", "-k 007", "-k +3", "-k 3.0", "-k 3.5", "-k x",
        "-k 99999999999999999999", "-k -1", "-k \u0663", "-k 1_0", "--share 1", "--share -1",
        "--share nan", "--share x", "--place here", "--loud", "--quiet", "--parsed y", "--nothing",
    ],
)  # fmt: skip
def test_each_value_is_the_one_that_typer_would_make(arguments, capsys):
    words = arguments.split()
    ours = answer(told, Command, words, capsys)
    assert ours == answer(told, typer.core.TyperCommand, words, capsys)


@pytest.mark.parametrize("arguments", [[], ["a"], [""], ["a", "b", ""], ["a", ""]])
def test_what_is_missing_is_missed_as_typer_does(arguments, capsys):
    ours = answer(needing, Command, arguments, capsys)
    assert ours == answer(needing, typer.core.TyperCommand, arguments, capsys)


def test_a_command_starts_without_the_others_and_without_the_validator(repository):
    script = (
        "import sys; from knowrepo.cli.main import main; main(sys.argv[1:]);"
        "print(sorted(m for m in sys.modules if m.startswith(('knowrepo.cli.', 'pydantic'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "recall", "tag:git", "-k", "3", "--kind", "concept"],
        capture_output=True, text=True, check=True, cwd=repository.root,
    )  # fmt: skip
    loaded = done.stdout.splitlines()[-1]
    assert "knowrepo.cli.recall" in loaded
    for other in ("knowrepo.cli.archive", "knowrepo.cli.check", "knowrepo.cli.bench", "pydantic"):
        assert other not in loaded


def test_every_command_of_the_help_is_there():
    for commands in PARTS.values():
        for place, line in commands.values():
            what = load(place)
            assert isinstance(what, typer.Typer) or what.__doc__
            assert line.endswith(".")


def test_help_lists_all_commands_and_loads_none(capsys, monkeypatch):
    monkeypatch.setattr("knowrepo.cli.group.load", lambda place: pytest.fail(place))
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    for commands in PARTS.values():
        for name, (_, line) in commands.items():
            assert f"  {name} " in said
            assert line in said


def test_a_command_is_made_once(monkeypatch):
    group = get_command(typer.Typer(cls=group_of({"": {"log": ("log:log", "")}}), callback=print))
    first = group.get_command(None, "log")
    assert first is group.get_command(None, "log")
    assert group.get_command(None, "nothing") is None

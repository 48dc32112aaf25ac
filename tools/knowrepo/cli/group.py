"""Commands by name, each imported and made when it is asked for.

Owns how typer's groups and commands look and load. What all commands cost together
would be half of a recall's start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

Parts = Mapping[str, Mapping[str, tuple[str, str]]]
"""By what they are for, by name: ``MODULE:ATTRIBUTE`` in this package, and a line for the help.

The attribute is a function, or a typer application with further commands.
"""


class Command(TyperCommand):
    """A command whose help names an argument by what it means, without its type in Python."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; typer would print `PATH <list[str]>`."""
        params = _quick(super().get_params(ctx))
        for param in params:
            if param.param_type_name == "argument":
                setattr(param, "display_type_rich", _no_type)  # noqa: B010 - a method
        return params


def _no_type(ctx: object) -> str:  # noqa: ARG001
    return ""


_UNSURE = object()


def _quick(params: list[Any]) -> list[Any]:
    """Spare simple values the validator of typer; returns the same parameters.

    That is pydantic, whose import takes a third of the time of a structured recall.
    """
    for param in params:
        if hasattr(param, "type_descriptor") and "process_value" not in vars(param):
            param.process_value = partial(_processed, param, param.process_value)
    return params


def _processed(param: Any, process: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    """Return what a parameter makes of a value; ``process`` is how typer does it."""
    simple = _UNSURE if param.required and not value else _simple(param, value)
    if simple is _UNSURE:
        return process(ctx, value)
    return param.callback(ctx, param, simple) if param.callback else simple


def _simple(param: Any, value: Any) -> Any:
    """Return the value as its type has it, where that is plain to see, or `_UNSURE`."""
    wanted, info = param.type_descriptor.annotation, param.type_descriptor.parameter_info
    several = param.multiple or param.nargs == -1
    if value is None:
        return () if several else None
    if info.parser is not None:
        return _UNSURE
    if several:
        plain = wanted == list[str] and all(type(one) is str for one in value)
        return list(value) if plain else _UNSURE
    if (
        wanted is int
        and type(value) is str
        and value.isascii()
        and value.isdigit()
        and len(value) < 10
    ):
        value = int(value)
    if wanted in (int, float) and type(value) is wanted:
        fits = (info.min is None or value >= info.min) and (info.max is None or value <= info.max)
        return value if fits else _UNSURE
    return value if wanted in (str, bool) and type(value) is wanted else _UNSURE


def group_of(parts: Parts) -> type[TyperGroup]:
    """Return the group that has the commands of ``parts``, for `typer.Typer(cls=…)`."""

    class Group(_Group):
        def __init__(self, *, commands: dict[str, Any], **settings: Any) -> None:
            super().__init__(parts, commands, settings)

    return Group


class _Group(TyperGroup):
    """Commands of which only what the help says is there; its help lists them by their parts.

    ``commands`` is what typer knows already.
    """

    def __init__(self, parts: Parts, commands: dict[str, Any], settings: dict[str, Any]) -> None:
        said = {
            name: TyperCommand(name, short_help=line, rich_help_panel=part)
            for part, some in parts.items()
            for name, (_, line) in some.items()
        }
        super().__init__(commands={**said, **commands}, **settings)
        self._places = {name: place for some in parts.values() for name, (place, _) in some.items()}

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        return _quick(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a command that can run, or None."""
        command: Any = self.commands.get(cmd_name)
        place = self._places.pop(cmd_name, None)
        if place:
            command = self.commands[cmd_name] = _made(command, load(place))
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the commands, each part of them under a heading; typer has one for all."""
        parts: dict[str, list[tuple[str, Any]]] = {}
        for name in self.commands:
            command: Any = self.commands[name]
            if not command.hidden:
                parts.setdefault(command.rich_help_panel or "Commands", []).append((name, command))
        widest = max(len(name) for part in parts.values() for name, _ in part)
        room = formatter.width - 6 - widest
        for part, commands in parts.items():
            with formatter.section(part):
                formatter.write_dl(
                    [(f"{name:{widest}}", one.get_short_help_str(room)) for name, one in commands]
                )


def load(place: str) -> Any:
    """Return what ``MODULE:ATTRIBUTE`` names: a function, or a typer application."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(f"knowrepo.cli.{module}"), attribute)


def _made(said: Any, what: Any) -> Any:
    """Return the command, or the group, that typer makes of what is loaded."""
    one = typer.Typer(rich_markup_mode=None)
    named = {"short_help": said.short_help, "rich_help_panel": said.rich_help_panel}
    if isinstance(what, typer.Typer):
        for command in what.registered_commands:
            command.cls = Command
        one.add_typer(what, name=said.name, **named)
    else:
        one.command(said.name, cls=Command, **named)(what)
    return get_group(one).commands[said.name]

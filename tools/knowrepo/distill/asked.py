"""Who is asked: the user's command, or their local model.

Owns what the two have in common for whoever asks: a name, a window, and an
answer in bytes or the reason why there is none. No key is read and no address
is called here: a command does what its user wrote it to do.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import knowrepo
from knowrepo import __version__
from knowrepo.config import config_path
from knowrepo.distill import form
from knowrepo.distill.command import NoAnswerError, run
from knowrepo.distill.prompt import Piece
from knowrepo.errors import KnowError
from knowrepo.tables import DistillConfig

COMMAND_WINDOW = 100_000
MODEL_WINDOW = 8192
_COMMAND_ANSWER = 6000  # tokens that an answer is taken to have at most
_MODEL_ANSWER = 2048
_SMALLEST_WINDOW = 2048
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from knowrepo.distill.chat import main; sys.exit(main())"
)


class TooLongError(NoAnswerError):
    """The question does not fit the window."""


@dataclass(frozen=True)
class Reply:
    """An answer, and its tokens and those of its question, where they were counted."""

    answer: bytes
    tokens_in: int = 0
    tokens_out: int = 0


class Asked(Protocol):
    """What answers a question about a session."""

    name: str
    """The actor that made what it answers, as `generated.by` names it."""
    window: int
    most: int
    """Tokens of an answer at most."""

    def ask(self, piece: Piece) -> Reply:
        """Return the answer; raises NoAnswerError where there is none."""


class Command:
    """A command of the user's own configuration: prompt in, answer out."""

    def __init__(self, settings: DistillConfig) -> None:
        self._settings = settings
        self.name = _actor(Path(settings.command[0]).name)
        self.window = settings.window or COMMAND_WINDOW
        self.most = min(_COMMAND_ANSWER, self.window // 4)
        if shutil.which(Path(settings.command[0]).expanduser()) is None:
            raise KnowError(
                f"{settings.command[0]}: there is no such program",
                hint=f"mend `distill.command` in {config_path()}",
            )

    def ask(self, piece: Piece) -> Reply:
        """See `Asked.ask`."""
        prompt = piece.question().encode("utf-8", "replace")
        return Reply(run(self._settings.command, prompt, timeout=self._settings.timeout_seconds))


class LocalModel:
    """A GGUF chat model, each question in a process of its own; see `chat`."""

    def __init__(self, settings: DistillConfig) -> None:
        path = Path(settings.model).expanduser()
        hint = f"mend `distill.model` in {config_path()}"
        if not path.is_file():
            raise KnowError(f"{path}: the chat model is not there", hint=hint)
        self._path, self._timeout = path, settings.timeout_seconds
        self.name = _actor(path.stem)
        try:
            trained = self._reply({})["window"]
        except NoAnswerError as error:
            raise KnowError(error.message, hint=error.hint or hint) from error
        if trained < _SMALLEST_WINDOW:
            raise KnowError(f"{path}: a window of {trained} tokens is too small", hint=hint)
        self.window = min(trained, settings.window or MODEL_WINDOW)
        self.most = min(_MODEL_ANSWER, self.window // 4)

    def ask(self, piece: Piece) -> Reply:
        """See `Asked.ask`."""
        request = {"prompt": piece.question(), "grammar": form.grammar(piece.turns),
                   "window": self.window, "most": self.most}  # fmt: skip
        found = self._reply(request)
        if "too_long" in found:
            raise TooLongError(f"{self._path.name}: the question is too long")
        return Reply(found["answer"].encode(), found["tokens_in"], found["tokens_out"])

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        package = Path(knowrepo.__file__).resolve().parents[1]
        # No folder of the moment is looked into for modules.
        command = [sys.executable, "-P", "-c", _START, str(package)]
        said = json.dumps({"model": str(self._path), **request}).encode()
        try:
            found: dict[str, Any] = json.loads(run(command, said, timeout=self._timeout))
        except NoAnswerError as error:
            why = error.message.removeprefix(f"{sys.executable}: ")
            raise NoAnswerError(f"{self._path.name}: {why}") from error
        if "error" in found:
            raise NoAnswerError(found["error"], hint=found["hint"])
        return found


def whom(settings: DistillConfig) -> Asked:
    """Return who is to be asked.

    Raises KnowError, with how to configure it, where that is nobody, or cannot be.
    """
    if settings.command:
        return Command(settings)
    if settings.model:
        return LocalModel(settings)
    raise KnowError(
        f"no language model is configured in {config_path()}",
        hint='add [distill] with command = ["program", "argument"] or model = "/path/to/chat.gguf"',
    )


def _actor(name: str) -> str:
    """Return how `generated.by` names what a program or model made."""
    return f"knowrepo-llm-{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}/{__version__}"

"""Finding the transcripts that agents keep on this machine.

Owns the standard places of each agent's files, as data. It reads no transcript:
whose a file is, the readers tell; whether it may be archived, `projects` does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from knowrepo.errors import KnowError

_NO_TRANSCRIPTS = {".git", "file-history", "memory"}  # folders beside transcripts


def find_sources(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files to look at: those named, and all in the folders named."""
    for path in paths:
        if path.is_dir():
            for folder, names, files in os.walk(path):
                names[:] = sorted(set(names) - _NO_TRANSCRIPTS)
                found = (Path(folder, name) for name in sorted(files))
                yield from (file for file in found if file.is_file())  # no pipe, no socket
        elif path.is_file():
            yield path
        elif path.exists():
            raise KnowError(f"{path}: neither a regular file nor a folder")
        else:
            raise KnowError(f"{path}: no such file or folder")


@dataclass(frozen=True)
class Place:
    """Where an agent keeps its sessions: a folder, and patterns of files below it."""

    agent: str
    folder: Path
    patterns: tuple[str, ...]

    def files(self) -> Iterator[Path]:
        """Yield the files that are there; a folder that cannot be read has none."""
        found: set[Path] = set()
        for pattern in self.patterns:
            try:
                found.update(path for path in self.folder.glob(pattern) if path.is_file())
            except OSError:
                continue
        yield from sorted(found)


class _Machine:
    """Where folders are on this machine, as the agents look for them."""

    def __init__(self, environment: Mapping[str, str], home: Path, platform: str) -> None:
        self._environment = environment
        self.home = home
        self.platform = platform

    def named(self, variable: str, default: Path) -> Path:
        """Return the folder that a variable names, else the default."""
        value = self._environment.get(variable, "").strip()
        return Path(value) if value else default

    @property
    def data(self) -> Path:
        """Return the folder of programs' data on this platform."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.named("LOCALAPPDATA", self.home / "AppData" / "Local")
        return self.named("XDG_DATA_HOME", self.home / ".local" / "share")


def places(
    environment: Mapping[str, str] = os.environ,
    *,
    home: Path | None = None,
    platform: str = sys.platform,
) -> list[Place]:
    """Return the places in which the agents keep sessions, whether or not they exist."""
    machine = _Machine(environment, home or Path.home(), platform)
    return [*_of_files(machine), *_of_databases(machine)]


def _of_files(machine: _Machine) -> Iterator[Place]:
    home = machine.home
    claude = ("*/**/*.jsonl", "*/*/tool-results/*.txt")
    configured = machine.named("CLAUDE_CONFIG_DIR", home / ".claude")
    # Some versions kept their files in the XDG folder.
    for folder in (configured, home / ".config" / "claude"):
        yield Place("claude", folder / "projects", claude)
    codex = machine.named("CODEX_HOME", home / ".codex")
    yield Place("codex", codex / "sessions", ("**/rollout-*.json*",))
    yield Place("codex", codex / "archived_sessions", ("rollout-*.json*",))
    gemini = machine.named("GEMINI_CLI_HOME", home) / ".gemini"
    yield Place("gemini", gemini / "tmp", ("*/chats/**/*.json", "*/chats/**/*.jsonl"))
    copilot = machine.named("COPILOT_HOME", home / ".copilot")
    yield Place("copilot", copilot / "session-state", ("*/events.jsonl", "*.jsonl"))
    pi = machine.named("PI_CODING_AGENT_DIR", home / ".pi" / "agent")
    yield Place("pi", pi / "sessions", ("**/*.jsonl",))
    yield Place("droid", home / ".factory" / "sessions", ("**/*.jsonl",))
    yield Place("kiro", home / ".kiro" / "sessions", ("**/*.jsonl", "**/*.json"))
    cursor = home / ".cursor"
    transcripts = ("*/agent-transcripts/**/*.jsonl", "*/agent-transcripts/**/*.txt")
    yield Place("cursor", cursor / "projects", transcripts)


def _of_databases(machine: _Machine) -> Iterator[Place]:
    # OpenCode follows the XDG folders on every platform.
    xdg = machine.named("XDG_DATA_HOME", machine.home / ".local" / "share")
    folders = ("storage/session/*/*.json",)  # of versions before the database
    yield Place("opencode", xdg / "opencode", ("opencode*.db", *folders))
    for name in ("kiro-cli", "amazon-q"):
        yield Place("kiro", machine.data / name, ("data.sqlite3",))


def aider_histories(projects: Iterable[Path]) -> Iterator[Place]:
    """Yield the places of Aider, which keeps its history in the project itself."""
    for project in projects:
        yield Place("aider", project, (".aider.chat.history.md",))

"""Finding the transcripts that agents keep on this machine.

Owns the standard places of each agent's files, as data. It reads no transcript:
whose a file is, the readers tell; whether it may be archived, `projects` does.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from knowrepo.errors import KnowError

_NO_TRANSCRIPTS = {".git", "file-history", "memory"}  # folders beside transcripts


Failed = Callable[[OSError], None]
"""What is told of each folder that cannot be read."""


def raised(error: OSError) -> None:
    """Raise what cannot be read: for those who want all or nothing."""
    raise error


def find_sources(paths: Iterable[Path], failed: Failed = raised) -> Iterator[Path]:
    """Yield the files to look at: those named, and all in the folders named."""
    for path in paths:
        try:
            is_folder = path.is_dir()
        except OSError as error:  # a folder above it cannot be looked into
            failed(error)
            continue
        if is_folder:
            for folder, names, files in os.walk(path, onerror=failed):
                names[:] = sorted(set(names) - _NO_TRANSCRIPTS)
                found = (Path(folder, name) for name in sorted(files))
                yield from (file for file in found if _is_file(file, failed))
        elif path.is_file():
            yield path
        elif path.exists():
            raise KnowError(f"{path}: neither a regular file nor a folder")
        else:
            raise KnowError(f"{path}: no such file or folder")


def _is_file(path: Path, failed: Failed) -> bool:
    """Say whether there is a regular file: no pipe, no socket, whose reading never ends."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):  # a link that leads nowhere
        return False
    except OSError as error:
        failed(error)
        return False


@dataclass(frozen=True)
class Place:
    """Where an agent keeps its sessions: a folder, and patterns of files below it."""

    agent: str
    folder: Path
    patterns: tuple[str, ...]

    def files(self, failed: Failed) -> Iterator[Path]:
        """Yield the files that are there; a place that does not exist has none."""
        listing = _Listing(failed)
        found: set[Path] = set()
        for pattern in self.patterns:
            found.update(listing.matching(self.folder, tuple(pattern.split("/"))))
        yield from sorted(path for path in found if _is_file(path, failed))


class _Listing:
    """Patterns looked up in folders, each of which is read once, and told once if it cannot be.

    `Path.glob` would be silent of those. As there, `**` follows no links.
    """

    def __init__(self, failed: Failed) -> None:
        self._failed = failed
        self._entries: dict[Path, list[os.DirEntry[str]]] = {}

    def matching(self, folder: Path, pattern: tuple[str, ...]) -> Iterator[Path]:
        """Yield what below ``folder`` a pattern names, one part for each folder on the way."""
        part, *rest = pattern
        if part == "**":
            yield from self.matching(folder, tuple(rest))
            for entry in self._of(folder):
                if self._is_folder(entry, links=False):
                    yield from self.matching(folder / entry.name, pattern)
        elif not rest and not any(sign in part for sign in "*?["):
            yield folder / part
        else:
            for entry in self._of(folder):
                if not fnmatchcase(entry.name, part):
                    continue
                if not rest:
                    yield folder / entry.name
                elif self._is_folder(entry, links=True):
                    yield from self.matching(folder / entry.name, tuple(rest))

    def _of(self, folder: Path) -> list[os.DirEntry[str]]:
        if folder not in self._entries:
            self._entries[folder] = []
            try:
                with os.scandir(folder) as entries:
                    self._entries[folder] = list(entries)
            except (FileNotFoundError, NotADirectoryError):
                pass
            except OSError as error:
                self._failed(error)
        return self._entries[folder]

    def _is_folder(self, entry: os.DirEntry[str], *, links: bool) -> bool:
        try:
            return entry.is_dir(follow_symlinks=links)
        except OSError as error:
            self._failed(error)
            return False


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


def worked_in(
    environment: Mapping[str, str] = os.environ, *, home: Path | None = None
) -> Iterator[str]:
    """Yield the folders that Gemini CLI notes: its sessions name one by its hash only.

    Since 2026 it notes them in `projects.json`, and in a file in each project's own
    folder, which is named for people. What they say proves nothing, but the hash does.
    """
    machine = _Machine(environment, home or Path.home(), sys.platform)
    gemini = machine.named("GEMINI_CLI_HOME", machine.home) / ".gemini"

    def skipped(_: OSError) -> None:
        """Pass over what cannot be read: a session of it is told as not mapped."""

    with contextlib.suppress(OSError, ValueError, RecursionError):
        noted = json.loads((gemini / "projects.json").read_bytes())
        projects = noted.get("projects") if isinstance(noted, dict) else None
        yield from projects if isinstance(projects, dict) else ()
    for path in _Listing(skipped).matching(gemini / "tmp", ("*", ".project_root")):
        with contextlib.suppress(OSError, ValueError):
            if _is_file(path, skipped):
                yield path.read_text(encoding="utf-8").strip()


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

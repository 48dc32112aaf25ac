"""Reading and writing a settings file that belongs to a person and an agent.

Owns the care that such a file needs: what is not understood is left alone, a link
is followed and not replaced, the file keeps its mode and appears at once or not
at all, and a change that somebody made meanwhile is never lost. It also keeps,
in the state folder, which containers of a file were made by us: from the file
alone one could not tell an empty `hooks` of ours from one of the user's. No copy
of the file is kept, for settings may hold keys.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from knowrepo import hook
from knowrepo.config import write_atomically
from knowrepo.errors import KnowError
from knowrepo.sessions.capture import agent_settings

MADE_FILE = "made the file"
_WAS_BLANK = "was blank: "  # and the white space that was all of it
_RECORD = "hooks-made.json"
_UNTOUCHED = "mend it, or move it away; nothing was changed"


@dataclass(frozen=True)
class SettingsFile:
    """A settings file as it was read. ``content`` is None where there is none yet.

    ``target`` is where it really lies: the end of a symbolic link, else ``path``.
    """

    path: Path
    target: Path
    content: bytes | None

    @property
    def text(self) -> str:
        """The text to edit; an empty file holds empty settings."""
        text = (self.content or b"").decode()
        return text if text.strip() else "{}\n"


def claude_settings(scope: str, project: Path) -> Path:
    """Return the settings file of Claude Code: the user's, or one of two of a project."""
    if scope == "user":
        base = os.environ.get("CLAUDE_CONFIG_DIR")
        return (Path(base) if base else Path.home() / ".claude") / "settings.json"
    name = "settings.json" if scope == "project" else "settings.local.json"
    return project / ".claude" / name


def read(path: Path) -> SettingsFile:
    """Read a settings file; raises KnowError where it cannot be edited safely."""
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            raise KnowError(f"{path}: not a regular file", hint=_UNTOUCHED)
        content = _current(target)
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        reason = error.strerror if isinstance(error, OSError) else "links in a circle"
        raise KnowError(f"{path}: cannot be read: {reason}", hint=_UNTOUCHED) from error
    file = SettingsFile(path, target, content)
    try:
        agent_settings.check(file.text)
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}:{error.colno}"
        raise KnowError(f"{where}: not valid JSON: {error.msg}", hint=_UNTOUCHED) from error
    except UnicodeDecodeError as error:
        raise KnowError(f"{path}: not valid UTF-8", hint=_UNTOUCHED) from error
    except RecursionError as error:
        raise KnowError(f"{path}: nested too deeply", hint=_UNTOUCHED) from error
    except ValueError as error:
        raise KnowError(f"{path}: {error}", hint=_UNTOUCHED) from error
    return file


def write(file: SettingsFile, text: str) -> None:
    """Publish a text in the place of what was read; raises KnowError where that is not right."""
    if file.content is None:
        mode = None
        file.target.parent.mkdir(parents=True, exist_ok=True)
    else:
        mode = _writable_mode(file)
    if _current(file.target) != file.content:
        raise KnowError(f"{file.path}: somebody else changed it just now", hint="run it again")
    write_atomically(file.target, text.encode(), durable=True, mode=mode)


def delete(file: SettingsFile) -> None:
    """Remove a settings file that is still as it was read."""
    if _current(file.target) == file.content:
        file.target.unlink(missing_ok=True)


def made(file: SettingsFile) -> set[str] | None:
    """Return what of a file was made by us, None where that is not known."""
    names = _record().get(str(file.target))
    return set(names) if isinstance(names, list) else None


def was_blank(file: SettingsFile) -> str | None:
    """Return the name by which it is remembered that a file held nothing, None where it did."""
    text = None if file.content is None else file.content.decode()
    return None if text is None or text.strip() else f"{_WAS_BLANK}{text}"


def blank(names: set[str]) -> str | None:
    """Return what a file held that held nothing but white space, as it was remembered."""
    found = (name for name in names if name.startswith(_WAS_BLANK))
    return next((name.removeprefix(_WAS_BLANK) for name in found), None)


def remember_made(file: SettingsFile, names: set[str] | None) -> None:
    """Keep what of a file was made by us; None forgets it."""
    record = _record()
    before = record.pop(str(file.target), None)
    if names is not None:
        record[str(file.target)] = sorted(names)
    elif before is None:
        return
    path = Path(hook.state_dir()) / _RECORD
    write_atomically(path, (json.dumps(record, indent=2) + "\n").encode())


def _record() -> dict[str, object]:
    try:
        record = json.loads((Path(hook.state_dir()) / _RECORD).read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _writable_mode(file: SettingsFile) -> int:
    """Return the mode of the file; raises KnowError where it must not be written."""
    # The rename would succeed all the same: it asks the folder, not the file.
    mode = stat.S_IMODE(file.target.stat().st_mode)
    where = str(file.path) if file.path == file.target else f"{file.path} (links to {file.target})"
    try:
        with file.target.open("r+b"):
            writable = bool(mode & 0o222)
    except OSError:
        writable = False
    if not writable:
        raise KnowError(f"{where}: is read-only", hint="make it writable; nothing was changed")
    return mode


def _current(target: Path) -> bytes | None:
    try:
        return target.read_bytes()
    except FileNotFoundError:
        return None

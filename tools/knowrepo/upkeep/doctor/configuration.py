"""The checks of both configuration files."""

from __future__ import annotations

from pathlib import Path

from knowrepo import config
from knowrepo.git.layout import Repository
from knowrepo.units import count
from knowrepo.upkeep.doctor.check import Found, Place, listed, ok, warn


def of_repository(here: Repository) -> Found:
    """Whether know.toml is understood."""
    unknown = config.load_repository_config(here.root).unknown
    if unknown:
        return _unknown(config.REPOSITORY_FILE, unknown)
    return ok(f"{config.REPOSITORY_FILE} is understood")


def of_user(_: Place) -> Found:
    """Whether the user's configuration is understood, and what it names is there."""
    path = config.config_path()
    if not path.exists():
        return ok(f"{path}: not there; nothing is configured")
    settings = config.load_user_config()
    if settings.unknown:
        return _unknown(str(path), settings.unknown)
    named = [settings.repository, *(project.repository for project in settings.projects)]
    gone = sorted({name for name in named if name and not Path(name).expanduser().is_dir()})
    if gone:
        return warn(
            f"{path}: names repositories that are not there: {listed(gone)}",
            "mend these lines, or run `know init` where the repository is now",
        )
    if path.stat().st_mode & 0o022:
        return warn(
            f"{path}: others may write it, and it can name commands", f"`chmod go-w '{path}'`"
        )
    return ok(f"{path}: understood; {count(len(settings.projects), 'project')} mapped")


def _unknown(where: str, keys: tuple[str, ...]) -> Found:
    names = listed([f"`{key}`" for key in keys])
    return warn(f"{where}: means nothing to know: {names}", "mend the names, or remove the lines")

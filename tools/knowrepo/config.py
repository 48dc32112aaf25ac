"""Configuration: the user's own file, the repository's ``know.toml``, and places.

Owns where the user's files live and what may stand in them; what their tables
mean is `tables`' business. The user's file decides what loosens (which projects
are archived where, commands, model paths); a repository's ``know.toml`` is data
that a clone brings along, so it can only tighten: it names no command, no path,
no URL and no model. This module never runs git and imports nothing heavy: every
recall goes through it.
"""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from knowrepo.errors import KnowError, NotARepositoryError
from knowrepo.settings import read_toml, text_of
from knowrepo.tables import (
    PART_MEGABYTES,
    DistillConfig,
    ModelConfig,
    RedactConfig,
    RerankConfig,
    archive_table,
    distill_table,
    model_keys,
    recall_table,
    redact_table,
    rerank_table,
    unknown_keys,
)

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

REPOSITORY_FILE = "know.toml"
REPOSITORY_FORMAT = 1


def config_path() -> Path:
    """Return the path of the user's configuration file, which may not exist."""
    override = os.environ.get("KNOW_CONFIG")
    if override:
        return Path(override)
    return Path(f"{_config_folder()}/config.toml")


def _config_folder() -> str:
    """Return what platformdirs says, where that is plain without importing it.

    Every recall asks, and the import takes longer than an answer from tags and titles.
    """
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if sys.platform == "linux" and "ANDROID_DATA" not in os.environ:
        home = os.environ.get("HOME", "").rstrip("/")
        if base.startswith("/") or home.startswith("/"):
            return f"{base if base.startswith('/') else f'{home}/.config'}/knowrepo"
    import platformdirs

    return platformdirs.user_config_dir("knowrepo", appauthor=False)


def cache_dir() -> Path:
    """Return the user's cache folder, where models are kept."""
    override = os.environ.get("KNOW_CACHE")
    if override:
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_cache_dir("knowrepo", appauthor=False))


@dataclass(frozen=True)
class Project:
    """A code repository whose sessions the user archives in ``repository``.

    ``identity`` is its remote URL or first commit; ``path`` is where it was
    when it was mapped, used only where git knows no identity.
    """

    identity: str
    path: str
    repository: str


@dataclass(frozen=True)
class UserConfig:
    """What the user decided for this machine; unknown keys are kept for a warning.

    ``exclude`` are patterns of folders and files whose sessions are left out when
    the archive looks for them itself. ``recall_log``: whether recalls are noted.
    """

    repository: str = ""
    model: ModelConfig = field(default=ModelConfig())
    projects: tuple[Project, ...] = ()
    exclude: tuple[str, ...] = ()
    recall_log: bool = True
    redact: RedactConfig = field(default=RedactConfig())
    distill: DistillConfig = field(default=DistillConfig())
    rerank: RerankConfig = field(default=RerankConfig())
    unknown: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class RepositoryConfig:
    """What a repository's ``know.toml`` says; unknown keys are kept for ``know check``.

    ``part_megabytes`` is the size beyond which a session goes on in another file;
    ``exclude`` are patterns as in the user's configuration. Where ``recall_log`` is
    false, nobody's recalls are noted.
    """

    format: int = REPOSITORY_FORMAT
    part_megabytes: int = PART_MEGABYTES
    exclude: tuple[str, ...] = ()
    recall_log: bool = True
    redact: RedactConfig = field(default=RedactConfig())
    unknown: tuple[str, ...] = field(default=())


def load_user_config() -> UserConfig:
    """Read the user's configuration; an absent file is an empty one."""
    path = config_path()
    data = read_toml(path)
    where = str(path)
    projects = data.get("projects", [])
    if not isinstance(projects, list) or not all(isinstance(entry, dict) for entry in projects):
        raise KnowError(f"{path}: `projects` must be a list of tables")
    exclude, _ = archive_table(data, where)
    redact = redact_table(data, where, cloned=False)
    return UserConfig(
        repository=text_of(data, "repository", where),
        model=model_keys(data, where),
        exclude=exclude,
        projects=tuple(
            Project(
                identity=text_of(entry, "identity", where),
                path=text_of(entry, "path", where),
                repository=text_of(entry, "repository", where),
            )
            for entry in projects
        ),
        recall_log=recall_table(data, where),
        redact=redact,
        distill=distill_table(data, where),
        rerank=rerank_table(data, where),
        unknown=unknown_keys(data, cloned=False),
    )


def rerank_choice() -> RerankConfig:
    """Return what the user's file says of reranking.

    It is asked for at every query, so the file is read only where it changed.
    """
    path = _config_path(*map(os.environ.get, ("KNOW_CONFIG", "XDG_CONFIG_HOME", "HOME")))
    try:
        stat = os.stat(path)  # noqa: PTH116 - in half the time of a Path's
    except OSError:
        return RerankConfig()
    return _rerank_of(path, stat.st_ino, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=1)
def _config_path(*_environment: str | None) -> str:
    return str(config_path())


@functools.lru_cache(maxsize=1)
def _rerank_of(_path: str, *_state: int) -> RerankConfig:
    return load_user_config().rerank


def map_project(project: Project, *, make_default: bool) -> bool:
    """Record ``project`` in the user's configuration, keeping all else in it.

    Returns True where the file changed.
    """

    def change(document: TOMLDocument, current: UserConfig) -> None:
        if make_default and not current.repository:
            document["repository"] = project.repository
        if project not in current.projects:
            _put_project(document, project)

    return edit_user_config(change)


def edit_user_config(change: Callable[[TOMLDocument, UserConfig], None]) -> bool:
    """Have ``change`` edit the user's configuration; comments and order stay.

    It is given the document and what it says now. Returns True where the file changed.
    """
    import tomlkit
    from filelock import FileLock

    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f"{path.name}.lock")):
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        current = load_user_config()
        document = tomlkit.parse(before)
        change(document, current)
        after = tomlkit.dumps(document)
        if after != before:
            write_atomically(path, after.encode())
    return after != before


def _put_project(document: TOMLDocument, project: Project) -> None:
    """Add a project, or change the table that has its identity; all else stays."""
    import tomlkit

    entry = {
        "identity": project.identity, "path": project.path, "repository": project.repository,
    }  # fmt: skip
    for table in document.get("projects", []):
        if table.get("identity") == project.identity:
            table.update(entry)
            return
    table = tomlkit.table()
    table.update(entry)
    if "projects" not in document:
        document["projects"] = tomlkit.aot()
    document["projects"].append(table)


def load_repository_config(root: Path) -> RepositoryConfig:
    """Read ``know.toml`` in ``root``; raises KnowError where it cannot be understood."""
    path = root / REPOSITORY_FILE
    data = read_toml(path)
    version = data.pop("format", REPOSITORY_FORMAT)
    if not isinstance(version, int) or isinstance(version, bool):
        raise KnowError(f"{path}: `format` must be a number")
    if version > REPOSITORY_FORMAT:
        raise KnowError(
            f"{path}: format {version} is newer than this know understands",
            hint="upgrade knowrepo",
        )
    redact = redact_table(data, str(path), cloned=True)
    exclude, part = archive_table(data, str(path))
    log = recall_table(data, str(path))
    unknown = unknown_keys(data, cloned=True)
    return RepositoryConfig(version, part, exclude, log, redact, unknown)


def find_root(explicit: Path | None = None, *, start: Path | None = None) -> Path:
    """Return the root of the knowledge repository to work in.

    The order is ``--repo``, ``KNOW_REPO``, the nearest parent of ``start`` with
    a ``know.toml``, the repository that the user's configuration names.
    """
    for origin, named in (("--repo", explicit), ("KNOW_REPO", os.environ.get("KNOW_REPO"))):
        if named:
            return _named_root(Path(named), origin)
    here = (start or Path.cwd()).resolve()
    found = _root_above(here)
    if found is not None:
        return found
    configured = load_user_config().repository
    if configured:
        root = Path(configured)
        if root.is_dir():
            return root.resolve()
        raise NotARepositoryError(
            f"{root}: the repository named in {config_path()} is not there",
            hint="mend `repository` in that file, or pass --repo",
        )
    raise NotARepositoryError(
        f"{here}: no knowledge repository here or above (no {REPOSITORY_FILE})",
        hint="run `know init` in a git repository, or pass --repo",
    )


def _named_root(named: Path, origin: str) -> Path:
    if not named.is_dir():
        raise NotARepositoryError(f"{origin} {named}: no such folder")
    found = _root_above(named.resolve())
    if found is None:
        raise NotARepositoryError(
            f"{origin} {named}: no knowledge repository there or above (no {REPOSITORY_FILE})",
            hint=f"run `know init {named}`",
        )
    return found


def _root_above(here: Path) -> Path | None:
    folders = (here, *here.parents)
    return next((f for f in folders if (f / REPOSITORY_FILE).is_file()), None)


def write_atomically(
    path: Path,
    data: bytes,
    *,
    durable: bool = False,
    mode: int | None = None,
    aside: Path | None = None,
) -> None:
    """Publish ``data`` at ``path`` so that a reader sees the old bytes or the new.

    With ``durable`` the bytes are on the disk before the rename. ``mode`` is
    given to the file before anything is in it. ``aside`` is a folder for the
    unfinished file, where a killed process may leave it without harm: beside
    ``path``, git would take it for a file of the user's. It is used where it is
    there and on the same disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = aside if aside is not None and aside.is_dir() else path.parent
    temporary = folder / f".{path.name}.{os.urandom(8).hex()}.tmp"
    try:
        # Exclusive: a link that lies in wait under this name is not followed.
        with temporary.open("xb") as stream:
            if mode is not None:
                temporary.chmod(mode)
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno == errno.EXDEV and folder is aside:
            write_atomically(path, data, durable=durable, mode=mode)
            return
        raise

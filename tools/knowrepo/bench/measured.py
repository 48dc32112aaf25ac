"""What a measurement says: a figure, its target, and how it came about."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata, util
from pathlib import Path
from typing import Any

JSON_VERSION = 1


@dataclass(frozen=True)
class Measured:
    """One figure. ``most`` and ``least`` are its target, where it has one.

    ``how`` says in a line what was compared; ``details`` have all that was measured.
    """

    name: str
    figure: float
    unit: str
    how: str
    most: float | None = None
    least: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def target(self) -> str:
        """The target in words; empty where there is none."""
        if self.most is not None:
            return f"at most {self.most:g}"
        return f"at least {self.least:g}" if self.least is not None else ""

    @property
    def met(self) -> bool | None:
        """Whether the target was met; None where there is none."""
        if self.most is not None:
            return self.figure <= self.most
        return self.figure >= self.least if self.least is not None else None

    def facts(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {
            "name": self.name,
            "figure": self.figure,
            "unit": self.unit,
            "target": self.target,
            "met": self.met,
            "how": self.how,
            "details": dict(self.details),
        }


def machine() -> dict[str, str | int]:
    """Return what the figures depend on: processor, cores, and versions."""
    from knowrepo import __version__
    from knowrepo.index.catalog import SQLITE

    return {
        "cpu": _processor(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "sqlite": SQLITE,
        "knowrepo": __version__,
        **dict(_versions()),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _versions() -> Iterator[tuple[str, str]]:
    for package in ("duckdb", "llama-cpp-python", "numpy", "typer"):
        if util.find_spec(package.removesuffix("-python").replace("-", "_")) is not None:
            yield package, metadata.version(package)

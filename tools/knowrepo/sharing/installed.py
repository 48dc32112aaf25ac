"""What sharing needs of an installation; nothing heavy is imported to find out."""

from __future__ import annotations

from importlib.util import find_spec

from knowrepo.errors import KnowError


def require() -> None:
    """Raise KnowError where this installation cannot read or write vectors."""
    missing = [name for name in ("duckdb", "numpy") if find_spec(name) is None]
    if missing:
        raise KnowError(
            f"vectors cannot be shared: {' and '.join(missing)} is not installed",
            hint=f"`pip install {' '.join(missing)}`, or `pip install 'knowrepo[semantic]'`",
        )

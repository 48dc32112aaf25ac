"""Derived data: the catalog, the vectors, and what fills them."""

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Told (done, total) now and then."""

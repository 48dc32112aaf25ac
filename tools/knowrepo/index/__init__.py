"""Derived data: the catalog, the vectors, and what fills them."""

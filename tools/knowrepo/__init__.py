"""knowrepo: a git repository as the memory of coding agents."""

__version__ = "0.1.0"

"""``python -m knowrepo`` is ``know``."""

from knowrepo.cli.main import entry

entry()

"""Where the user's configuration lies: what platformdirs says, found without importing it."""

from __future__ import annotations

import subprocess
import sys

import platformdirs
import pytest

from knowrepo.config import config_path


@pytest.mark.parametrize("xdg", [None, "", "/somewhere", "relative", "/somewhere/"])
@pytest.mark.parametrize("home", ["/home/dev", "/home/dev/", "/"])
def test_the_configuration_is_where_platformdirs_says(monkeypatch, xdg, home):
    monkeypatch.delenv("KNOW_CONFIG")
    monkeypatch.setenv("HOME", home)
    if xdg is not None:
        monkeypatch.setenv("XDG_CONFIG_HOME", xdg)
    folder = platformdirs.user_config_path("knowrepo", appauthor=False)
    assert config_path() == folder / "config.toml"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs is asked")
def test_finding_it_imports_nothing(monkeypatch):
    monkeypatch.delenv("KNOW_CONFIG")
    program = (
        "import sys; from knowrepo.config import config_path; config_path();"
        "sys.exit('platformdirs' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from helpers import git
from knowrepo import hook
from knowrepo.cli.main import main
from knowrepo.sessions.capture import agent_settings, settings_file
from knowrepo.sessions.capture.agent_settings import EVENTS

MINE = """{
    "env": {"TOKEN": "mine"},
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "notify-send höhö"}]}
        ]
    }
}
"""


@pytest.fixture(autouse=True)
def programs(tmp_path, monkeypatch) -> Path:
    """Both programs on the PATH, in a folder with a space."""
    folder = tmp_path / "some programs"
    folder.mkdir()
    for name in ("know-hook", "know"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return folder


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "app"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-q")
    monkeypatch.chdir(folder / "src")
    return folder.resolve()


@pytest.fixture
def settings(own_environment) -> Path:
    path = own_environment / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(MINE, encoding="utf-8")
    path.chmod(0o640)
    return path


def install(*options: str) -> int:
    return main(["hooks", "install", "--agent", "claude", *options])


def uninstall(*options: str) -> int:
    return main(["hooks", "uninstall", "--agent", "claude", *options])


def is_left_alone(path: Path, content: bytes, capsys) -> str:
    """Try both ways: the file must stay, and one line say why."""
    lines = []
    for run in (install, uninstall):
        assert run() == 1
        said = capsys.readouterr().err.splitlines()
        lines.append(said[0])
        assert len(said) == 2, said  # what and where, and what to do
        assert path.read_bytes() == content
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    return lines[0]


# -- into the file and out again


def test_hooks_get_in_and_all_else_stays(settings, programs, capsys):
    assert install() == 0
    assert f"{settings}: hooks installed" in capsys.readouterr().out
    text = settings.read_text(encoding="utf-8")
    assert text.startswith(MINE[: MINE.index("\n        ]")])
    found = json.loads(text)["hooks"]
    assert set(found) == set(EVENTS)
    assert found["Stop"][1]["hooks"][0]["command"] == f"'{programs / 'know-hook'}'"
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    assert [path.name for path in settings.parent.iterdir()] == ["settings.json"]


def test_a_second_run_does_not_touch_the_file(settings, capsys):
    install("--status-line")
    before = settings.stat()
    assert install("--status-line") == 0
    assert install() == 0
    after = settings.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert "the hooks are there already" in capsys.readouterr().out


def test_uninstalling_gives_the_same_bytes_back(settings, capsys):
    install("--status-line")
    install()
    assert uninstall() == 0
    assert settings.read_text(encoding="utf-8") == MINE
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    assert uninstall() == 0
    assert "no hooks of ours there" in capsys.readouterr().out


@pytest.mark.parametrize("text", ['{"hooks": {}}', '{\n  "hooks": {\n    "Stop": []\n  }\n}\n'])
def test_an_empty_container_of_the_user_stays_and_one_of_ours_goes(text, settings):
    settings.write_text(text)
    install()
    uninstall()
    assert settings.read_text() == text


def test_a_file_that_we_made_goes_again(own_environment, capsys):
    path = own_environment / ".claude" / "settings.json"
    assert install() == 0
    assert set(json.loads(path.read_text())) == {"hooks"}
    assert path.read_text().endswith("}\n")
    assert uninstall() == 0
    assert not path.exists()
    assert "nothing but our hooks was in it" in capsys.readouterr().out
    assert uninstall() == 0


def test_a_file_that_we_made_stays_where_somebody_has_added_to_it(own_environment):
    path = own_environment / ".claude" / "settings.json"
    install()
    path.write_text(path.read_text().replace("{", '{\n  "model": "x",', 1))
    uninstall()
    assert json.loads(path.read_text()) == {"model": "x"}


@pytest.mark.parametrize("content", [b"", b"\n", b" \r\n\t"])
def test_an_empty_file_holds_empty_settings_and_is_given_back_as_it_was(content, settings):
    settings.write_bytes(content)
    assert install() == 0
    assert set(json.loads(settings.read_text())) == {"hooks"}
    assert install() == 0
    assert uninstall() == 0
    assert settings.read_bytes() == content
    assert uninstall() == 0
    assert settings.read_bytes() == content


def test_a_file_that_was_empty_keeps_what_somebody_has_added_since(settings):
    settings.write_bytes(b"")
    install()
    settings.write_text(settings.read_text().replace("{", '{\n  "model": "x",', 1))
    uninstall()
    assert json.loads(settings.read_text()) == {"model": "x"}


def test_a_dry_run_shows_the_difference_and_writes_nothing(settings, own_environment, capsys):
    before = sorted(own_environment.rglob("*"))
    assert install("--dry-run") == 0
    out = capsys.readouterr().out
    assert "+        ]," in out or '+        "SessionStart": [' in out
    assert settings.read_text(encoding="utf-8") == MINE
    assert uninstall("--dry-run") == 0
    assert "nothing would change" in capsys.readouterr().out
    assert sorted(own_environment.rglob("*")) == before


# -- scopes


def test_a_project_has_settings_of_its_own(project, capsys):
    assert install("--scope", "project") == 0
    assert set(json.loads((project / ".claude/settings.json").read_text())) == {"hooks"}
    assert "usually committed" in capsys.readouterr().err
    assert install("--scope", "local") == 0
    assert (project / ".claude/settings.local.json").is_file()
    assert capsys.readouterr().err == ""
    assert uninstall("--scope", "project") == 0
    assert not (project / ".claude/settings.json").exists()
    assert (project / ".claude/settings.local.json").exists()


def test_outside_of_git_the_project_is_the_folder(tmp_path, monkeypatch):
    folder = tmp_path / "plain"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert install("--scope", "local") == 0
    assert (folder / ".claude/settings.local.json").is_file()


def test_the_agents_own_variable_says_where_its_settings_are(tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    install()
    assert (tmp_path / "elsewhere/settings.json").is_file()


# -- links


def test_a_link_is_followed_and_not_replaced(settings, tmp_path):
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    settings.rename(target)
    settings.symlink_to(target)
    assert install() == 0
    assert settings.is_symlink()
    assert set(json.loads(target.read_text(encoding="utf-8"))["hooks"]) == set(EVENTS)
    assert uninstall() == 0
    assert settings.is_symlink()
    assert target.read_text(encoding="utf-8") == MINE


def test_a_link_to_a_file_that_is_not_there_yet_makes_it_there(settings, tmp_path):
    settings.unlink()
    settings.symlink_to(tmp_path / "new.json")
    assert install() == 0
    assert settings.is_symlink()
    assert (tmp_path / "new.json").is_file()


def test_links_in_a_circle_are_one_clear_line(settings, capsys):
    settings.unlink()
    settings.symlink_to(settings)
    assert install() == 1
    assert capsys.readouterr().err.startswith(f"know: {settings}: cannot be read")


# -- files that are left alone


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{\n  "a": 1\n  "b": 2\n}\n', ":3:3: not valid JSON"),
        (b'{\n  "a": 1,\n}\n', ": not valid JSON"),  # at the comma, or behind it: as Python says
        (b'// mine\n{"a": 1}\n', ":1:1: not valid JSON"),
        (b'{"a": 1} {}', "not valid JSON: Extra data"),
        (b'{"a": NaN}', "NaN is not JSON"),
        (b'{"a": "\xff"}', "not valid UTF-8"),
        (b"[]", "it is not a JSON object"),
        (b'{"hooks": []}', "`hooks` is not an object"),
        (b'{"hooks": null}', "`hooks` is not an object"),
        (b'{"hooks": {"Stop": {"hooks": []}}}', "`hooks.Stop` is not a list"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "nested too deeply"),
    ],
)
def test_a_broken_file_is_left_alone_with_one_clear_line(content, reason, settings, capsys):
    settings.write_bytes(content)
    line = is_left_alone(settings, content, capsys)
    assert line.startswith(f"know: {settings}")
    assert reason in line


def test_a_read_only_file_is_left_alone(settings, capsys):
    install()
    capsys.readouterr()
    content = settings.read_bytes()
    settings.chmod(0o444)
    assert uninstall() == 1
    assert f"{settings}: is read-only" in capsys.readouterr().err
    assert settings.read_bytes() == content
    settings.write_text(MINE)
    settings.chmod(0o444)
    assert install() == 1
    assert settings.read_text() == MINE


def test_a_read_only_target_of_a_link_is_named(settings, tmp_path, capsys):
    target = tmp_path / "store.json"
    settings.rename(target)
    target.chmod(0o444)
    settings.symlink_to(target)
    assert install() == 1
    assert f"{settings} (links to {target}): is read-only" in capsys.readouterr().err
    assert target.read_text(encoding="utf-8") == MINE


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_one_clear_line(make, settings, capsys):
    settings.unlink()
    make(settings)
    assert install() == 1
    assert f"{settings}: not a regular file" in capsys.readouterr().err


def test_a_change_that_somebody_makes_meanwhile_is_kept(settings, monkeypatch, capsys):
    real = agent_settings.install

    def slow(*arguments, **options):
        settings.write_text("{}")
        return real(*arguments, **options)

    monkeypatch.setattr(agent_settings, "install", slow)
    assert install() == 1
    assert settings.read_text() == "{}"
    assert "somebody else changed it just now" in capsys.readouterr().err


def test_a_disk_that_is_full_leaves_the_file_whole(settings, monkeypatch, capsys):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert install() == 1
    assert "No space left on device" in capsys.readouterr().err
    assert settings.read_text(encoding="utf-8") == MINE
    assert [path.name for path in settings.parent.iterdir()] == ["settings.json"]


def test_a_damaged_record_of_what_we_made_costs_nothing_but_itself(settings):
    install()
    record = Path(hook.state_dir()) / "hooks-made.json"
    for damage in ("", "[]", '{"x": 1}'):
        record.write_text(damage)
        assert settings_file.made(settings_file.read(settings)) is None
        assert uninstall() == 0
        assert settings.read_text(encoding="utf-8") == MINE
        install()


# -- what else is said


def test_the_user_is_told_what_stands_in_the_way(settings, capsys):
    settings.write_text('{"disableAllHooks": true, "statusLine": {"type": "command"}}')
    assert install("--status-line") == 0
    said = capsys.readouterr().err
    assert "no hook runs until it is gone" in said
    assert "a status line is there already and was left alone" in said


def test_a_program_that_is_not_installed_is_one_clear_line(settings, monkeypatch, capsys):
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert install() == 1
    assert "know-hook: neither on PATH nor beside" in capsys.readouterr().err
    assert settings.read_text(encoding="utf-8") == MINE


def test_wrong_usage_is_told_apart(capsys):
    for arguments in (
        ["install"], ["install", "--agent", "nobody"], ["uninstall"],
        ["install", "--agent", "claude", "--scope", "moon"],
    ):  # fmt: skip
        assert main(["hooks", *arguments]) == 2
    assert "--agent claude; or, to be told what to add: codex" in capsys.readouterr().err


@pytest.mark.parametrize("agent", agent_settings.BY_HAND)
def test_other_agents_settings_are_not_edited_but_told(agent, own_environment, capsys):
    before = sorted(own_environment.rglob("*"))
    assert main(["hooks", "install", "--agent", agent]) == 0
    said = capsys.readouterr()
    assert "know-hook" in said.out
    assert f"does not edit the settings of {agent}" in said.err
    assert main(["hooks", "uninstall", "--agent", agent]) == 0
    assert sorted(own_environment.rglob("*")) == before


# -- status


def status(capsys) -> tuple[int, dict[str, object]]:
    capsys.readouterr()
    code = main(["hooks", "status", "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_status_says_what_is_installed_and_what_waits(settings, programs, capsys):
    install("--status-line")
    queue = Path(hook.state_dir()) / "queue"
    entry = {"agent": "claude", "path": "/t/a.jsonl", "session": "s", "cwd": "/w",
             "event": "Stop", "time": 0, "closed": False}  # fmt: skip
    hook.write_entry(str(queue), "a.json", entry)
    (queue / "b.json").write_text("{")
    (queue.parent / "hook.log").write_text("first\n2026-05-01T10:00:00Z ValueError: no\n")
    code, found = status(capsys)
    assert code == 0
    user, in_project, local = found["claude"]
    assert (user["scope"], user["path"]) == ("user", str(settings))
    assert set(user["events"]) == set(EVENTS)
    assert (user["sweep"], user["status_line"], user["problems"]) == (True, True, [])
    assert user["programs"] == [str(programs / "know"), str(programs / "know-hook")]
    assert in_project["events"] == local["events"] == []
    waits = found["queue"]
    assert (waits["waiting"], waits["resting"], waits["taken"], waits["broken"]) == (1, 0, 0, 1)
    assert waits["oldest_seconds"] > 10**9
    assert found["last_error"] == "2026-05-01T10:00:00Z ValueError: no"
    assert main(["hooks", "status"]) == 0
    text = capsys.readouterr().out
    assert "sweep, status line" in text
    assert "1 transcript waiting for a sweep, the oldest for" in text
    assert "last error of know-hook: 2026" in text


def test_status_of_nothing_is_no_failure(own_environment, capsys):
    code, found = status(capsys)
    assert code == 0
    assert found["queue"]["waiting"] == 0
    assert found["queue"]["oldest_seconds"] is None
    assert found["last_error"] == ""
    assert main(["hooks", "status"]) == 0
    assert not (own_environment / "state").exists()


def test_status_finds_hooks_whose_program_is_gone(settings, programs, capsys):
    install()
    (programs / "know-hook").unlink()
    code, found = status(capsys)
    assert code == 1
    (problem,) = found["claude"][0]["problems"]
    assert problem.startswith(f"{programs / 'know-hook'} is not there")


def test_status_names_a_file_that_it_cannot_read(settings, capsys):
    settings.write_text("{")
    _, found = status(capsys)
    assert "not valid JSON" in found["claude"][0]["problems"][0]

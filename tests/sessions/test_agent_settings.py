from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.sessions.capture import agent_settings, json_text
from knowrepo.sessions.capture.agent_settings import (
    EVENTS,
    Commands,
    by_hand,
    check,
    ours,
    recognise,
)

COMMANDS = Commands.of("/opt/a b/bin/know-hook", "/opt/a b/bin/know")
NEWER = Commands.of("/new/know-hook", "/new/know")
OTHER = {"type": "command", "command": "notify-send höhö"}


def put_in(text: str, *, status_line: bool = False, commands: Commands = COMMANDS):
    return agent_settings.install(text, commands, status_line=status_line)


def round_trip(text: str, *, status_line: bool = True) -> None:
    """Install, twice, and take out again: nothing may be left, nothing else may change."""
    installed, made = put_in(text, status_line=status_line)
    before, after = json.loads(text.lstrip("\ufeff")), check(installed)
    assert {key: after[key] for key in before if key != "hooks"} == {
        key: before[key] for key in before if key != "hooks"
    }
    for event, groups in before.get("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups
    kinds = [(handler.event, handler.kind) for handler in ours(after)]
    assert sorted(kinds) == sorted(COMMANDS.wanted())
    assert put_in(installed, status_line=status_line) == (installed, [])
    assert agent_settings.uninstall(installed, set(made)) == text


# -- round trips

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
commands = st.sampled_from(["./mine", "echo 'not closed", "knowhow", "", "sh -c know-hook"])
handlers = st.fixed_dictionaries({"type": st.just("command"), "command": commands})
groups = st.fixed_dictionaries(
    {"hooks": st.lists(handlers | values, max_size=2)}, optional={"matcher": st.text(max_size=5)}
)
events = st.sampled_from([*EVENTS, "PreToolUse", "Ünknown"])
hooks = st.dictionaries(events, st.lists(groups | values, max_size=3), max_size=4)
settings = st.builds(
    lambda base, ours, last: base | ours | last,
    st.dictionaries(st.text(max_size=4), values, max_size=3),
    st.just({}) | st.fixed_dictionaries({"hooks": hooks}),
    st.just({}) | st.fixed_dictionaries({"statusLine": values, "z": values}),
)


@given(settings, st.booleans(), st.sampled_from(["", "\n"]))
def test_any_settings_come_back_byte_for_byte(found, ascii_only, end):
    round_trip(json.dumps(found, indent=2, ensure_ascii=ascii_only) + end)


@given(settings, st.sampled_from([{"indent": 4}, {"indent": "\t"}, {}, {"separators": (",", ":")}]))
def test_in_other_styles_too(found, style):
    round_trip(json.dumps(found, **style) + "\n")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{}", id="empty"),
        pytest.param('\ufeff{\r\n  "a": 1\r\n}\r\n', id="byte order mark and CRLF"),
        pytest.param('{\n    "permissions": {"allow": ["Read", "Bash(ls)"]},\n    "n": 1e400\n}\n',
                     id="lists on one line, and a number that Python cannot hold"),
        pytest.param('{ "a": 1, "hooks": { "Stop": [ { "hooks": [] } ] } }', id="spaced"),
        pytest.param('{\n  "hooks": {"Stop": []},\n\n\n  "a": "\\ud800"\n}', id="blank lines"),
        pytest.param('{\n  "hooks": {\n    "Stop": [\n      "odd", 7, {"hooks": 8}, {"x": [] }\n'
                     "    ]\n  }\n}", id="groups that are none"),
        pytest.param('{\n  "a": 1,\n  "a": 2,\n  "hooks": {}\n}', id="a key twice"),
    ],
)  # fmt: skip
def test_hand_made_settings_come_back_byte_for_byte(text):
    round_trip(text)


# -- what is installed


def test_what_is_installed_reads_as_documented():
    text, made = put_in("{}\n", status_line=True)
    found = check(text)
    hook = {"type": "command", "command": "'/opt/a b/bin/know-hook'", "timeout": 5}
    assert found["hooks"]["Stop"] == [{"hooks": [hook]}]
    (start,) = found["hooks"]["SessionStart"]
    assert start["hooks"][0] == hook
    assert start["hooks"][1] == {
        "type": "command",
        "command": "'/opt/a b/bin/know' archive --queued --quiet",
        "async": True,
        "timeout": 60,
    }
    assert set(found["hooks"]) == set(EVENTS)
    assert found["statusLine"]["command"] == "'/opt/a b/bin/know-hook' --status"
    assert set(made) == {"hooks", *(f"hooks.{event}" for event in EVENTS)}
    assert text.endswith("}\n")


def test_the_style_of_the_file_is_kept():
    text, _ = put_in('{\n\t"a": "ö"\n}\n')
    assert '\n\t"hooks": {\n\t\t"SessionStart": [\n\t\t\t{\n' in text
    assert '"a": "ö"' in text
    text, _ = put_in('{"a":1}')
    assert text.startswith('{"a":1,"hooks":{"SessionStart":[{"hooks":[{"type":"command",')
    text, _ = put_in('{\r\n  "a": 1\r\n}\r\n')
    assert text.count("\n") == text.count("\r\n") > 20


def test_a_newer_command_takes_the_place_of_the_old_and_keeps_what_was_set_on_it():
    text, _ = put_in('{\n  "hooks": {\n    "Stop": [\n      {"hooks": []}\n    ]\n  }\n}\n')
    text = text.replace('"timeout": 5', '"timeout": 9,\n            "statusMessage": "noting"', 1)
    newer, made = put_in(text, commands=NEWER)
    assert made == []
    assert newer == text.replace("'/opt/a b/bin/know-hook'", "/new/know-hook").replace(
        "'/opt/a b/bin/know'", "/new/know"
    )


def test_a_handler_that_somebody_moved_is_updated_where_it_is():
    moved = {"matcher": "startup", "hooks": [OTHER, {"type": "command", "command": "know-hook"}]}
    text = json.dumps({"hooks": {"SessionStart": [moved]}}, indent=2)
    found = check(put_in(text)[0])["hooks"]["SessionStart"]
    assert found[0]["hooks"][0] == OTHER
    assert found[0]["hooks"][1]["command"] == COMMANDS.hook
    assert [handler["command"] for handler in found[1]["hooks"]] == [COMMANDS.sweep]


def test_doubles_and_events_of_the_past_go():
    mine = {"type": "command", "command": "/old/know-hook"}
    text = json.dumps({"hooks": {
        "Stop": [{"hooks": [mine]}, {"hooks": [OTHER, mine]}, {"hooks": [mine, OTHER, mine]}],
        "Notification": [{"hooks": [mine]}, {"hooks": [OTHER]}],
    }}, indent=2)  # fmt: skip
    found = check(put_in(text)[0])["hooks"]
    assert [[h["command"] for h in group["hooks"]] for group in found["Stop"]] == [
        [COMMANDS.hook], [OTHER["command"]], [OTHER["command"]],
    ]  # fmt: skip
    assert found["Notification"] == [{"hooks": [OTHER]}]


def test_a_command_with_arguments_apart_becomes_a_line():
    exec_form = {"type": "command", "command": "/old/know-hook", "args": ["--agent", "claude"]}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [exec_form]}]}}, indent=2)
    (group,) = check(put_in(text)[0])["hooks"]["Stop"]
    assert group["hooks"] == [{"type": "command", "command": COMMANDS.hook}]


@pytest.mark.parametrize(
    ("handler", "kind"),
    [
        ({"command": "know-hook"}, "hook"),
        ({"command": "'/a b/know-hook' --agent claude"}, "hook"),
        ({"command": "$HOME/.local/bin/know-hook"}, "hook"),
        ({"command": "/a/know-hook.exe"}, "hook"),
        ({"command": "/a b/know-hook", "args": []}, "hook"),
        ({"command": "know-hook --status"}, "status"),
        ({"command": "/a/know archive --queued --quiet"}, "sweep"),
        ({"command": "/a/know", "args": ["archive", "--queued"]}, "sweep"),
        ({"command": "know archive --all"}, ""),
        ({"command": "know recall x"}, ""),
        ({"command": "my-know-hook"}, ""),
        ({"command": "echo know-hook"}, ""),
        ({"command": "know-hook '"}, ""),
        ({"command": ""}, ""),
        ({"command": ["know-hook"]}, ""),
        ({"type": "http", "url": "http://localhost/know-hook"}, ""),
        ("know-hook", ""),
        (None, ""),
    ],
)
def test_ours_are_told_by_the_program_that_they_run(handler, kind):
    assert recognise(handler)[0] == kind


# -- the status line


def test_a_status_line_is_added_only_where_there_is_none():
    assert "statusLine" not in check(put_in("{}")[0])
    for theirs in ({"type": "command", "command": "mine"}, None, "odd"):
        text = json.dumps({"statusLine": theirs}, indent=2)
        assert check(put_in(text, status_line=True)[0])["statusLine"] == theirs
    text, _ = put_in("{}", status_line=True)
    again, _ = put_in(text, commands=NEWER)
    assert check(again)["statusLine"]["command"] == "/new/know-hook --status"


# -- taking out


def test_other_peoples_hooks_stay():
    text = json.dumps({"hooks": {"Stop": [{"hooks": [OTHER]}]}}, indent=2)
    installed, made = put_in(text)
    mine = '{"hooks": [{"type": "command", "command": "late"}]}'
    installed = installed.replace('"PreCompact": [', f'"PreCompact": [\n      {mine},')
    found = check(agent_settings.uninstall(installed, set(made)))
    assert found == {"hooks": {"Stop": [{"hooks": [OTHER]}], "PreCompact": [json.loads(mine)]}}


def test_without_a_record_what_ours_leave_empty_goes_and_nothing_else():
    text = '{\n  "hooks": {\n    "Setup": [],\n    "Stop": [\n      {"hooks": []}\n    ]\n  }\n}'
    assert agent_settings.uninstall(put_in(text)[0], None) == text
    assert agent_settings.uninstall(text, None) == text
    assert agent_settings.uninstall(put_in('{"a": 1}')[0], None) == '{"a": 1}'
    assert agent_settings.uninstall('{"hooks": {}}', None) == '{"hooks": {}}'


# -- what is wrong with what is installed


def test_settings_that_no_agent_would_accept_are_refused():
    for text in ("[]", "1", '"x"', '{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"a": NaN}'):
        with pytest.raises(ValueError, match=r"\w"):
            check(text)


def test_what_cannot_work_is_said(tmp_path):
    programs = []
    for name in ("know-hook", "know"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        programs.append(program)
    text, _ = put_in("{}", commands=Commands.of(*map(str, programs)))
    assert agent_settings.problems(check(text)) == []
    assert agent_settings.problems({}) == []
    found = check(text)
    found["disableAllHooks"] = True
    del found["hooks"]["Stop"]
    found["hooks"]["SessionStart"][0]["hooks"].pop()
    programs[0].unlink()
    said = "\n".join(agent_settings.problems(found))
    assert f"{programs[0]} is not there" in said
    assert "no hook on Stop;" in said
    assert "no sweep on SessionStart" in said
    assert "`disableAllHooks` is set" in said


# -- other agents


@pytest.mark.parametrize("agent", agent_settings.BY_HAND)
def test_what_is_to_be_added_by_hand_is_well_formed(agent):
    import tomllib

    file, text = by_hand(agent, "/a b/know-hook")
    found = tomllib.loads(text) if file.endswith(".toml") else json.loads(text)
    assert f"--agent {agent}" in json.dumps(found).replace('", "', " ")
    assert "/a b/know-hook" in json.dumps(found)


# -- editing JSON text


def test_the_first_of_several_goes_with_its_comma():
    text = '{\n  "a": 1,\n  "b": 2\n}'
    root = json_text.whole(text)
    first = json_text.at(text, "a")
    assert first is not None
    assert json_text.remove(text, root, first) == '{\n  "b": 2\n}'


def test_a_path_that_leads_nowhere_is_none():
    text = '{"a": [1, {"b": 2}]}'
    assert json_text.at(text, "a", 1, "b") is not None
    for path in (("x",), ("a", 2), ("a", 0, "b"), ("a", 1, "b", 0)):
        assert json_text.at(text, *path) is None


@pytest.mark.parametrize("text", ["", "{", "{}x", "// no\n{}", '{"a": 1,}', "{'a': 1}", "nul"])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(json.JSONDecodeError):
        json_text.whole(text)

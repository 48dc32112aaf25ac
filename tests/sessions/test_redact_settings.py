from __future__ import annotations

import hashlib
import io
import json
import os
from pathlib import Path

import pytest

from helpers import user
from knowrepo.config import config_path, load_repository_config
from knowrepo.errors import KnowError
from knowrepo.sessions.keep import Kept, archived_line
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.redact import DEFAULT
from knowrepo.sessions.redact.pseudonyms import pseudonym, with_pseudonyms
from knowrepo.sessions.redact.settings import redactor_for

TOKEN = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
HASH = "sha256:" + hashlib.sha256(TOKEN.encode()).hexdigest()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "know.toml").write_text("format = 1\n")
    return tmp_path


def cloned(root: Path, text: str) -> None:
    (root / "know.toml").write_text(f"format = 1\n{text}")


def own(text: str) -> None:
    config_path().write_text(text)


def test_without_settings_the_defaults_hold(root):
    assert redactor_for(root) is DEFAULT


def test_a_user_may_allow_a_pattern(root):
    own("[redact]\nallow = ['^ghp_aB3d']\n")
    assert redactor_for(root).redact(f"a {TOKEN} b") == f"a {TOKEN} b"
    other = TOKEN.replace("aB3d", "xX3d")
    assert redactor_for(root).redact(f"a {other} b") == "a [redacted:github-token] b"


def test_a_user_may_add_any_pattern(root):
    own("[[redact.extra]]\nkind = 'customer'\npattern = '(?i)acme|umbrella'\n")
    assert redactor_for(root).redact("for ACME and Umbrella") == (
        "for [redacted:customer] and [redacted:customer]"
    )


def test_a_repository_may_add_a_simple_pattern(root):
    cloned(root, "[[redact.extra]]\nkind = 'badge'\npattern = 'ACME-[A-Z0-9]{4,8}'\n")
    assert redactor_for(root).redact("badge ACME-12AB.") == "badge [redacted:badge]."
    (line,) = read_lines(io.BytesIO(json.dumps(user("badge ACME-12AB")).encode() + b"\n"))
    archived = archived_line(line, Kept(), redactor_for(root))
    assert archived is not None
    assert b"ACME" not in archived


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "ACM(E|F)", "ACME.*", "ACME[a-z]+", "AC[a-z]{4}", "ACME[a-z]{1,9}[a-z]{1,9}x",
     "ACME[a-z]{1,999}", "", "ACME(?=x)", "ACME\\1", "A{3}CME", "ACME[^a]{2}", "ACME" * 60],
)  # fmt: skip
def test_a_repository_brings_no_pattern_that_could_run_away(root, pattern: str):
    cloned(root, f"[[redact.extra]]\nkind = 'x'\npattern = '{pattern}'\n")
    with pytest.raises(KnowError, match="not a pattern that a repository may bring"):
        redactor_for(root)


def test_a_repository_allows_exact_secrets_alone(root):
    cloned(root, "[redact]\nallow = ['ghp_.*']\n")
    with pytest.raises(KnowError, match="64 digits"):
        load_repository_config(root)
    cloned(root, f"[redact]\nallow = ['{HASH}']\n")
    assert redactor_for(root).redact(f"a {TOKEN} b") == f"a {TOKEN} b"
    assert redactor_for(root).redact_value("token", TOKEN) == TOKEN
    assert "[redacted:" in redactor_for(root).redact(f"a {TOKEN}B b")


def test_a_bad_setting_is_told_with_its_file(root):
    for text in ("redact = 1", "[redact]\nallow = 1", "[redact]\nextra = [1]",
                 "[redact]\npseudonyms = 'yes'"):  # fmt: skip
        cloned(root, text)
        with pytest.raises(KnowError, match=r"know\.toml"):
            redactor_for(root)
    cloned(root, "")
    own("[[redact.extra]]\nkind = 'x'\npattern = '('\n")
    with pytest.raises(KnowError, match="no regular expression"):
        redactor_for(root)


def test_unknown_keys_of_the_table_are_kept_for_the_check(root):
    cloned(root, "[redact]\noff = true\n")
    assert load_repository_config(root).unknown == ("redact.off",)


def test_user_names_in_home_paths_become_the_same_pseudonym_everywhere():
    name = pseudonym("jane")
    assert name == "user-" + hashlib.sha256(b"knowrepo user jane").hexdigest()[:8]
    for text in (
        "/home/{}/app",
        "/Users/{}/x y",
        "C:\\Users\\{}\\AppData",
        "C:\\\\Users\\\\{}\\\\a",
        "/c/Users/{}/a",
        "cd /home/{} && ls",
        "projects/-home-{}-app/s.jsonl",
    ):
        assert with_pseudonyms(text.format("jane")) == text.format(name)
        assert with_pseudonyms(text.format(name)) == text.format(name)


def test_what_is_no_users_home_stays():
    for text in ("/home/runner/work", "the /home page", "/root/x", "~/app", "/var/home.txt"):
        assert with_pseudonyms(text) is text


def test_a_name_with_a_dash_is_found_in_a_folders_name_by_its_path():
    text = "/home/jane-doe/app in ~/.claude/projects/-home-jane-doe-app"
    assert "doe" not in with_pseudonyms(text)


def test_pseudonyms_are_an_option_that_either_file_turns_on(root):
    (line,) = read_lines(io.BytesIO(json.dumps(user("x", cwd="/home/jane/app")).encode() + b"\n"))
    plain = archived_line(line, Kept(), redactor_for(root))
    assert plain == line.raw
    for write in (lambda: cloned(root, "[redact]\npseudonyms = true\n"),
                  lambda: own("[redact]\npseudonyms = true\n")):  # fmt: skip
        cloned(root, "")
        own("")
        write()
        once = archived_line(line, Kept(), redactor_for(root))
        assert once is not None
        assert b"jane" not in once
        (again,) = read_lines(io.BytesIO(once + os.linesep.encode()))
        assert archived_line(again, Kept(), redactor_for(root)) == once

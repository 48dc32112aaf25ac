"""Two spellings of one tag: few are missed, and none is made up."""

from __future__ import annotations

import pytest

from knowrepo.concepts.near_tags import near_tags, nearest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Auth", "auth"), ("authn", "auth"), ("auth-n", "auth"), ("authentication", "auth"),
        ("web hooks", "webhooks"), ("web_hooks", "web-hooks"), ("WebHooks", "web-hooks"),
        ("decision", "decisions"), ("dependency", "dependencies"), ("patch", "patches"),
        ("Node.js", "nodejs"), ("python-3", "python3"), ("kuberntes", "kubernetes"),
        ("kubernetse", "kubernetes"), ("perfomance", "performance"), ("behavior", "behaviour"),
        ("normalisation", "normalization"), ("cancelling", "canceling"), ("ＡＰＩ", "api"),
        ("docs", "documentation"), ("db", "database"), ("git hook", "git-hooks"),
    ],
)  # fmt: skip
def test_what_is_one_tag_is_pointed_out(old, new):
    (found,) = near_tags({old: 1, new: 3})
    assert (found.old, found.new) == (old, new)


@pytest.mark.parametrize(
    "pair",
    [
        ("v1", "v2"), ("sha1", "sha256"), ("python2", "python3"), ("on", "no"), ("1.0", "10"),
        ("http", "https"), ("css", "cs"), ("c", "c++"), ("c#", "c++"), ("authn", "authz"),
        ("auth", "authorization"), ("import", "export"), ("window", "windows"), ("new", "news"),
        ("internal", "interval"), ("projection", "protection"), ("contract", "contrast"),
        ("synchronous", "asynchronous"), ("encoder", "decoder"), ("redis", "redi"),
        ("release-2025", "release-2026"), ("v1-1", "v11"), ("test", "text"), ("aws", "aw"),
    ],
)  # fmt: skip
def test_what_are_two_tags_is_not(pair):
    assert near_tags({pair[0]: 1, pair[1]: 3}) == []
    assert near_tags({pair[0]: 3, pair[1]: 1}) == []


def test_all_spellings_become_the_one_that_is_used_most():
    counts = {"Auth": 2, "auth": 5, "authn": 1, "auth-n": 1, "authz": 3}
    assert {(near.old, near.new) for near in near_tags(counts)} == {
        ("Auth", "auth"), ("authn", "auth"), ("auth-n", "auth"),
    }  # fmt: skip


def test_among_equals_the_plain_spelling_wins():
    assert near_tags({"Git Hooks": 1, "git-hooks": 1})[0].new == "git-hooks"


def test_a_new_tag_is_told_the_one_in_use():
    assert nearest("Hooks", {"hook": 2, "git": 9}) == "hook"
    assert nearest("hook", {"hook": 2}) == ""
    assert nearest("python", {"hook": 2}) == ""

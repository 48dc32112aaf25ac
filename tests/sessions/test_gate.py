"""A gate may say yes too often, and never no wrongly."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowrepo.errors import KnowError
from knowrepo.sessions.keep import Kept, archived_line
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.redact import DEFAULT, DEFAULT_RULES, Redactor
from knowrepo.sessions.redact.gate import Gate
from knowrepo.sessions.redact.library import PLUGINS, Plugin, patterns_of
from knowrepo.sessions.redact.rule import Rule
from redaction_corpus import look_alikes, measure, secrets


class Open(Gate):
    """A gate that lets everything through."""

    def rules_for(self, text: str) -> tuple[Rule, ...]:
        return self.rules

    def suspects(self, raw: bytes):
        return self


# Two kinds are looked for beside a name that tells, which only the gate asks for.
RULES = [rule for rule in DEFAULT_RULES if rule.kind not in {"twilio-key", "databricks-token"}]
GATED, UNGATED = Redactor(RULES), Redactor(RULES)
UNGATED.gate = Open(RULES)
TEXTS = [s.text for s in secrets()] + [x.text for x in look_alikes()]
SECRETS = [s.secret for s in secrets()]
JOINTS = [
    " ", "=", ": ", ":", '"', "'", '": "', '\\": \\"', "\n", "\\n", "\t", "é", "token=",
    "PASSWORD=", "api_key: ", "Authorization: Bearer ", "https://u:", "@host", "-p ", "--token ",
    "/", "[redacted:slack-token]",
]  # fmt: skip
MIXED = st.lists(
    st.one_of(st.sampled_from(SECRETS), st.sampled_from(JOINTS), st.text(max_size=8)), max_size=7
).map("".join)


@pytest.mark.parametrize("text", TEXTS)
def test_the_gate_hides_nothing_of_the_corpus(text: str):
    assert GATED.redact(text) == UNGATED.redact(text)


@settings(max_examples=400, deadline=None)
@given(MIXED)
def test_the_gate_hides_nothing_of_mixed_text(text: str):
    assert GATED.redact(text) == UNGATED.redact(text)


@settings(max_examples=400, deadline=None)
@given(MIXED, st.sampled_from(["text", "db_password", "apiKey"]), st.booleans(), st.booleans())
def test_a_line_is_archived_the_same_with_and_without_the_gate(text, key, ascii_only, slashes):
    raw = json.dumps({"type": "x", "m": [{key: text}]}, ensure_ascii=ascii_only)
    raw = raw.replace("/", "\\/") if slashes else raw
    data = raw.encode("utf-8", "replace") + b"\n"
    gated, ungated = (
        [archived_line(line, Kept(), redactor) for line in read_lines(io.BytesIO(data))]
        for redactor in (GATED, UNGATED)
    )
    assert gated == ungated


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.detector)
def test_each_plugin_that_is_named_is_there_and_finds_its_kind(plugin: Plugin):
    assert patterns_of(plugin)
    rest = Redactor([rule for rule in DEFAULT_RULES if rule.probes != plugin.probes])
    planted = [s for s in secrets() if s.kind == plugin.kind]
    if plugin.kind != "artifactory-token":  # has a statement in test_redact
        assert any(s.stays_in(rest.redact(f" {s.secret} ")) for s in planted)


def test_a_plugin_that_is_gone_stops_the_archive():
    with pytest.raises(KnowError, match="cannot be used"):
        patterns_of(Plugin("aws", "NoSuchDetector", "x", ()))
    with pytest.raises(KnowError, match="cannot be used"):
        patterns_of(Plugin("no_such_module", "X", "x", ()))


def test_the_library_finds_what_our_own_rules_do_not():
    names = {plugin.probes for plugin in PLUGINS}
    own = Redactor([rule for rule in DEFAULT_RULES if rule.probes not in names])
    scores = {
        r: [
            measure(lambda key, t, c, r=r: r.redact_value(key, t, c), half)
            for half in ("dev", "heldout")
        ]
        for r in (DEFAULT, own)
    }
    found, without = (sum(s.found.total() for s in scores[r]) for r in (DEFAULT, own))
    assert found >= without + 10


def test_the_library_is_imported_for_a_text_that_needs_it_alone():
    code = (
        "import sys\n"
        "from knowrepo.sessions import archive\n"
        "from knowrepo.sessions.redact import redact\n"
        "redact('token=abc https://a:hunter2x9Q@b password: h7Gk2mQ9zX4v')\n"
        "assert 'detect_secrets' not in sys.modules and 'requests' not in sys.modules\n"
        "assert '[redacted:aws-key]' in redact('a AK' + 'IAQ3EGRIS7XLKBVNZA b')\n"
        "assert 'detect_secrets' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

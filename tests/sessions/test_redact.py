from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowrepo.sessions.redact import DEFAULT_RULES as RULES
from knowrepo.sessions.redact import redact, redact_value
from redaction_corpus import secrets

# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "anthropic-key": "sk-" + "ant-api03-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z",
    "openai-key": "sk-" + "proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9v",
    "github-token": "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A",
    "gitlab-token": "gl" + "pat-" + "aB3dE5fG7hJ9kL1mN3pQ",
    "slack-token": "xo" + "xb-" + "123456789012-123456789012-aB3dE5fG7hJ9",
    "google-key": "AI" + "za" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "aws-key": "AK" + "IA" + "Q3EGRIS7XLKBVNZA",
    "stripe-key": "sk" + "_live_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7",
    "npm-token": "np" + "m_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A",
    "jwt": "eyJ"
    + "hbGciOiJIUzI1NiJ9."
    + "eyJ"
    + "zdWIiOiIxMjM0NTY3ODkwIn0."
    + "dozjgNryP4J3jVmNHl0w5N",
    "private-key": "-----BEGIN "
    + "RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----",
}
_VALUE = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A7b9C"
# Whole statements, as they stand in logs and files, for the rules that need one.
STATEMENTS = {
    "openrouter-key": "sk-" + "or-v1-" + _VALUE,
    "slack-webhook": "https://hooks.slack" + ".com/services/T0AB1CD2E/B0AB1CD2E/" + _VALUE[:24],
    "google-token": "ya" + "29." + _VALUE,
    "google-secret": "GOC" + "SPX-" + _VALUE[:28],
    "aws-secret": "aws_secret_access_key = " + _VALUE,
    "pypi-token": "py" + "pi-AgE" + "IcHlwaS5vcmc" + _VALUE + _VALUE,
    "xai-key": "xa" + "i-" + _VALUE + _VALUE,
    "perplexity-key": "pp" + "lx-" + _VALUE,
    "nvidia-key": "nv" + "api-" + _VALUE + _VALUE,
    "atlassian-token": "ATAT" + "T3" + _VALUE + _VALUE,
    "newrelic-key": "NR" + "AK-" + "A1B2C3D4E5F6G7H8I9J0K1L2M3N",
    "pulumi-token": "pu" + "l-" + "0123456789abcdef" * 2 + "01234567",
    "rubygems-key": "ruby" + "gems_" + "0123456789abcdef" * 3,
    "tailscale-key": "ts" + "key-auth-" + "kAbCdE1CNTRL-" + _VALUE[:24],
    "age-key": "AGE-SEC"
    + "RET-KEY-1"
    + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
    + "QPZRY9X8GF2TVDW0S3JN54KHCE",
    "artifactory-token": "JFROG=" + "AK" + "C" + _VALUE[:24] + "\n",
    "huggingface-token": "h" + "f_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
    "authorization": '{"Proxy_Authorization": "Bearer ' + _VALUE + '"}',
    "url-password": "postgres://app:" + _VALUE[:12] + "@db/prod",
    "assigned-secret": "DB_PASSWORD=" + _VALUE[:12],
    "private-key": "text-----BEGIN "
    + "EC PRIVATE KEY-----\nMHcCAQEEI\n-----END EC PRIVATE KEY-----",
}
LOOK_ALIKES = [
    "commit 53aa51172d142c89d9012cce15ae4d6cc0ca6895",
    "uuid 0f0e0d0c-0b0a-4908-8706-050403020100",
    "sha512-K5nQwUoqGx3bGmCNgvBE0LxVvpsT8ZkPxJuNQxGQdGZmJ0YHvXv1pT3g==",
    "the sk-learn package and the task-force",
    "postgres://user:password@localhost/db",
    "postgres://user:${DB_PASSWORD}@localhost/db",
    "https://example.org/a:b@c",
    "API_KEY=$API_KEY",
    "API_KEY=<your-key-here>",
    "TOKEN=process.env.TOKEN_VALUE_1",
    "MAX_TOKENS=200000000000000",
    "PASSWORD=changeme-please-1",
    "export SECRET_NAME=plainwordswithoutdigits",
    "token = self.tokens[index_1234]",
    "password: str = Field1234567890",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
]


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_becomes_a_placeholder_of_its_kind(kind: str):
    found: Counter[str] = Counter()
    text = f"before {SECRETS[kind]} after"
    assert redact(text, found) == f"before [redacted:{kind}] after"
    assert found == {kind: 1}


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_look_alike_stays(text: str):
    assert redact(text) is text


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_secret_in_its_statement_is_found(kind: str):
    found: Counter[str] = Counter()
    redact(f"before {STATEMENTS[kind]} after", found)
    assert found == {kind: 1}


def test_every_rule_is_tested():
    planted = {secret.kind for secret in secrets()}
    assert {rule.kind for rule in RULES} <= SECRETS.keys() | STATEMENTS.keys() | planted


def test_only_the_secret_part_of_a_statement_is_replaced():
    password = "h7Gk2" + "mQ9zX4v"
    assert redact(f"postgres://app:{password}@db/prod") == (
        "postgres://app:[redacted:url-password]@db/prod"
    )
    assert redact(f"DB_PASSWORD={password}\n") == "DB_PASSWORD=[redacted:assigned-secret]\n"
    assert redact(f"Authorization: Bearer {password}{password}") == (
        "Authorization: Bearer [redacted:authorization]"
    )


def test_a_token_in_the_place_of_a_user_name_is_found():
    assert redact(f"https://{SECRETS['github-token']}@example.org/a.git") == (
        "https://[redacted:github-token]@example.org/a.git"
    )


def test_a_key_block_without_an_end_is_redacted_to_the_end():
    text = "-----BEGIN " + "PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB"
    assert redact(text) == "[redacted:private-key]"
    listing = "-----BEGIN " + "PRIVATE KEY-----\nsrc/a.py:3: nothing secret here\n"
    assert redact(listing) == listing


def test_a_name_at_a_lines_end_takes_nothing_of_the_next_line():
    text = "NPM_TOKEN:\n.github/workflows/publish.yml:29: x1y2z3"
    assert redact(text) is text


def test_half_of_a_secret_does_not_stay():
    value = SECRETS["aws-key"] + ":wJalrXUtnFEMI7K7"
    assert "wJalr" not in redact(f"AWS_TOKEN={value}")
    assert redact_value("access_key", value) == "[redacted:aws-key]"


@given(
    st.sampled_from(["access_token", "name", "db_password"]),
    st.lists(
        st.sampled_from(["a1", ":", "=", "@", "postgres://app:", "TOKEN=", *SECRETS.values()]),
        max_size=5,
    ),
)
def test_redacting_a_value_twice_changes_nothing_more(name: str, pieces: list[str]):
    once = redact_value(name, "".join(pieces))
    assert redact_value(name, once) == once


@given(st.text(max_size=80), st.sampled_from(sorted(SECRETS)), st.text(max_size=80))
def test_redacting_twice_changes_nothing_more(before: str, kind: str, after: str):
    once = redact(f"{before} {SECRETS[kind]} {after}")
    assert redact(once) == once


ESCAPES = [
    "\n",
    " ",
    '"',
    "\\n",
    "\\t",
    "\\u000a",
    "\x1b[32m",
    "\x1b[1;32m",
    "%3D",
    "=",
    "\\x1b[0m",
]


@pytest.mark.parametrize("kind", sorted(set(SECRETS) - {"private-key"}))
@pytest.mark.parametrize("escape", ESCAPES)
def test_a_secret_is_found_after_an_escape(kind: str, escape: str):
    assert SECRETS[kind] not in redact(f"A=1{escape}{SECRETS[kind]}{escape}")


def test_assigned_secrets_are_found_in_every_common_spelling():
    value = "h7Gk2" + "mQ9zX4v"
    for text in (
        f"DB_PASSWORD={value}",
        f"\\nDB_PASSWORD={value}",
        f"password = '{value}'",
        f'"api_key": "{value}"',
        f'\\"api_key\\": \\"{value}\\"',
        f"client-secret: '{value}'",
        f"PASSWORD='p4ss(word){value}'",
        f"MYSQL_PASSWORD=$2b{value}",
        f"DB_PASSWORD={value}...",
    ):
        assert value not in redact(text), text


def test_a_long_run_of_names_is_looked_through_in_reasonable_work():
    redact("SECRET" * 50_000)
    redact("SECRET_" * 50_000 + "=")
    redact("eyJ" * 200_000)
    redact("-----BEGIN " + "PRIVATE KEY-----" * 10_000)


@given(
    st.lists(st.one_of(st.text(max_size=40), st.sampled_from(sorted(SECRETS.values()))), max_size=6)
)
def test_no_planted_secret_survives_among_other_words(pieces: list[str]):
    text = redact(" ".join(pieces))
    for secret in SECRETS.values():
        assert secret not in text


GLUE = [*SECRETS.values(), *STATEMENTS.values(), "=", " ", "token=", "key: "]
GLUE += [secret.secret for secret in secrets()]


@settings(max_examples=300)
@given(st.lists(st.one_of(st.text(max_size=12), st.sampled_from(GLUE)), max_size=6))
def test_redacting_secrets_that_run_into_one_another_twice_changes_nothing(pieces: list[str]):
    once = redact("".join(pieces))
    assert redact(once) == once


def test_a_token_that_runs_into_a_key_block_leaves_neither():
    text = SECRETS["slack-token"] + SECRETS["private-key"]
    once = redact(text)
    assert "MIIEow" not in once
    assert "aB3dE5" not in once
    assert redact(once) == once


def test_several_secrets_in_one_text_are_all_found():
    found: Counter[str] = Counter()
    redact("\n".join(SECRETS.values()), found)
    assert found == Counter(dict.fromkeys(SECRETS, 1))


HOSTILE = [
    *"aA0 \n\"'\\=:-_./+&@{[(<\u2192é",
    "sk-", "ghp_", "eyJ", ".eyJ", "eyJa.", "://", "://a:", "a:b@", "token=", "password=", "TOKEN: ",
    "secret", "key=", "--password ", "-u a:", " -p", "login a password ", "AKIA", "xoxb-1-", "hf_",
    "-----BEGIN PRIVATE " + "KEY-----", "-----END PRIVATE " + "KEY-----", "AAAA\n", "echo ",
    "Authorization: Bearer ", "glpat-", "SG.", "AccountKey=", "PRIVATE KEY", "[redacted:",
    "sshpass ", "[redacted:jwt]", "\\n", "\\u001b[0m", "İ", "mysql ", '"auth":"',
    "dapi", "EAAA", "1:AA",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_anything_is_looked_through_in_linear_work(unit: str):
    """No rule may read again from each of its beginnings.

    Ten times the text may cost ten times the process's own time, with room for
    noise; work that grows with the square would cost a hundred times as much.
    """
    small, large = (_cpu_seconds(unit * (size // len(unit))) for size in (60_000, 600_000))
    assert large < 1 or large < 40 * max(small, 0.005)


def _cpu_seconds(text: str) -> float:
    start = time.process_time()
    redact(text)
    return time.process_time() - start

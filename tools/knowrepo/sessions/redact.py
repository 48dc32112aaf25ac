"""Finding secrets in text and putting a placeholder in their place.

Owns the pattern rules and nothing else: it is given decoded strings and gives
strings back. Rules are specific on purpose. A rule names the form of one kind
of credential, because a rule that guesses by entropy takes git hashes, uuids
and package integrity hashes for secrets and damages the archive.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One kind of secret.

    ``literals``: a text that contains none of these cannot match (compared in
    lower case), which spares most texts the pattern. The group ``secret`` of
    ``pattern`` is replaced, or the whole match where there is none. ``word``:
    it must begin where a word begins. ``accept`` looks at what would be
    replaced and may decline.
    """

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    word: bool = True
    accept: Callable[[str], bool] = lambda _: True


_PLACEHOLDER = re.compile(r"\[redacted:[a-z-]+\]")
# $NAME, ${NAME}, $(command), <name>, {{name}}, %NAME%, [name], call(x)
_REFERENCE = re.compile(r"\$[A-Za-z_]\w*\Z|\$[{(]|[<{\[*]|%\w|[A-Za-z_][\w.]*\([^()]*\)?\Z")
_EXAMPLE = re.compile(r"(?i)example|changeme|placeholder|your[_-]|xxxx|process\.env|environ")


def _looks_random(value: str) -> bool:
    """Tell a credential from a placeholder, a reference or a plain word."""
    rest = _PLACEHOLDER.sub("", value)  # half of it may have been found by another rule
    if not rest or _REFERENCE.match(rest) or _EXAMPLE.search(rest):
        return False
    has_digit = any(c.isdigit() for c in rest)
    has_letter = any(c.isalpha() for c in rest)
    return has_digit and has_letter and len(set(rest)) >= 8


def _is_password(value: str) -> bool:
    """Tell a password in a URL from the words that documentation puts there."""
    if value.startswith(("$", "<", "{", "%", "[", "*")):
        return False
    return value.lower() not in {"password", "pass", "passwd", "secret", "token", "pwd", "xxx"}


def _rule(
    kind: str,
    literals: str,
    pattern: str,
    flags: int = 0,
    *,
    word: bool = True,
    accept: Callable[[str], bool] = lambda _: True,
) -> Rule:
    return Rule(kind, tuple(literals.split()), re.compile(pattern, flags), word, accept)


# A letter that ends an escape is no part of the word after it: JSON inside of
# text, colours of a terminal, percent-encoding.
_ESCAPE = re.compile(
    r"(?:\\[nrtbfv]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,12}m"
    r"|\\033\[[0-9;]{0,12}m|\\e\[[0-9;]{0,12}m|\[[0-9;]{1,12}m)\Z"
)
_LONGEST_ESCAPE = 24
_SECRET_NAME = r"(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY)"

RULES: tuple[Rule, ...] = (
    _rule(
        "private-key",
        "-----begin",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:.{1,20000}?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:(?:\s|\\[nrt]){1,8}[A-Za-z0-9+/=]{20,})+)",  # cut off: as far as it goes
        re.DOTALL,
        word=False,
    ),
    _rule("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,}"),
    _rule("openrouter-key", "sk-or-", r"sk-or-v\d-[A-Za-z0-9]{32,}"),
    _rule(
        "openai-key",
        "sk-",
        r"sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}"
        r"|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48})(?![A-Za-z0-9])",
    ),
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _rule("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    _rule("gitlab-token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    _rule("slack-token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _rule("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,}"),
    _rule(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/services/(?P<secret>T[A-Za-z0-9_]+/B[A-Za-z0-9_]+/[A-Za-z0-9_]{20,})",
    ),
    _rule("google-key", "aiza", r"AIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    _rule("google-token", "ya29.", r"ya29\.[0-9A-Za-z_-]{30,}"),
    _rule("google-secret", "gocspx-", r"GOCSPX-[0-9A-Za-z_-]{20,}"),
    _rule("aws-key", "akia asia", r"(?:AKIA|ASIA)[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _rule(
        "aws-secret",
        "secret_access_key secretaccesskey",
        r"(?i)secret_?access_?key[\"']?\s*[=:]\s*[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
        word=False,  # `aws_` stands before it
    ),
    _rule(
        "stripe-key",
        "_live_ _test_ whsec_",
        r"(?:(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    ),
    _rule("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _rule("pypi-token", "pypi-age", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    _rule("huggingface-token", "hf_", r"hf_[A-Za-z]{34}(?![A-Za-z0-9])"),
    _rule(
        "jwt",
        "eyj",
        # Looked at before the run is read, or a long run of `eyJ` is read again from each.
        r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=[0-9]m)|(?<=%[0-9A-Fa-f]{2})"
        r"|(?<=\\u[0-9A-Fa-f]{4}))"
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        word=False,
    ),
    _rule(
        "authorization",
        "authorization",
        r"(?i)authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+"
        r"(?P<secret>[A-Za-z0-9._~+/=-]{16,})",
        word=False,
        accept=_looks_random,
    ),
    _rule(
        "url-password",
        "://",
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'`<>\[]{0,128}:"
        r"(?P<secret>[^\s/@\"'`<>]{3,256})@(?=[\w\[])",
        word=False,
        accept=_is_password,
    ),
    _rule(  # KEY=value, as in the environment and its files
        "assigned-secret",
        "secret token passw api_key apikey private_key access_key",
        rf"{_SECRET_NAME}[A-Z0-9_]{{0,64}}\\*[\"']?[ \t]{{0,8}}[=:][ \t]{{0,8}}\\*[\"']?"
        r"(?P<secret>[^\s\"'`,;&|<>\\]{12,512})",
        word=False,  # whatever the name begins with
        accept=_looks_random,
    ),
    _rule(  # password = "value", in any case, where the value is quoted
        "assigned-secret",
        "secret token passw api_key apikey private_key privatekey access_key accesskey",
        rf"(?i){_SECRET_NAME}\\*[\"']?[ \t]{{0,8}}(?:=|:|=>)[ \t]{{0,8}}\\*[\"']"
        r"(?P<secret>[^\s\"'`<>\\]{10,512})\\*[\"']",
        word=False,  # whatever the name begins with
        accept=_looks_random,
    ),
)
SHORTEST = 12
"""Characters below which no text holds a secret that a rule would find."""
_ANY_LITERAL = re.compile(
    "|".join(sorted({re.escape(literal) for rule in RULES for literal in rule.literals}))
)
_SECRET_KEY = re.compile(rf"(?i)(?:.*[_-])?{_SECRET_NAME}")


def redact_value(name: str, value: str, found: Counter[str] | None = None) -> str:
    """Redact a string that stands under ``name`` in an object: the name may say what it is."""
    whole = 10 <= len(value) <= 512 and " " not in value and _SECRET_KEY.fullmatch(name)
    if whole and not _PLACEHOLDER.fullmatch(value) and _looks_random(value):
        if found is not None:
            found["assigned-secret"] += 1
        return "[redacted:assigned-secret]"
    text = redact(value, found)
    # What is left beside a placeholder may now look like a secret on its own.
    return text if text is value else redact_value(name, text, found)


def redact(text: str, found: Counter[str] | None = None) -> str:
    """Return ``text`` with each secret replaced by `[redacted:KIND]`.

    A text without a finding is returned as the same object. ``found`` is
    counted up by kind. Redacting twice changes nothing more.
    """
    if len(text) < SHORTEST:
        return text
    lowered = text.lower()
    if not _ANY_LITERAL.search(lowered):  # as nearly all texts
        return text
    for rule in RULES:
        if not any(literal in lowered for literal in rule.literals):
            continue
        changed = _apply(rule, text, found)
        if changed is not text:
            text = changed
            lowered = text.lower()
    return text


def _apply(rule: Rule, text: str, found: Counter[str] | None) -> str:
    pieces: list[str] = []
    position = 0
    group = "secret" if "secret" in rule.pattern.groupindex else 0
    for match in rule.pattern.finditer(text):
        secret = match.group(group)
        if not rule.accept(secret) or _PLACEHOLDER.fullmatch(secret):
            continue
        if rule.word and not _begins_word(text, match.start()):
            continue
        start, end = match.span(group)
        pieces += [text[position:start], f"[redacted:{rule.kind}]"]
        position = end
        if found is not None:
            found[rule.kind] += 1
    if not pieces:
        return text
    return "".join([*pieces, text[position:]])


def _begins_word(text: str, start: int) -> bool:
    """Say whether a word begins here: `sk-` in `task-` is none."""
    if start == 0 or not (text[start - 1].isalnum() or text[start - 1] == "_"):
        return True
    return _ESCAPE.search(text, max(0, start - _LONGEST_ESCAPE), start) is not None

"""Secrets without a form of their own: values that stand under a name that says what they are.

Owns the judgement of names (`db_password` tells, `next_page_token` does not) and
the shapes of an assignment: environment files, configuration, code, headers,
query strings, connection strings, command lines.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator

from knowrepo.sessions.redact.rule import (
    ENOUGH,
    Probe,
    Rule,
    Span,
    by_pattern,
    is_example,
    looks_random,
)

KIND = "assigned-secret"

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET = frozenset(
    "secret token password passwd passphrase passcode pwd pass apikey appkey accesskey secretkey "
    "privatekey authkey accountkey accesstoken authtoken clientsecret apisecret apitoken "
    "userpass credential credentials psswd passwort".split()
)
_ENDINGS = ("password", "passwd", "secret", "apikey", "accesstoken", "authtoken", "pwd")
# `key` alone is a key of anything; beside one of these it opens something.
_KEYS = frozenset(
    "api secret private access auth encryption signing master account storage service app "
    "application admin deploy webhook session jwt hmac cookie client license shared ssh tls ssl "
    "rsa dd cf decryption crypto aes root".split()
)
_OTHER_KEYS = frozenset(
    "public pub cache primary foreign sort partition idempotency host unique dedup group object "
    "map lookup search row index hot shortcut translation i18n registry dict json data message "
    "config env routing query react storage local sign known authorized issue jira project "
    "ordering order bucket s3 label meta metadata column table entity resource".split()
)
# What may follow the word without changing what stands there.
_QUALIFIERS = frozenset(
    "value val base prod production dev development staging stage live local old new current "
    "primary secondary main default b64 base64 hex raw string str text plain v1 v2 1 2 3 0".split()
)
_NO_SECRETS = frozenset(
    "next prev previous page continuation sync max min num total eos bos pad mask unk cls sep "
    "special stop start end input output prompt completion cached reasoning delta xsrf csrf first "
    "last no is has reset forgot change confirm invalid missing expected".split()
)


@functools.lru_cache(maxsize=4096)
def tells(name: str) -> bool:
    """Say whether what stands under ``name`` is a secret by its name."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and words[-1] in _QUALIFIERS:
        words.pop()
    if not words or not _NO_SECRETS.isdisjoint(words):
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == "key":
        return (
            before in _KEYS
            or before in _SECRET
            or (name.isupper() and before not in {"", *_OTHER_KEYS})
        )
    if last in {"hash", "digest", "sid"} or (last == "id" and before != "secret"):
        return False
    if last == "pass":  # alone it is what a test did
        return bool(before)
    return last in _SECRET or last.endswith(_ENDINGS)


_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]{0,64}\Z")
_WORDS_THAT_TELL = ("secret", "token", "pass", "pwd", "key")
_ANY_WORD = re.compile("|".join(_WORDS_THAT_TELL), re.IGNORECASE | re.ASCII)
_COLOUR = r"(?:\x1b\[[0-9;]{0,12}m|\\u001b\[[0-9;]{0,12}m)?"
_CLOSE = rf"{_COLOUR}\\{{0,3}}[\"'\]]{{0,2}}"
_GAP = r"[ \t]{0,8}"
_SIGN = r"(?:=>|:=|={1,3}|:|%3[Dd])"
_QUOTE = r"\\{0,3}(?:\"\"\"|'''|[\"'`])"
# A value in quotes ends at them; a bare one ends where a value in a shell, in
# YAML, in a query or in a connection string does. No longer than this is read
# at a time, so that names in a row are not read to the end from each of them.
_MOST = 256
_IN_QUOTES = r"[!#-&(-;=?-\[\]-_a-~]"  # what is seen in ASCII, but quotes, <, > and backslash
_IN_THE_OPEN = r"[!#-%*+./0-9:=?@A-Z^_a-z~-]"
_QUOTED = rf"(?P<secret>{_IN_QUOTES}{{8,{_MOST}}})"
_ASSIGNED = re.compile(
    r"(?P<name>(?i:secret|token|passw(?:or)?d|passphrase|passcode|pass|pwd|key)"
    r"(?:[_-][A-Za-z0-9_-]{1,32}|[A-Z][A-Za-z0-9]{0,16}|\d{1,2})?)"
    rf"(?:{_CLOSE}{_GAP}{_SIGN}{_GAP}"
    rf"(?:[fbruFBRU@]?{_QUOTE}{_QUOTED}|{_COLOUR}(?P<bare>{_IN_THE_OPEN}{{8,{_MOST}}}))"
    rf"|(?:\\{{0,3}}[\"'][ \t]{{1,8}}value=\\{{0,3}}[\"']|>)"
    rf"(?P<attribute>{_IN_QUOTES}{{8,{_MOST}}}))"
)
_CODE = re.compile(r"[A-Za-z_$]+[.(\[]")
_REST = {"secret": re.compile(f"{_IN_QUOTES}*"), "bare": re.compile(f"{_IN_THE_OPEN}*")}
_REST["attribute"] = _REST["secret"]


def _assignments(text: str) -> Iterator[Span]:
    """Find values under a name that tells, in every common spelling of an assignment."""
    done = 0
    for at in _positions(text):
        if at < done:
            continue
        match = _ASSIGNED.match(text, at)
        if match is None:
            continue
        group = match.lastgroup or "secret"
        before = _NAME_BEFORE.search(text, max(0, at - 64), at)
        name = (before.group() if before else "") + match["name"]
        if not tells(name) or not _is_value(match, group, name):
            continue
        start, end = match.span(group)
        if end - start == _MOST and (rest := _REST[group].match(text, end)) is not None:
            end = rest.end()
        done = end
        yield start, end


def _positions(text: str) -> Iterator[int]:
    """Yield where a word stands that may end a telling name, in order."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter that is two in lower case moves the rest
        yield from (match.start() for match in _ANY_WORD.finditer(text))
        return
    found: list[int] = []
    for word in _WORDS_THAT_TELL:
        at = lowered.find(word)
        while at != -1:
            found.append(at)
            at = lowered.find(word, at + len(word))
    yield from sorted(found)


def _is_value(match: re.Match[str], group: str, name: str) -> bool:
    """Judge a value; a bare one beside a name in small letters may be code."""
    start, end = match.span(group)
    value = match.string[start : min(end, start + ENOUGH)].rstrip(".,:!?")
    if group != "bare":
        return looks_random(value)
    if match.string[match.end() : match.end() + 1] in {"(", "[", "{"} or _CODE.match(value):
        return False
    return looks_random(value, strict=not name.isupper())


WHOLE = re.compile(f"{_IN_QUOTES}{{8}}")
"""How a value begins that can be a secret as a whole."""


def _random(match: re.Match[str]) -> bool:
    return looks_random(match["secret"])


def _with_digit(match: re.Match[str]) -> bool:
    """Judge a value that only words lead in: without a digit it is a word of the sentence."""
    return any(c.isdigit() for c in match["secret"][:64]) and _random(match)


def _find(pattern: str, accept: Callable[[re.Match[str]], bool]) -> Callable[[str], Iterator[Span]]:
    return by_pattern(pattern, accept, word=False, flags=re.ASCII | re.IGNORECASE)


# What stands between a name and a value, as JSON spells it too: a tab is `\t`
# there, and each level of quoting doubles the backslashes. A bare value that
# goes on as code does is none.
_SPACE = r"(?:[ \t]|\\{1,4}t)"
_VALUE = (
    rf"{_SPACE}*+(?:[fbru@]?\\{{0,7}}[\"'`](?:\\{{0,7}}[\"'`]){{0,2}}{_IN_QUOTES}{{8}}"
    rf"|(?![A-Za-z_$]+[.(\[]){_IN_THE_OPEN}{{8}})"
)
_TAIL = (
    rf"[a-z0-9_-]{{0,33}}(?:(?:\x1b|\\{{1,2}}u001b)\[[0-9;]{{0,12}}m|\\{{0,7}}[\"'\])]|{_SPACE})*+"
    rf"(?::=|=>|={{1,3}}|:|>|%3d|value=){_SPACE}*+(?:(?:\x1b|\\{{1,2}}u001b)\[[0-9;]{{0,12}}m)?"
    rf"{_VALUE}"
)
# The same without a sign between: `--token x`, `password x`, `the secret is x`.
_SPOKEN_TAIL = (
    r"(?:phrase|word|wd)?(?: is:?)?[ =]\\{0,7}[\"'`]?(?=[^\s\d]{0,64}\d)[!#-&(-;=?-\[\]-_a-~]{8}"
)
WORD_PROBES = (
    *(Probe(word, _TAIL, fold=True) for word in ("secret", "pass")),
    Probe("token", rf"(?!s\\{{0,7}}[\"'])(?:{_TAIL})", fold=True),  # no count of them
    Probe("=", rf"(?<=[pP][wW][dD]=){_VALUE}"),
    Probe("key", rf"(?<=[a-z_ -]key){_TAIL}", fold=True),
)
SPOKEN_PROBES = tuple(
    Probe(word, _SPOKEN_TAIL, fold=True) for word in ("secret", "token", "pass", "key")
)


def _where(
    literal: str, pattern: str, accept: Callable[[re.Match[str]], bool]
) -> Callable[[str], Iterable[Span]]:
    """Return a finder that looks only where a literal stands."""
    spans = by_pattern(pattern, accept, word=False)
    upper = literal.upper()
    return lambda text: spans(text) if literal in text or upper in text else ()


_FLAGS = "(?:password|passwd|token|secret|api-?key|pass|access-key)"
_SAID = "(?:password|passphrase|secret|token|api key)"
# What follows an option on a command line, as JSON spells it.
_USER = rf"[ =]\\{{0,7}}[\"']?[A-Za-z0-9_.@-]{{1,64}}:{_IN_QUOTES}{{8}}"
_OPERAND = rf" ?\\{{0,7}}[\"']?(?![/.~$-]){_IN_QUOTES}{{8}}"


RULES: tuple[Rule, ...] = (
    Rule(
        "aws-secret",
        WORD_PROBES,
        _where(
            "ccess",
            rf"(?i:secret_?access_?key){_CLOSE}{_GAP}{_SIGN}{_GAP}(?:{_QUOTE})?"
            r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
            lambda m: not is_example(m["secret"]),
        ),
    ),
    Rule(
        "databricks-token",
        (*WORD_PROBES, *SPOKEN_PROBES),
        _where(
            "dapi", r"(?<![A-Za-z0-9])(?P<secret>dapi[0-9a-f]{32}(?:-\d)?)(?![A-Za-z0-9])", _random
        ),
    ),
    Rule(KIND, WORD_PROBES, _assignments),
    Rule(  # --password …, and in words: the password is …
        KIND,
        SPOKEN_PROBES,
        _find(
            rf"(?:--[a-z-]{{0,32}}?{_FLAGS}[ =]|\b{_SAID} is:? )\\{{0,3}}[\"'`]?{_QUOTED}",
            _with_digit,
        ),
    ),
    Rule(  # a user and a password, as curl takes them
        KIND,
        (
            Probe("-u", rf"(?:(?<=[ \"'`]-u)|(?<=\\[nrt]-u)){_USER}"),
            Probe("-user", _USER),
        ),
        _find(
            r"(?:\A|(?<=[\s\"'`]))(?:-u|--user|--proxy-user)[ =]\\{0,3}[\"']?"
            rf"[\w.@-]{{1,64}}:{_QUOTED}",
            _random,
        ),
    ),
    Rule(  # the tools that take a password behind -p or -a
        KIND,
        (Probe(" -p", _OPERAND), Probe(" -a", _OPERAND)),
        _find(
            r"(?:sshpass|login|mysql\w*|mariadb\w*|redis-cli)\b(?: [^\s|;&]{1,64}){0,8}? -[pa] ?"
            rf"\\{{0,3}}[\"']?{_QUOTED}",
            _random,
        ),
    ),
    Rule(
        KIND,
        (Probe("-password-stdin"),),
        _find(
            r"(?:echo|printf) (?:-n )?\\{0,3}[\"']?(?P<secret>[!#-&(-;=?-\[\]-_a-~]{8,256})"
            r"\\{0,3}[\"']? ?\|[^\n|]{0,128}--password-stdin",
            _random,
        ),
    ),
    Rule(
        "netrc",
        SPOKEN_PROBES,
        _find(
            r"\blogin[ \t]\S{1,64}(?:\s|\\[nrt]){1,8}password[ \t]"
            rf"(?P<secret>{_IN_QUOTES}{{8,256}})",
            _with_digit,
        ),
    ),
    Rule(  # `auth` in a docker configuration: base64 of user:password
        "docker-auth",
        (
            Probe(
                "auth",
                rf"\\{{0,7}}[\"']{_SPACE}*+:{_SPACE}*+\\{{0,7}}[\"'][a-z0-9+/]{{12}}",
                fold=True,
            ),
        ),
        _find(
            rf"\bauth\\{{0,3}}[\"']{_GAP}:{_GAP}\\{{0,3}}[\"']"
            r"(?P<secret>[A-Za-z0-9+/]{12,}={0,2})",
            _random,
        ),
    ),
    Rule(
        "npm-token",
        (Probe(":_auth"), Probe(":_password")),
        _find(
            r":_(?:authToken|auth|password)[ =]{1,3}\\{0,3}[\"']?(?P<secret>[A-Za-z0-9+/=_-]{12,})",
            _random,
        ),
    ),
)

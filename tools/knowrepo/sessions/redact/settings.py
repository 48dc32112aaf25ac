"""Building the redactor that a user and a repository ask for.

Owns what each of them may say. The user's own configuration may loosen (patterns
that are never secrets) and add any pattern. A repository's `know.toml` came with
a clone: it may tighten, and name exact secrets to leave by their hash, which
`know check` reports; its patterns are of a form that cannot run away.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from knowrepo import __version__
from knowrepo.config import config_path, load_repository_config, load_user_config
from knowrepo.errors import KnowError
from knowrepo.sessions.redact.redactor import DEFAULT, DEFAULT_RULES, Redactor
from knowrepo.sessions.redact.rule import Probe, Rule, by_pattern
from knowrepo.tables import ExtraPattern, RedactConfig

_KIND = re.compile(r"[a-z][a-z0-9-]{0,31}")
# One part of a repository's pattern: a character, a class, and how often.
_PART = re.compile(
    r"(?:(?P<plain>[A-Za-z0-9_:/=@#%~-])|\\(?P<quoted>[.\-_/+$])|\\[dw]|\[[A-Za-z0-9_./+=-]+\])"
    r"(?P<count>\{(?P<least>\d{1,3})(?:,(?P<most>\d{1,3}))?\})?"
)
_LONGEST_PATTERN = 200
_SHORTEST_LEAD = 3
_MOST_REPEATS = 128


def redactor_for(root: Path) -> Redactor:
    """Return the redactor for the repository in ``root`` and this user."""
    return _built(load_user_config().redact, load_repository_config(root).redact, str(root))


def fingerprint(root: Path) -> str:
    """Return what changes whenever `redactor_for` may redact otherwise."""
    asked = (__version__, load_user_config().redact, load_repository_config(root).redact)
    return hashlib.sha256(repr(asked).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@functools.lru_cache(maxsize=8)
def _built(user: RedactConfig, repository: RedactConfig, where: str) -> Redactor:
    if user == repository == RedactConfig():
        return DEFAULT
    rules = [*DEFAULT_RULES, *_own_rules(user.extra), *_cloned_rules(repository.extra, where)]
    hashes = [*_hashes(user.allow), *_hashes(repository.allow)]
    return Redactor(
        rules,
        allowed=tuple(_patterns(entry for entry in user.allow if not entry.startswith("sha256:"))),
        allowed_hashes=frozenset(hashes),
        pseudonyms=user.pseudonyms or repository.pseudonyms,
    )


def _hashes(entries: Iterable[str]) -> Iterator[str]:
    return (entry.removeprefix("sha256:") for entry in entries if entry.startswith("sha256:"))


def _patterns(entries: Iterable[str]) -> Iterator[re.Pattern[str]]:
    return (_compiled(entry, "allow") for entry in entries)


def _compiled(pattern: str, key: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise KnowError(
            f"{config_path()}: redact.{key}: `{pattern}` is no regular expression: {error}"
        ) from error


def _own_rules(extra: Iterable[ExtraPattern]) -> Iterator[Rule]:
    for entry in extra:
        _compiled(entry.pattern, "extra")
        _check_kind(entry.kind, str(config_path()))
        # Nothing is known of what it needs, so every text is looked at.
        finder = by_pattern(entry.pattern, _not_empty, word=False, flags=0)
        yield Rule(entry.kind, (Probe(""),), finder)


def _cloned_rules(extra: Iterable[ExtraPattern], root: str) -> Iterator[Rule]:
    where = str(Path(root) / "know.toml")
    for entry in extra:
        _check_kind(entry.kind, where)
        lead = _lead_of(entry.pattern, where)
        finder = by_pattern(entry.pattern, _not_empty, word=False)
        yield Rule(entry.kind, (Probe(lead),), finder)


def _not_empty(match: re.Match[str]) -> bool:
    return match.end() > match.start()


def _check_kind(kind: str, where: str) -> None:
    if not _KIND.fullmatch(kind):
        raise KnowError(f"{where}: redact.extra: `{kind}`: a kind is small letters, digits, dashes")


def _lead_of(pattern: str, where: str) -> str:
    """Return the literal that a repository's pattern begins with; raises where it is not simple.

    A sequence of characters and classes of which one may vary in number takes
    a bounded time at each place, and its literal beginning spares most places.
    """
    position, lead, leads, varying = 0, "", True, 0
    while position < len(pattern) <= _LONGEST_PATTERN:
        part = _PART.match(pattern, position)
        if part is None or int(part["most"] or part["least"] or 0) > _MOST_REPEATS:
            break
        character = part["plain"] or part["quoted"]
        leads = leads and character is not None and part["count"] is None
        lead += character if leads and character else ""
        varying += part["most"] is not None
        position = part.end()
    if position < len(pattern) or len(lead) < _SHORTEST_LEAD or varying > 1:
        raise KnowError(
            f"{where}: redact.extra: `{pattern}` is not a pattern that a repository may bring",
            hint=(
                "begin with three plain characters; then characters, [classes], \\d or \\w, each"
                " with {n} or, once, {n,m} up to 128. Your own configuration may hold any pattern"
            ),
        )
    return lead

"""Telling at a glance that a short text holds no secret, without the rules.

Owns an answer for who cannot wait for the rules to be imported, which takes
longer than most recalls. It may say yes too often and never no wrongly; what it
does not clear is for the redactor. It imports nothing.
"""

from __future__ import annotations

_SHORTEST = 8  # characters of any secret, and of the word that it stands in
_CAPITALS = 12  # a word of capitals may be a key from here on (`AKC…`, `AKIA…`)
_EDGES = ".,;:!?\"'`()[]{}"

# Nearly each literal on which a rule turns (`redact.rule.Probe`) holds one of these, in small
# letters; a test holds that against the rules, and knows the others.
MARKS = (
    # what leads in a secret that has no form of its own
    "pass", "secret", "token", "key", "auth", "pwd=", "-user", "://", " -p", " -a", "&sig=",
    "sharedaccess", "/api/webhooks/", "hooks.slack.com",
    # what a token begins with
    ".eyj", ":aa", "abia", "acca", "aiza", "akc", "akia", "api_org_", "asia", "atatt3", "dckr_",
    "doo_v1_", "dop_v1_", "dor_v1_", "dp.", "eaaa", "figd_", "gho_", "ghp_", "ghr_", "ghs_",
    "ghu_", "github_pat_", "glagent-", "glc_", "glcbt-", "gldt-", "glft-", "glimt-", "gloas-",
    "glpat-", "glptt-", "glrt-", "glsa_", "glsoat-", "gocspx-", "gsk_", "hf_", "hrku-", "hvb.",
    "hvr.", "hvs.", "k_live_", "k_test_", "lin_api_", "lin_oauth_", "npm_", "nrak-", "ntn_",
    "nvapi-", "pmak-", "pplx-", "pul-", "pypi-", "r8_", "rubygems_", "sbp_", "sg.", "shpat_",
    "shpca_", "shppa_", "shpss_", "sk-", "sntrys_", "sntryu_", "sq0", "vck_", "vcp_", "whsec_",
    "xai-", "xapp-", "xox", "ya29.",
)  # fmt: skip
# Literals that are in many texts lead to a secret only in words as long as this.
_TWO_DOTS, _ACCOUNT, _VAULT = 47, 34, 24


def may_hold_secret(text: str) -> bool:
    """Say whether a text must be brought to the redactor; False means that no rule finds a thing.

    Patterns of a user's or a repository's own are not thought of.
    """
    odd = [word for word in text.split() if len(word) >= _SHORTEST and not _is_plain(word)]
    if not odd:
        return False
    lowered = text.lower()
    return any(mark in lowered for mark in MARKS) or _may_be_long(odd, text)


def _is_plain(word: str) -> bool:
    """Say whether a word is made of letters as prose has them: no rule takes it for a secret."""
    word = word.strip(_EDGES)
    if not word.isalpha():
        return not word or word.isdecimal()
    return word[1:].islower() or (word.isupper() and len(word) <= _CAPITALS)


def _may_be_long(odd: list[str], text: str) -> bool:
    """Say whether what turns on a literal of many texts (`.`, `AC`, `s.`) may be there."""
    longest = max(map(len, odd))
    if longest >= _TWO_DOTS and any(word.count(".") > 1 for word in odd):
        return True
    if longest >= _ACCOUNT and ("AC" in text or "-us" in text):
        return True
    if any(len(word.partition("s.")[2]) >= _VAULT for word in odd):
        return True
    return "-u " in text or "-u=" in text

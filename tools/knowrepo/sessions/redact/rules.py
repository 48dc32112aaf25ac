"""Our own rules: the form of each kind of credential that the library lacks or finds too widely.

Rules are specific on purpose. A rule names the form of one kind of credential,
because a rule that guesses by entropy takes git hashes, uuids and package
integrity hashes for secrets and damages the archive. Passwords without a form
are found by what stands beside them: see `names`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from knowrepo.sessions.redact import names
from knowrepo.sessions.redact.rule import (
    ALNUM_RUN,
    RUN,
    Accept,
    Probe,
    Rule,
    Span,
    begins_word,
    by_pattern,
    is_example,
    looks_random,
    no_example,
)


def form(
    kind: str,
    probes: Iterable[Probe],
    pattern: str,
    *,
    word: bool = True,
    accept: Accept = no_example,
) -> Rule:
    """Return a rule for what has a form of its own."""
    return Rule(kind, tuple(probes), by_pattern(pattern, accept, word=word))


def _p(*literals: str, tail: str = RUN) -> list[Probe]:
    return [Probe(literal, tail) for literal in literals]


def _is_password(match: re.Match[str]) -> bool:
    """Tell a password in a URL from the words that documentation and defaults put there."""
    value, user = match["secret"], match["user"]
    if value.startswith(("$", "<", "{", "%(", "[", "*")) or "{{" in value or value == user:
        return False
    words = {"password", "pass", "passwd", "secret", "token", "pwd", "pw", "user", "root", "admin"}
    words |= {"postgres", "mysql", "mongo", "redis", "guest", "test", "example", "changeme", "xxx"}
    words |= {"dbpass", "mypassword", "foo", "bar", "1234", "12345", "123456", "anonymous", "key"}
    return value.lower() not in words and re.fullmatch(r"[\d.]{1,5}|[x*.•]+", value) is None


def _is_random(match: re.Match[str]) -> bool:
    return looks_random(match["secret"])


_ALNUM = "[A-Za-z0-9]"
_URLSAFE = "[A-Za-z0-9_-]"
_CLAIMS = re.compile(r"\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]{8,}+)?")


def _jwts(text: str) -> Iterator[Span]:
    """Find `header.claims.signature` by the dot before the claims.

    From there the header is one run to the left, so that a long run of `eyJ` is
    read once, and not from each of its beginnings.
    """
    done = 0
    for claims in _CLAIMS.finditer(text):
        start = at = claims.start()
        if at < done:
            continue
        while start > done and (text[start - 1].isalnum() or text[start - 1] in "_-"):
            start -= 1
        head = next(
            (
                m.start()
                for m in re.finditer("eyJ", text[start:at])
                if m.start() == 0 or begins_word(text, start + m.start())
            ),
            None,
        )
        if head is not None and at - start - head >= 12:
            yield start + head, claims.end()
            done = claims.end()


RULES: tuple[Rule, ...] = (
    form("anthropic-key", _p("sk-ant-"), rf"sk-ant-{_URLSAFE}{{20,}}"),
    form("openrouter-key", _p("sk-or-"), rf"sk-or-v\d-{_ALNUM}{{32,}}"),
    form(
        "openai-key",
        _p("sk-", "sk-proj-", "sk-svcacct-", "sk-admin-"),
        rf"sk-(?:(?:proj|svcacct|admin)-{_URLSAFE}{{20,}}"
        rf"|{_ALNUM}{{20}}T3BlbkFJ{_ALNUM}{{20,}}|{_ALNUM}{{48,}})",
    ),
    form("github-token", _p("github_pat_", tail=ALNUM_RUN), r"github_pat_\w{22,255}"),
    form(
        "github-token",
        _p("ghp_", "gho_", "ghu_", "ghs_", "ghr_", tail=ALNUM_RUN),
        rf"gh[pousr]_{_ALNUM}{{36,255}}",
    ),
    form(
        "slack-token",
        _p("xapp-", "xoxp-", "xoxb-"),
        r"(?:xapp-\d-|xoxe\.xox[bp]-\d-)[A-Za-z0-9-]{20,}",
    ),
    form(
        "slack-token",
        _p("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"),
        r"xox[abeoprs]-[A-Za-z0-9-]{16,}",
    ),
    form(
        "slack-webhook",
        [Probe("hooks.slack.com", fold=True)],
        r"hooks\.slack\.com\\*/services\\*/(?P<secret>T\w+\\*/B\w+\\*/[A-Za-z0-9_]{20,})",
        accept=lambda m: not is_example(m["secret"]) and len(set(m["secret"][-20:])) > 6,
    ),
    form(
        "discord-webhook",
        [Probe("/api/webhooks/", fold=True)],
        rf"discord(?:app)?\.com/api/webhooks/\d{{6,24}}/(?P<secret>{_URLSAFE}{{30,}})",
    ),
    form("google-key", _p("AIza", tail=""), r"AIza[0-9A-Za-z_-]{35,64}"),
    form("google-token", _p("ya29.", tail=""), r"ya29\.[0-9A-Za-z_.-]{30,}"),
    form("google-secret", _p("GOCSPX-"), rf"GOCSPX-{_URLSAFE}{{20,}}"),
    form(
        "azure-key",
        _p("SharedAccessKey=", "SharedAccessSignature=", "&sig=", tail=""),
        r"(?:SharedAccessKey|SharedAccessSignature|(?<=&)sig)=(?P<secret>[A-Za-z0-9+/%=]{30,200})",
    ),
    form(
        "stripe-key",
        _p("k_live_", "k_test_", tail=ALNUM_RUN),
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    ),
    form("stripe-key", _p("whsec_", tail=""), r"whsec_[A-Za-z0-9+/=]{24,}"),
    form("npm-token", _p("npm_", tail=ALNUM_RUN), rf"npm_{_ALNUM}{{36,}}"),
    form(
        "huggingface-token",
        _p("hf_", "api_org_", tail=ALNUM_RUN),
        rf"(?:hf_|api_org_){_ALNUM}{{34,}}",
    ),
    form("groq-key", _p("gsk_", tail=ALNUM_RUN), rf"gsk_{_ALNUM}{{48,}}"),
    form("xai-key", _p("xai-"), rf"xai-{_ALNUM}{{70,}}"),
    form("perplexity-key", _p("pplx-"), rf"pplx-{_ALNUM}{{40,}}"),
    form("replicate-token", _p("r8_", tail=ALNUM_RUN), rf"r8_{_ALNUM}{{37,}}"),
    form("nvidia-key", _p("nvapi-"), rf"nvapi-{_URLSAFE}{{60,}}"),
    form("mailgun-key", _p("key-"), r"key-[0-9a-f]{32}"),
    form("twilio-key", names.WORD_PROBES, r"SK[0-9a-f]{32}(?![0-9a-f])"),
    form(  # the library finds the account; this is what opens it
        "twilio-key",
        _p("AC", tail="[0-9a-f]{32}"),
        r"AC[0-9a-f]{32}\\{0,3}[\"']?[,:][ \t]{0,4}\\{0,3}[\"']?"
        r"(?P<secret>[0-9a-f]{32})(?![0-9a-f])",
    ),
    form(
        "digitalocean-token",
        _p("dop_v1_", "doo_v1_", "dor_v1_", tail=ALNUM_RUN),
        r"do[opr]_v1_[0-9a-f]{64}",
    ),
    form("heroku-key", _p("HRKU-"), rf"HRKU-{_URLSAFE}{{36,}}"),
    form(
        "square-token",
        _p("EAAA", tail="(?<![A-Za-z0-9+/]EAAA)[A-Za-z0-9_-]{56}"),
        rf"(?<![A-Za-z0-9+/])EAAA{_URLSAFE}{{56,64}}(?![A-Za-z0-9+/_-])",
    ),
    form(
        "square-token",
        _p("sq0atp-", "sq0csp-", "sq0idp-"),
        rf"sq0(?:atp|idp|csp)-{_URLSAFE}{{22,43}}",
    ),
    form(
        "shopify-token",
        _p("shpat_", "shpca_", "shppa_", "shpss_", tail=ALNUM_RUN),
        r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,}",
    ),
    form("vault-token", _p("hvs.", "hvb.", "hvr."), rf"hv[sbr]\.{_URLSAFE}{{24,}}"),
    form(
        "vault-token",
        _p("s.", tail="(?<![A-Za-z0-9_]s[.])[A-Za-z0-9]{24}(?![A-Za-z0-9])"),
        r"(?i:token)\\*[\"']?[ \t]{0,4}[:=][ \t\"']{0,4}"
        rf"(?P<secret>s\.{_ALNUM}{{24}})(?![A-Za-z0-9])",
        word=False,
    ),
    form(
        "doppler-token",
        _p("dp.", tail="(?:pt|st|ct|sa|scim|audit)[.]"),
        rf"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?{_ALNUM}{{40,44}}",
    ),
    form(
        "linear-key",
        _p("lin_api_", "lin_oauth_", tail=ALNUM_RUN),
        rf"lin_(?:api|oauth)_{_ALNUM}{{32,}}",
    ),
    form("notion-token", _p("ntn_", tail=ALNUM_RUN), rf"ntn_{_ALNUM}{{40,}}"),
    form(
        "notion-token",
        _p("secret_", tail=ALNUM_RUN),
        rf"secret_{_ALNUM}{{43}}(?![A-Za-z0-9_])",
    ),
    form("figma-token", _p("figd_", tail=""), rf"figd_{_URLSAFE}{{38,}}"),
    form("supabase-key", _p("sbp_", tail=""), r"sbp_(?:oauth_|v\d_)?[0-9a-f]{40}"),
    form("supabase-key", _p("sb_secret_", tail=""), rf"sb_secret_{_URLSAFE}{{20,}}"),
    form("vercel-token", _p("vcp_", "vck_", tail=ALNUM_RUN), rf"vc[pk]_{_ALNUM}{{24,}}"),
    form("grafana-token", _p("glsa_", tail=ALNUM_RUN), rf"glsa_{_ALNUM}{{32}}_[0-9a-fA-F]{{8}}"),
    form("grafana-token", _p("glc_", tail=""), r"glc_[A-Za-z0-9+/]{32,}={0,2}"),
    form(
        "docker-token",
        _p("dckr_pat_", "dckr_oat_", tail=""),
        rf"dckr_(?:pat|oat)_{_URLSAFE}{{27,}}",
    ),
    form("sentry-token", _p("sntrys_", "sntryu_", tail=""), r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    form("postman-key", _p("PMAK-"), r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    form("atlassian-token", _p("ATATT3", tail=""), r"ATATT3[A-Za-z0-9_\-=]{60,}"),
    form("newrelic-key", _p("NRAK-"), r"NRAK-[A-Z0-9]{27}"),
    form("pulumi-token", _p("pul-"), r"pul-[0-9a-f]{40}"),
    form("rubygems-key", _p("rubygems_", tail=ALNUM_RUN), r"rubygems_[0-9a-f]{48}"),
    form("tailscale-key", _p("tskey-"), rf"tskey-[a-z]+-{_ALNUM}+-{_ALNUM}{{20,}}"),
    form("age-key", _p("AGE-SECRET-KEY-", tail=RUN), r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Rule("jwt", tuple(_p(".eyJ", tail="")), _jwts),
    form(
        "url-password",
        [Probe("://", r"[^\s/:@\"'`<>]{0,128}:[^\s/\"'`<>]{3}", needs="@")],
        r"://(?P<user>[^\s/:@\"'`<>\[]{0,128}):(?P<secret>[^\s/\"'`<>\\]{3,256})@(?=[\w\[])",
        word=False,
        accept=_is_password,
    ),
    form(
        "authorization",
        [
            Probe("auth", r"orization\\{0,7}[\"']?[ \t]{0,4}[:=]", fold=True),
        ],
        r"(?i:(?:authorization\\*[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\*[\"']?"
        r"(?:bearer|basic|token|apikey|digest)))(?:[ \t]{1,4}|%20|\+)"
        r"(?P<secret>[A-Za-z0-9._~+/=-]{16,})",
        word=False,
        accept=_is_random,
    ),
)

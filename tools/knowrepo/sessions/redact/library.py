"""Rules whose patterns the detect-secrets package maintains.

Owns which of its plugins are used, as what kind, and what must stand in a text
before one is asked. Only the plugins' compiled patterns are taken: the
package's scanner runs at half a megabyte a second. The package is imported when
a text first passes a probe, since it brings an HTTP client that nothing else
here wants. Left out are the plugins that go by entropy or by names, and those
whose patterns take more than a linear time or take documentation for secrets
(basic auth, JWT, private key, OpenAI, npm).
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from knowrepo.errors import KnowError
from knowrepo.sessions.redact.rule import RUN, Probe, Rule, Span, begins_word, is_example


@dataclass(frozen=True)
class Plugin:
    """A plugin of the package: its module and class, and the kind that we call it.

    With ``longer`` a token may have grown since the pattern was written, and goes
    to its end; without, what is longer than the pattern is something else.
    ``after`` may stand right before a token, where else only a word may begin.
    Patterns that hold ``without`` are left out.
    """

    module: str
    detector: str
    kind: str
    probes: tuple[Probe, ...]
    longer: bool = False
    after: str = ""
    without: str = ""


def _p(*literals: str, tail: str = "") -> tuple[Probe, ...]:
    return tuple(Probe(literal, tail) for literal in literals)


PLUGINS: tuple[Plugin, ...] = (
    Plugin(
        "artifactory",
        "ArtifactoryDetector",
        "artifactory-token",
        _p("AKC", tail="(?<![A-Za-z0-9+/]AKC)[A-Za-z0-9]{10}"),
    ),
    Plugin(
        "aws",
        "AWSKeyDetector",
        "aws-key",
        _p("AKIA", "ASIA", "ABIA", "ACCA", tail="[0-9A-Z]{16}"),
        without="aws",
    ),
    Plugin("azure_storage_key", "AzureStorageKeyDetector", "azure-key", _p("AccountKey=")),
    Plugin(
        "discord",
        "DiscordBotTokenDetector",
        "discord-token",
        _p(".", tail=rf"(?={RUN})(?<=[A-Za-z0-9_-]{{23}}[.][A-Za-z0-9_-]{{6}}[.])"),
        longer=True,
    ),
    Plugin(
        "gitlab_token",
        "GitLabTokenDetector",
        "gitlab-token",
        _p(
            "glpat-",
            "gldt-",
            "glft-",
            "glsoat-",
            "glrt-",
            "glcbt-",
            "glimt-",
            "glptt-",
            "glagent-",
            "gloas-",
            tail=RUN,
        ),
        longer=True,
    ),
    Plugin("mailchimp", "MailchimpDetector", "mailchimp-key", _p("-us", tail=r"\d")),
    Plugin("pypi_token", "PypiTokenDetector", "pypi-token", _p("pypi-", tail=RUN), longer=True),
    Plugin(
        "sendgrid",
        "SendGridDetector",
        "sendgrid-key",
        _p("SG.", tail=RUN),
        longer=True,
    ),
    Plugin(
        "telegram_token",
        "TelegramBotTokenDetector",
        "telegram-token",
        _p(":AA", tail="[0-9A-Za-z_-]{33}"),
        after="bot",
    ),
    Plugin(
        "twilio",
        "TwilioKeyDetector",
        "twilio-key",
        _p("AC", tail="[a-z0-9]{32}"),
    ),
)


@functools.cache
def patterns_of(plugin: Plugin) -> tuple[re.Pattern[str], ...]:
    """Return a plugin's patterns; raises KnowError where the package is not as expected.

    To archive with fewer rules than the user relies on is worse than not to.
    """
    try:
        module = importlib.import_module(f"detect_secrets.plugins.{plugin.module}")
        patterns = getattr(module, plugin.detector).denylist
        return tuple(p for p in patterns if not plugin.without or plugin.without not in p.pattern)
    except (ImportError, AttributeError, TypeError) as error:
        raise KnowError(
            f"detect-secrets: its plugin {plugin.detector} cannot be used: {error}",
            hint="install what knowrepo asks for: pip install 'detect-secrets>=1.5,<1.6'",
        ) from error


_AROUND = ' \t\r\n=:"'
_MORE = re.compile("[A-Za-z0-9_-]")
_REST = re.compile("[A-Za-z0-9_-]*")


def _spans(plugin: Plugin) -> Callable[[str], Iterator[Span]]:
    def spans(text: str) -> Iterator[Span]:
        for pattern in patterns_of(plugin):
            last = 0  # right behind a secret another one may begin
            for match in pattern.finditer(text):
                form = match.group().strip(_AROUND)  # some patterns take in what stands around
                start = match.start() + match.group().index(form)
                end = start + len(form)
                if start < last or is_example(form):
                    continue
                # The patterns know no words: inside of base64 anything may stand.
                if start != last and not _begins(text, start, plugin.after):
                    continue
                if plugin.longer:
                    end = _REST.match(text, end).end()  # type: ignore[union-attr]
                elif _MORE.match(text, end):
                    continue
                last = end
                yield start, end

    return spans


def _begins(text: str, start: int, after: str) -> bool:
    return begins_word(text, start) or bool(after and text.endswith(after, 0, start))


RULES: tuple[Rule, ...] = tuple(
    Rule(plugin.kind, plugin.probes, _spans(plugin)) for plugin in PLUGINS
)

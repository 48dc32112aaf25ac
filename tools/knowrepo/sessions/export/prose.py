"""The Markdown that agents write, turned into HTML that can do no harm.

Owns the parser and which of its tags may come out. A transcript is hostile: no
attribute is ever written, HTML in it is text, and links and images stay as they
were typed, so that nothing on the page leads out of it or loads anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

LONGEST = 50_000
"""Characters of a message beyond which it is shown as it is: parsing would take too long."""

_LINKS_AND_HTML = ["link", "autolink", "image", "reference", "html_block", "html_inline"]


class _Renderer(RendererHTML):
    """Writes tags without attributes; headings are set below those of the page."""

    def renderAttrs(self, token: Token) -> str:  # type: ignore[override] # noqa: ARG002, N802
        return ""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return self.code_block(tokens, idx, options, env)

    def heading_open(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,  # noqa: ARG002
        env: EnvType,  # noqa: ARG002
    ) -> str:
        return f"<{_lower(tokens[idx].tag)}>"

    def heading_close(
        self,
        tokens: Sequence[Token],
        idx: int,
        options: OptionsDict,  # noqa: ARG002
        env: EnvType,  # noqa: ARG002
    ) -> str:
        return f"</{_lower(tokens[idx].tag)}>\n"


def _lower(tag: str) -> str:
    return "h5" if tag in {"h1", "h2"} else "h6"


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer)
    return parser.enable(["table", "strikethrough"]).disable(_LINKS_AND_HTML)


def to_html(text: str) -> str:
    """Return Markdown as HTML elements without attributes; overlong text as it is."""
    if len(text) > LONGEST:
        return f"<pre>{escape(text)}</pre>\n"
    try:
        rendered: str = _parser().render(text)
    except RecursionError:
        return f"<pre>{escape(text)}</pre>\n"
    return rendered

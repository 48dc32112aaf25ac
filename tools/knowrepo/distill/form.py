"""The form of an answer: its keys and limits, as a JSON schema and as a grammar.

Owns what an answer may look like, said twice: the schema is told to a model, the
grammar holds a local one to it. `answer` checks what came back by the same
limits, whoever answered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

KINDS = ("decision", "rejection", "cause", "fix", "preference", "correction")
MOST_ENTRIES = 12
MOST_EVIDENCE = 3
# Characters, from and to.
TITLE = (12, 100)
DESCRIPTION = (20, 240)
MECHANISM = (0, 400)
QUOTE = (12, 300)


def schema() -> str:
    """Return the form as a JSON schema on one line."""
    quote = _object(record={"type": "string"}, quote=_text(QUOTE))
    entry = _object(
        kind={"enum": list(KINDS)},
        evidence={"type": "array", "minItems": 1, "maxItems": MOST_EVIDENCE, "items": quote},
        title=_text(TITLE),
        description=_text(DESCRIPTION),
        mechanism=_text(MECHANISM),
    )
    entries = {"type": "array", "maxItems": MOST_ENTRIES, "items": entry}
    return json.dumps(_object(entries=entries), separators=(",", ":"))


def grammar(labels: Iterable[str], *, entries: int = MOST_ENTRIES) -> str:
    """Return the form as llama.cpp's GBNF; ``labels`` are the records that can be cited."""
    records = " | ".join(f'"{label}"' for label in labels)
    kinds = " | ".join(f'"{kind}"' for kind in KINDS)
    more = f"{{0,{entries - 1}}}"
    return "\n".join(
        (
            rf'root ::= "{{\"entries\":[" (entry ("," entry){more})? "]}}"',
            r'entry ::= "{\"kind\":\"" kind "\",\"evidence\":[" quotes "],\"title\":" title'
            r' ",\"description\":" description ",\"mechanism\":" mechanism "}"',
            f'quotes ::= quoted ("," quoted){{0,{MOST_EVIDENCE - 1}}}',
            r'quoted ::= "{\"record\":\"" record "\",\"quote\":" quote "}"',
            f"kind ::= {kinds}",
            f"record ::= {records}",
            _rule("title", TITLE),
            _rule("description", DESCRIPTION),
            _rule("mechanism", MECHANISM),
            _rule("quote", QUOTE),
            r'char ::= [^"\\\x00-\x1F\x7F] | "\\" ["\\]',
        )
    )


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _text(limits: tuple[int, int]) -> dict[str, Any]:
    least, most = limits
    return {"type": "string", "minLength": least, "maxLength": most}


def _rule(name: str, limits: tuple[int, int]) -> str:
    least, most = limits
    return rf'{name} ::= "\"" char{{{least},{most}}} "\""'

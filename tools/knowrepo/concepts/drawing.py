"""A graph as text that others draw: Mermaid, DOT, or JSON.

Owns the escaping of each format. A title is anybody's text, and must show as it
is, whatever it is made of: it ends no label, begins no statement and is no markup.
Ids of nodes follow from the concepts', so that one concept more changes one line.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from knowrepo.concepts.graph import Graph, Node
from knowrepo.units import shorten

MOST_NODES = 150
"""A drawing of more concepts is a thicket."""
MOST_EDGES = 500
"""What Mermaid draws at most unless it is configured; so do hosts that show it."""
MOST_CHARACTERS = 50_000
"""The same for the length of its text."""

_LONGEST_LABEL = 80
# Beside letters, digits and spaces, what means nothing to Mermaid inside quotes.
_PLAIN_IN_MERMAID = frozenset(" .,'/+-!?")
_LIST = re.compile(r"\d+[.)]|[-+]")  # with which its Markdown begins a list
_MERMAID_EDGES = {
    "link": "-->",
    "superseded_by": "-. superseded by .->",
    "source": "-. source .->",
}
_DOT_EDGES = {
    "link": "",
    "superseded_by": ' [style=dashed, label="superseded by"]',
    "source": ' [style=dotted, label="source"]',
}


def mermaid(graph: Graph) -> str:
    """Return a graph as a Mermaid flowchart."""
    return "\n".join(_mermaid(graph))


def _mermaid(graph: Graph) -> Iterator[str]:
    yield "flowchart LR"
    for node in graph.nodes:
        deprecated = ":::deprecated" if node.status == "deprecated" else ""
        yield f'    {_mermaid_id(node.id)}["{_mermaid_text(_label(node))}"]{deprecated}'
    for edge in graph.edges:
        arrow = _MERMAID_EDGES[edge.kind]
        yield f"    {_mermaid_id(edge.origin)} {arrow} {_mermaid_id(edge.target)}"
    if any(node.status == "deprecated" for node in graph.nodes):
        yield "    classDef deprecated stroke-dasharray: 4 4"


def _mermaid_id(concept: str) -> str:
    return f"n{hashlib.sha256(concept.encode()).hexdigest()[:10]}"


def _mermaid_text(text: str) -> str:
    """Return a label in which all that could mean something is spelled as a character's number."""
    begun = _LIST.match(text)
    mark = begun.end() - 1 if begun else -1
    return "".join(
        c if c.isalnum() or (c in _PLAIN_IN_MERMAID and n != mark) else f"#{ord(c)};"
        for n, c in enumerate(text)
    )


def dot(graph: Graph) -> str:
    """Return a graph in the language of Graphviz."""
    return "\n".join(_dot(graph))


def _dot(graph: Graph) -> Iterator[str]:
    yield "digraph concepts {"
    yield "    rankdir=LR;"
    yield "    node [shape=box];"
    for node in graph.nodes:
        dashed = ", style=dashed" if node.status == "deprecated" else ""
        yield f"    {_dot_id(node.id)} [label={_dot_label(_label(node))}{dashed}];"
    for edge in graph.edges:
        yield f"    {_dot_id(edge.origin)} -> {_dot_id(edge.target)}{_DOT_EDGES[edge.kind]};"
    yield "}"


def _dot_id(concept: str) -> str:
    """Return an id in quotes, in which a backslash is one unless a quote follows."""
    return '"' + concept.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _dot_label(text: str) -> str:
    """Return a label, in which `\\N` and `&lt;` would mean something."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") + '"'


def as_json(graph: Graph) -> dict[str, object]:
    """Return a graph as JSON has it."""
    return {
        "version": 1,
        "concepts": [
            {
                "id": node.id,
                "type": node.type,
                "title": node.title,
                "tags": list(node.tags),
                "status": node.status,
            }
            for node in graph.nodes
        ],
        "links": [
            {"from": edge.origin, "to": edge.target, "kind": edge.kind} for edge in graph.edges
        ],
    }


def _label(node: Node) -> str:
    return shorten(node.title, _LONGEST_LABEL) or node.id

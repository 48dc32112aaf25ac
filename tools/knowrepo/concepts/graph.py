"""The graph of a bundle: concepts, and what leads from one to another.

Owns which links there are (links of the body, what a concept is superseded by,
sources that are concepts) and how a part of the graph is chosen. A link that
leads to no concept is no part of it: that it is broken is `check`'s business.
How a graph is written is `drawing`'s.
"""

from __future__ import annotations

import gc
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from knowrepo.concepts.document import Document, parse
from knowrepo.concepts.markdown import links
from knowrepo.concepts.model import FOLDER, concept_id, from_document, is_concept_path
from knowrepo.errors import KnowError

Kind = Literal["link", "superseded_by", "source"]
# A link's target, or a reference's; empty where it stands in `<>` or behind a quotation's mark.
_LOOKS_LINKED = re.compile(r"\](?:\(|:)\s*([^\s<>]*)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, order=True)
class Node:
    """A concept of the graph."""

    id: str
    type: str
    title: str
    tags: tuple[str, ...]
    status: str


@dataclass(frozen=True, order=True)
class Edge:
    """A link from one concept to another, both by id."""

    origin: str
    target: str
    kind: Kind


@dataclass(frozen=True)
class Graph:
    """Concepts and the links between them, each sorted."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def only(self, wanted: Callable[[Node], bool]) -> Graph:
        """Return the part of the graph whose concepts are wanted."""
        nodes = tuple(node for node in self.nodes if wanted(node))
        ids = {node.id for node in nodes}
        edges = (edge for edge in self.edges if edge.origin in ids and edge.target in ids)
        return Graph(nodes, tuple(edges))

    def linked(self) -> Graph:
        """Return the graph without the concepts that no link touches."""
        ids = {name for edge in self.edges for name in (edge.origin, edge.target)}
        return self.only(lambda node: node.id in ids)

    def around(self, concept: str, depth: int) -> Graph:
        """Return what is at most ``depth`` links from a concept, in either direction."""
        beside: dict[str, set[str]] = defaultdict(set)
        for edge in self.edges:
            beside[edge.origin].add(edge.target)
            beside[edge.target].add(edge.origin)
        reached, last = {concept}, {concept}
        for _ in range(depth):
            last = {name for one in last for name in beside[one]} - reached
            if not last:
                break
            reached |= last
        return self.only(lambda node: node.id in reached)

    def find(self, named: str) -> str:
        """Return the id of the concept that a path, id or title names, or raise KnowError."""
        ids = {node.id for node in self.nodes}
        name = posixpath.normpath(named.replace("\\", "/"))
        whole = concept_id(name)
        if whole in ids:
            return whole
        title = named.casefold()
        ends = sorted(
            node.id
            for node in self.nodes
            if node.id.endswith(f"/{whole}") or node.title.casefold() == title
        )
        if len(ends) == 1:
            return ends[0]
        hint = f"it may be {', '.join(ends[:5])}" if ends else "name it by path, id or title"
        raise KnowError(f"--from {named}: no such concept", hint=hint)


def build(
    files: Mapping[str, bytes], tell: Callable[[int, int], None] = lambda _done, _total: None
) -> Graph:
    """Return the graph of a bundle's files, by path relative to the repository.

    ``tell`` is told how many of how many concepts are read.
    """
    with _little_garbage():
        return _build(files, tell)


@contextmanager
def _little_garbage() -> Iterator[None]:
    """Look for garbage less often: a parse makes thousands of tokens that all go at once."""
    before = gc.get_threshold()
    gc.set_threshold(50_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _build(files: Mapping[str, bytes], tell: Callable[[int, int], None]) -> Graph:
    paths = sorted(path for path in files if is_concept_path(path))
    ids = {concept_id(path) for path in paths}
    nodes: list[Node] = []
    edges: set[Edge] = set()
    for done, path in enumerate(paths, start=1):
        tell(done, len(paths))
        document = parse(files[path])
        concept = from_document(path, document)
        nodes.append(Node(concept.id, concept.type, concept.title, concept.tags, concept.status))
        for kind, target in _targets(document, path, ids):
            to = _resolve(path, target, ids)
            if to and to != concept.id:
                edges.add(Edge(concept.id, to, kind))
    return Graph(tuple(nodes), tuple(sorted(edges)))


def _targets(document: Document, path: str, ids: Collection[str]) -> Iterator[tuple[Kind, str]]:
    """Yield what a document names as another file, of its body and of its front matter."""
    if _may_lead(document.body, path, ids):
        yield from (("link", link.target) for link in links(document.body))
    superseded = document.front.get("superseded_by")
    if isinstance(superseded, str):
        yield "superseded_by", superseded
    sources = document.front.get("sources")
    for source in sources if isinstance(sources, list) else ():
        resource = source.get("resource") if isinstance(source, dict) else None
        if isinstance(resource, str):
            yield "source", resource


def _may_lead(body: str, path: str, ids: Collection[str]) -> bool:
    """Say whether a body may have a link to a concept; most of a graph's time is parsing.

    What looks like a link need not be one. What is one looks so: where the text
    does not show plainly what it leads to, it may.
    """
    for match in _LOOKS_LINKED.finditer(body):
        target = match[1]
        if not target or any(sign in target for sign in "\\&("):
            return True
        if _resolve(path, target.partition(")")[0], ids):
            return True
    return False


def _resolve(path: str, target: str, ids: Collection[str]) -> str:
    """Return the id of the concept that ``target`` leads to from the file at ``path``; '' for none.

    A path counts from the file, else from the bundle, else from the repository;
    it may lack `.md`.
    """
    plain = unquote(target.strip().partition("#")[0].partition("?")[0])
    if not plain or plain.startswith("//") or _SCHEME.match(plain):
        return ""
    bases = (FOLDER, "") if plain.startswith("/") else (posixpath.dirname(path), FOLDER, "")
    for base in bases:
        full = posixpath.normpath(posixpath.join(base, plain.lstrip("/")))
        if full.startswith(f"{FOLDER}/") and concept_id(full) in ids:
            return concept_id(full)
    return ""

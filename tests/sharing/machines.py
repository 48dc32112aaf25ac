"""Clones of one bare remote, each of them a machine with the embedder of words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from embedding_driver import MODEL
from helpers import Result, WordEmbedder, concept, git, jsonl, make_repository, user, write
from knowrepo.cli.main import main
from knowrepo.git.layout import Repository, repository_at
from knowrepo.index import embed, models
from knowrepo.index.catalog import Catalog
from knowrepo.index.chunk import text_hash
from knowrepo.index.embed import Passage
from knowrepo.index.vectors import Packed, VectorStore
from knowrepo.index.vectors.packed import hexes
from knowrepo.sharing import objects
from knowrepo.sharing.known import Known

FINGERPRINT = embed.fingerprint(MODEL)
REFS = f"refs/know/vectors/{FINGERPRINT}"


class Machine:
    """A clone; ``know`` runs a command in it and returns what it printed."""

    def __init__(self, folder: Path, run: Callable[..., Result]) -> None:
        self.repository: Repository = repository_at(folder.resolve())
        self.root = self.repository.root
        self._run = run

    def know(self, *arguments: str) -> Result:
        return self._run(*arguments, "--repo", str(self.root))

    def done(self, *arguments: str) -> Result:
        """Run a command that must succeed."""
        result = self.know(*arguments)
        assert result.code == 0, result
        return result

    @property
    def store(self) -> VectorStore:
        return VectorStore(self.repository.vectors, FINGERPRINT)

    def texts_in(self, ref: str) -> list[str]:
        """Return the texts of a pack that this machine knows, as its catalog has them."""
        found = Known(self.repository, FINGERPRINT).texts(ref.rpartition("/")[2])
        catalog = Catalog.open(self.repository.catalog)
        assert found is not None
        assert catalog is not None
        with catalog:
            return list(catalog.texts_with(hexes(found)).values())

    def concept(self, *names: str) -> None:
        for name in names:
            text = concept(name, body=f"about {name}")
            write(self.repository, f"concepts/{name}.md", text)
        git(self.root, "commit", "-qm", "concepts")

    def session(self, name: str, *texts: str) -> None:
        records = [user(text, number) for number, text in enumerate(texts, start=1)]
        content = jsonl(records).decode()
        write(self.repository, f"sessions/claude/{name}.jsonl", content)

    def share(self) -> None:
        """Push the branch, embed what is new, and push the vectors."""
        git(self.root, "push", "-q", "origin", "HEAD:main")
        self.done("index")
        self.done("sync", "push")


def cloned(remote: Path, folder: Path, run: Callable[..., Result], *options: str) -> Machine:
    git(remote.parent, "clone", "-q", *options, f"file://{remote}", str(folder))
    return Machine(folder, run)


def first(folder: Path, remote: Path, run: Callable[..., Result]) -> Machine:
    """Make the repository that others are cloned from, and its bare remote."""
    make_repository(folder)
    git(remote.parent, "init", "-q", "--bare", str(remote))
    git(folder, "remote", "add", "origin", f"file://{remote}")
    git(folder, "add", "know.toml")
    git(folder, "commit", "-qm", "begin")
    git(folder, "push", "-qu", "origin", "main")
    return Machine(folder, run)


def refs(remote: Path) -> list[str]:
    """The packs of a bare repository."""
    return git(remote, "for-each-ref", "--format=%(refname)", "refs/know").split()


def declining(remote: Path, unless: str = "false") -> None:
    """Have a bare repository decline the refs of packs, unless a shell command succeeds."""
    hook = remote / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f'#!/bin/sh\ncase "$1" in refs/know/*) {unless} || exit 1;; esac\nexit 0\n')
    hook.chmod(0o755)


def rows(*texts: str, parts: int = 1) -> Packed:
    """Vectors as the embedder of words makes them."""
    embedder = WordEmbedder(FINGERPRINT)
    names = sorted(np.frombuffer(b"".join(map(digest, texts)), "S16").tolist())
    vectors = [embedder.embed_passage(Passage(text))[0] for text in texts for _ in range(parts)]
    return Packed(
        np.repeat(np.array(names, "S16"), parts),
        np.tile(np.arange(parts, dtype=np.uint16), len(texts)),
        np.stack(vectors).astype(np.float16),
    )


def digest(text: str) -> bytes:
    return bytes.fromhex(text_hash(text))


def planted(machine: Machine, *some: bytes, name: str = "") -> None:
    """Put bytes on the remote as packs, by git alone."""
    made = [objects.write(machine.repository, FINGERPRINT, data) for data in some]
    refs = [replace(one, name=name) if name else one for one in made]
    git(machine.root, "push", "-q", "origin", *(f"{one.commit}:{one.ref}" for one in refs))


def commit(machine: Machine, tree: str, *parents: str, message: str = "x") -> str:
    """Make a commit that no ref names."""
    named = [part for parent in parents for part in ("-p", parent)]
    return git(machine.root, "commit-tree", tree, *named, "-m", message).strip()


def use_words(patch: Callable[..., None], embedder: WordEmbedder) -> None:
    """Have `know` embed with an embedder of words; ``patch`` is `monkeypatch.setattr`."""
    patch(models, "current", lambda: MODEL)
    patch(embed, "lacking", lambda _model: "")
    patch(embed, "open_embedder", lambda *_, **__: embedder)


if __name__ == "__main__":  # a machine's `know` in a process of its own
    use_words(setattr, WordEmbedder(FINGERPRINT))
    sys.exit(main(sys.argv[1:]))

"""`know index` with an embedder that needs no model, in a process of its own.

Run as `embedding_driver.py STOP`: at its text of that number the embedder says
`reached` and waits until its standard input ends, so that a test can end the
process exactly there. 0 is never.
"""

from __future__ import annotations

import sys
from pathlib import Path

from helpers import WordEmbedder
from knowrepo.cli import main
from knowrepo.index import embed, models

MODEL = models.Model("words", Path("/nowhere"), "words")


class Stopping(WordEmbedder):
    def __init__(self, stop: int) -> None:
        super().__init__(embed.fingerprint(MODEL))
        self._stop = stop

    def embed_passage(self, passage):
        if len(self.passages) + 1 == self._stop:
            sys.stdout.write("reached\n")
            sys.stdout.flush()
            sys.stdin.read()
        return super().embed_passage(passage)


if __name__ == "__main__":
    embedder = Stopping(int(sys.argv[1]))
    models.current = lambda: MODEL
    embed.lacking = lambda _model: ""
    embed.open_embedder = lambda *_, **__: embedder
    sys.exit(main.main(["index"]))

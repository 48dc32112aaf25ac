"""A process that recalls in a loop, and says how it went: `python -m knowrepo.bench.reader`.

It asks for what was indexed before the loop began, by words that stand in one session each,
so that it knows every answer. It ends when its standard input does.
"""

from __future__ import annotations

import json
import select
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any


def main(arguments: list[str]) -> int:
    """Recall until told to stop; ``arguments`` are a repository and how many words there are."""
    from knowrepo.bench.corpus import needle
    from knowrepo.bench.standin import StandIn
    from knowrepo.git.layout import repository_at
    from knowrepo.recall import route

    here, words = repository_at(Path(arguments[0])), int(arguments[1])
    embedder = StandIn()
    seconds: list[float] = []
    errors: list[str] = []
    wrong: list[str] = []
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for turn in count():
        if select.select([sys.stdin], [], [], 0)[0]:
            break
        word = needle(turn % words)
        started = time.perf_counter()
        try:
            hits = route.recall(here, word, embedder=embedder).hits
            if not any(word in f"{hit.title} {hit.summary}" for hit in hits):
                wrong.append(f"{word}: {len(hits)} hits, none of them its session")
        except Exception as error:  # whatever it is, a reader must not see it
            errors.append(f"{word}: {type(error).__name__}: {error}")
        seconds.append(time.perf_counter() - started)
    facts: dict[str, Any] = {"seconds": seconds, "errors": errors, "wrong": wrong}
    sys.stdout.write(json.dumps(facts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

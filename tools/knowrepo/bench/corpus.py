"""Generated sessions and texts: the same on every machine, from a small vocabulary.

Records are shaped as Claude Code writes them: a question, an answer that calls a tool, the
tool's output, an answer. Words repeat as words do, a few very often, and some are made up of
others as identifiers are.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SEED = 20260501
_WORDS = """
about above account add address after again agent all alone also answer any archive array as ask
at away back bad base batch be because before begin behind below best better between big bit blob
block body both branch break bridge bring broken budget buffer build burst but by byte cache call
can carry case catch cause chain change channel check child chunk clean clear client clock clone
close code column come commit common compare config copy core corner cost count cover crash create
cursor cut daemon dark data date day deep default delay delete deny depth detail did diff disk do
done door down draft draw drift drop dry dump each early edge edit either else empty end engine
enough enter error escape even event every exact exit expect fact fail fall false far fast fetch few
field file fill filter final find first fit fix flag flat flow flush follow for force fork form
format found frame free from front full gate gather get give glob go goal good grant graph group
grow guard guess half hand handle hang hash have head heap help here hidden hold hook host hour how
idle if image import in index inner input inside into issue item job join jump just keep kernel key
kind know lag large last late layer lead leak learn leave left less letter level library light like
limit line link list live load local lock log long look loop lost low main make map mark mask match
may mean measure memory merge message method middle might minute mirror miss mode model module more
most move much must name narrow near need never new next no node none not note now number object of
off offset often old on once one only open option or order other our out output over own pack page
parse part pass patch path pattern pause peer pipe place plan point pool port prefix print process
""".split()
_SECONDS_A_RECORD = 40


class Corpus:
    """Generates texts from a seed; what comes of one call depends on those before it."""

    def __init__(self, seed: int = SEED) -> None:
        self._random = random.Random(seed)
        # A few words are very frequent, as in any language.
        self._weights = [1 / (rank + 3) for rank in range(len(_WORDS))]
        self._order = self._random.sample(_WORDS, len(_WORDS))

    def words(self, count: int) -> str:
        """Return prose of ``count`` words."""
        chosen = self._random.choices(self._order, self._weights, k=count)
        for index in range(7, count, 23):  # now and then an identifier, or a number
            chosen[index] = f"{chosen[index]}_{chosen[index - 1]}"
        for index in range(11, count, 37):
            chosen[index] = str(self._random.randrange(10_000))
        for index in range(13, count, 14):
            chosen[index] += "."
        return " ".join(chosen)

    def common(self, count: int) -> list[str]:
        """Return the words that come most often."""
        return self._order[:count]

    def texts(self, count: int, words: int = 190) -> list[str]:
        """Return texts as long as a full chunk."""
        return [self.words(words) for _ in range(count)]

    def records(
        self, count: int, *, session: str, first: int = 0, marker: str = ""
    ) -> Iterator[dict[str, Any]]:
        """Yield a session's records from number ``first`` on; ``marker`` is asked at first."""
        before = None
        for number in range(first, first + count):
            own = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
            day, second = divmod(number * _SECONDS_A_RECORD, 86_400)
            stamp = f"2026-05-{1 + day % 28:02d}T{second // 3600:02d}:{second // 60 % 60:02d}"
            yield {
                "parentUuid": before,
                "isSidechain": False,
                "userType": "external",
                "cwd": "/home/dev/app",
                "sessionId": session,
                "version": "2.1.200",
                "gitBranch": "main",
                "uuid": own,
                "timestamp": f"{stamp}:{second % 60:02d}.000Z",
                **self._said(number, marker if number == first else ""),
            }
            before = own

    def _said(self, number: int, marker: str) -> dict[str, Any]:
        call = f"toolu_{number // 4:08d}"
        if number % 4 == 0:
            return _message("user", f"{marker} {self.words(30)}".strip())
        if number % 4 == 2:
            output = self.words(120)
            block = {"type": "tool_result", "tool_use_id": call, "content": output}
            return {**_message("user", [block]), "toolUseResult": {"stdout": output, "stderr": ""}}
        blocks: list[dict[str, Any]] = [{"type": "text", "text": self.words(50)}]
        if number % 4 == 1:
            given = {"command": f"pytest -q tests/{self.words(1)}"}
            blocks.append({"type": "tool_use", "id": call, "name": "Bash", "input": given})
        usage = {"input_tokens": 100, "output_tokens": 50}
        record = _message("assistant", blocks)
        record["message"] |= {"id": f"msg_{number:08d}", "model": "model", "usage": usage}
        return record

    def write_sessions(
        self, folder: Path, count: int, records: int, *, start: int = 0, marked: bool = False
    ) -> list[Path]:
        """Write sessions into ``folder``; returns their files.

        With ``marked`` each begins with a word that stands nowhere else, its `needle`.
        """
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for number in range(start, start + count):
            name = str(uuid.UUID(int=(SEED << 64) + number, version=4))
            path = folder / f"{name}.jsonl"
            asked = needle(number) if marked else ""
            with path.open("w", encoding="utf-8") as stream:
                for record in self.records(records, session=name, marker=asked):
                    stream.write(as_line(record))
            paths.append(path)
        return paths


def needle(number: int) -> str:
    """Return the word of a session's number, which no analyser cuts or stems."""
    letters = "".join("bcdfghklmn"[int(digit)] for digit in str(number))
    return f"quokka{letters}"


def as_line(record: dict[str, Any]) -> str:
    """Return a record as an agent writes it."""
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"


def _message(role: str, content: object) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "content": content}}

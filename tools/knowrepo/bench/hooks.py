"""What a commit waits for: the stage before it, in a repository of thousands of concepts.

Owns a generated repository, what is staged in it, and the turns: the process of ours alone
and, where pre-commit is installed, `pre-commit run` with it and with a hook that does
nothing. Before each run everything is forgotten but what was found for the commit before:
a person's next commit has another state, but the facts of the former one.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from knowrepo.bench.corpus import Corpus, needle
from knowrepo.bench.measured import Measured
from knowrepo.bench.place import Place, Spent, in_process, in_turn, middle, prepared, ratio
from knowrepo.concepts import bundle
from knowrepo.git.layout import Repository

SECONDS = 1.0
_OURS = ("-m", "knowrepo", "hook", "pre-commit")
_BEFORE = "know-before"  # what is known at the first commit
_FOLDER = 125  # concepts in a folder: enough for an index of its own
_TYPES = ("Decision", "Failure", "Procedure", "Convention")
_RECORDS = 4  # of a session in the repository: a commit looks at none but those that it brings


@dataclass(frozen=True)
class Amounts:
    """How much there is, and how much of it a commit changes; ``rounds`` are the turns."""

    concepts: int = 5000
    sessions: int = 1600
    changed: int = 20
    records: int = 4000  # of the session that a commit brings: 5 MB
    rounds: int = 9


FULL = Amounts()
QUICK = Amounts(concepts=400, sessions=100, records=400, rounds=3)


def measure(amounts: Amounts, say: Callable[[str], None] = lambda _: None) -> Iterator[Measured]:
    """Stage each kind of commit in turn, and measure what it waits for."""
    with_runner = find_spec("pre_commit") is not None
    if not with_runner:
        say("pre-commit is not installed here: our process is measured alone")
    with prepared() as place:
        say(f"making {amounts.concepts:,} concepts and {amounts.sessions:,} sessions")
        here = _repository(place, amounts)
        changes: dict[str, Callable[[], None]] = {
            f"{amounts.changed} concepts": partial(_change, here, amounts.changed),
            "one concept": partial(_change, here, 1),
            "code alone": partial(_write, here.root / "app.py", "print('hello')\n"),
            "a session": partial(_bring, here, amounts),
        }
        works = _works(place, here, with_runner=with_runner)
        for kind, change in changes.items():
            say(f"measuring: {kind}")
            change()
            _stage(here)
            yield _measured(kind, works, amounts)
            _git(here, "reset", "-q", "--hard")


def _measured(kind: str, works: Mapping[str, Callable[[], Spent]], amounts: Amounts) -> Measured:
    """Run in turns; the target is that of the whole stage, where it can be run."""
    for work in works.values():  # what pre-commit writes once is there then
        work()
    spents = dict(zip(works, in_turn(amounts.rounds, *works.values()), strict=True))
    of = "pre-commit run" if "pre-commit run" in spents else "process"
    details: dict[str, object] = {"concepts": amounts.concepts, "sessions": amounts.sessions}
    for name, found in spents.items():
        details[f"{name}: seconds"] = middle(found, "wall")
        details[f"{name}: fastest"] = min(one.wall for one in found)
        details[f"{name}: processor seconds"] = middle(found)
    if len(spents) > 1:
        details["times a hook that does nothing"] = ratio(spents[of], spents["nothing"], "wall")
    else:
        details["left out"] = "pre-commit, which is not installed"
    return Measured(
        f"before a commit of {kind}", middle(spents[of], "wall"), "s",
        f"{of}, wall time, the median of {amounts.rounds} turns", most=SECONDS, details=details,
    )  # fmt: skip


def _works(place: Place, here: Repository, *, with_runner: bool) -> dict[str, Callable[[], Spent]]:
    """Return what is run, by name."""
    works: dict[str, Callable[[], Spent]] = {"process": partial(_run, here, _OURS)}
    if with_runner:
        os.environ["PRE_COMMIT_HOME"] = str(place.folder / "pre-commit")  # ends with the place
        entries = {
            "pre-commit run": shlex.join((sys.executable, *_OURS)),
            "nothing": "git --version",
        }
        for number, (name, entry) in enumerate(entries.items()):
            file = place.folder / f"pre-commit-{number}.yaml"
            hook = {"id": "one", "name": name, "entry": entry, "language": "system",
                    "always_run": True, "pass_filenames": False}  # fmt: skip
            _write(file, json.dumps({"repos": [{"repo": "local", "hooks": [hook]}]}))
            runner = ("-m", "pre_commit", "run", "--config", str(file))
            works[name] = partial(_run, here, runner)
    return works


def _run(here: Repository, arguments: tuple[str, ...]) -> Spent:
    facts = here.common_dir / "know"
    shutil.rmtree(facts, ignore_errors=True)
    shutil.copytree(here.common_dir / _BEFORE, facts)
    return in_process(arguments, here.root)


# -- the repository -----------------------------------------------------------------


def _repository(place: Place, amounts: Amounts) -> Repository:
    here = place.repository("hooks")
    corpus = Corpus()
    for number in range(amounts.concepts):
        _write(_path(here, number), _concept(corpus, number))
    corpus.write_sessions(here.sessions / "claude", amounts.sessions, _RECORDS)
    _stage(here)
    _git(here, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qm", "all")
    in_process(_OURS, here.root)
    shutil.copytree(here.common_dir / "know", here.common_dir / _BEFORE)
    return here


def _path(here: Repository, number: int) -> Path:
    return here.concepts / f"part-{number // _FOLDER:03d}" / f"{needle(number)}.md"


def _concept(corpus: Corpus, number: int) -> str:
    """Return a concept with three tags and two links to its neighbours."""
    first = number - number % _FOLDER
    links = (f"[{needle(n)}]({needle(n)}.md)" for n in {first, max(first, number - 1)})
    front = {
        "type": _TYPES[number % len(_TYPES)],
        "title": f"{needle(number)} {corpus.words(4)}",
        "description": corpus.words(12),
        "tags": sorted({f"tag-{number % step}" for step in (7, 50, 300)}),
        "generated": {"by": "bench/1", "at": "2026-05-01T00:00:00Z"},
    }
    lines = (f"{key}: {json.dumps(value)}" for key, value in front.items())
    body = f"# Why\n\n{corpus.words(120)}\n\n# See also\n\n{', '.join(links)}\n"
    return "\n".join(("---", *lines, "---", "", body))


def _change(here: Repository, count: int) -> None:
    """Change so many concepts, a tenth of them new ones, all over the bundle."""
    known = sorted(path for path in here.concepts.rglob("*.md") if path.name != "index.md")
    new = count // 10
    for path in known[:: max(1, len(known) // (count - new))][: count - new]:
        _write(path, f"{path.read_text(encoding='utf-8')}\nOne more paragraph.\n")
    for number in range(new):
        _write(_path(here, len(known) + number), _concept(Corpus(), len(known) + number))


def _bring(here: Repository, amounts: Amounts) -> None:
    folder = here.sessions / "claude"
    Corpus().write_sessions(folder, 1, amounts.records, start=amounts.sessions)


def _stage(here: Repository) -> None:
    """Stage all that is there, and what is generated of it: that follows what git knows."""
    _git(here, "add", "-A")
    bundle.write_generated(here)
    _git(here, "add", "-A")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _git(here: Repository, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(here.root), *arguments], check=True, capture_output=True)

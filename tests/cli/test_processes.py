"""What only a process of its own can show: imports, signals, silence, the real model."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
import tomllib
from pathlib import Path

import pytest

from helpers import concept, git, make_repository, transcript, user, write
from knowrepo.git.layout import Repository, repository_at
from knowrepo.index import embed, models
from knowrepo.index.fill import BATCH
from knowrepo.index.text import stems
from knowrepo.index.vectors import VectorStore

ROOT = Path(__file__).resolve().parents[2]
MEANING = re.search(r"^MEANING := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)


def know(repository: Repository, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "knowrepo", *arguments],
        cwd=repository.root, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> Repository:
    """A clone of what this project knows of itself, indexed with the real model."""
    folder = tmp_path_factory.mktemp("own") / "a clone"
    folder.mkdir()
    for name in ("concepts", "sessions"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "know.toml", folder)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    return repository_at(folder)


@pytest.fixture
def indexed(own) -> Repository:
    done = know(own, "index")
    assert done.returncode == 0, done.stderr
    return own


def test_a_structured_answer_imports_nothing_heavy(own):
    know(own, "index", "--no-vectors")
    script = (
        "import sys; from knowrepo.cli.main import main; code = main(sys.argv[1:])\n"
        "heavy = {'duckdb', 'llama_cpp', 'git', 'numpy', 'yaml', 'frontmatter', 'markdown_it',"
        " 'rich', 'filelock', 'platformdirs', 'tomlkit'} & set(sys.modules)\n"
        "print('HEAVY', sorted(heavy), code)"
    )
    for query in ("tag:git", "why sqlite and duckdb", "how are secrets kept out of the archive"):
        # The second run is of a catalog that is current: the one that counts.
        for _ in range(2):
            done = subprocess.run(
                [sys.executable, "-c", script, "recall", "--repo", str(own.root), query],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
        assert "structured" in done.stderr
        assert "HEAVY [] 0" in done.stdout


def test_a_lexical_answer_imports_neither_duckdb_nor_a_model(own):
    shutil.rmtree(own.vectors, ignore_errors=True)
    script = (
        "import sys; from knowrepo.cli.main import main; main(sys.argv[1:])\n"
        "print('HEAVY', sorted({'duckdb', 'llama_cpp', 'numpy', 'git'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "recall", "--repo", str(own.root), "database is locked"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "lexical" in done.stderr
    assert "HEAVY []" in done.stdout


@pytest.mark.model
def test_the_demos_last_question_is_answered_by_meaning_alone(indexed):
    assert MEANING is not None
    question = MEANING.group(1)
    answer = json.loads(know(indexed, "recall", question, "--json", "--full", "-k", "3").stdout)
    assert answer["route"] == "hybrid"
    best = answer["hits"][0]
    assert best["path"] == "concepts/decisions/pattern-redaction.md"
    whole = (indexed.root / best["path"]).read_text(encoding="utf-8")
    assert set(stems(question)).isdisjoint(stems(whole)), "a content word is shared"


@pytest.mark.model
def test_an_index_run_embeds_once_and_status_agrees(indexed):
    again = know(indexed, "index")
    assert again.stdout.splitlines() == [
        "catalog: 0 documents indexed, 0 removed", "vectors: 0 texts embedded",
    ]  # fmt: skip
    status = json.loads(know(indexed, "status", "--json").stdout)
    assert status["pending"] == 0
    assert status["embedded"] > 20
    assert status["state"] == "current"


@pytest.mark.model
def test_semantic_json_is_clean(indexed):
    done = know(indexed, "recall", "--json", "what keeps the machine from falling over")
    assert json.loads(done.stdout)["route"] == "hybrid"
    assert "ggml" not in done.stderr
    assert "llama_" not in done.stderr


@pytest.mark.model
@pytest.mark.parametrize("module", ["typer", "knowrepo.config", "knowrepo.cli.main"])
def test_an_interrupt_while_python_still_imports_is_one_line(module):
    # The signal comes when a module is looked for, however fast the machine is.
    script = (
        "import os, runpy, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.argv[1:] = ['status']\n"
        "runpy.run_module('knowrepo', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "know: interrupted\n")


def test_the_programs_of_the_package_lead_to_what_is_there():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["know"] == "knowrepo.__main__:entry"
    for target in scripts.values():
        module, _, name = target.partition(":")
        assert callable(getattr(importlib.import_module(module), name))


def test_an_interrupted_index_run_goes_on_where_it_was(tmp_path):
    total = BATCH + 500
    repository = make_repository(tmp_path / "memory")
    for number in range(total):
        text = concept(f"C{number}", body=f"some words of number {number} " * 10)
        write(repository, f"concepts/c{number}.md", text, stage=False)
    git(repository.root, "add", "-A")
    model = models.current()
    assert model is not None
    store = VectorStore(repository.vectors, embed.fingerprint(model))
    process = subprocess.Popen(
        [sys.executable, "-m", "knowrepo", "index"],
        cwd=repository.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while store.is_empty():
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.02)
            pytest.fail("the run ended before it could be interrupted")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    have = len(store.hashes())
    assert 0 < have < total  # a slow machine publishes smaller batches
    done = know(repository, "index")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == f"vectors: {total - have} texts embedded"


@pytest.mark.model
def test_a_killed_index_run_leaves_an_index_that_works(tmp_path):
    repository = make_repository(tmp_path / "memory")
    for number in range(300):
        write(repository, f"concepts/c{number}.md", concept(f"C{number}", body="w"), stage=False)
    git(repository.root, "add", "-A")
    for delay in (0.4, 0.8, 1.2):
        process = subprocess.Popen(
            [sys.executable, "-m", "knowrepo", "index"],
            cwd=repository.root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            process.wait(timeout=delay)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert know(repository, "recall", "c7").returncode == 0
    assert know(repository, "index", "--no-vectors").returncode == 0
    assert json.loads(know(repository, "status", "--json").stdout)["concepts"] == 300


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("| true", 0),
        (">&-", 0),
        ("2>&-", 0),
        pytest.param(
            ">/dev/full",
            1,
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here"),
        ),
    ],
)
def test_an_output_that_nobody_reads_is_no_bug(own, target, code):
    command = f"'{sys.executable}' -m knowrepo recall type:Decision -k 50 {target}"
    done = subprocess.run(
        ["bash", "-c", f"{command}; exit ${{PIPESTATUS[0]}}"],
        cwd=own.root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    for word in ("Traceback", "Exception ignored", "a bug"):
        assert word not in done.stderr


def test_an_archive_run_goes_on_when_nobody_reads_its_output(tmp_path):
    repository = make_repository(tmp_path / "memory")
    for number in range(30):
        name = f"{number:08d}-0000-4000-8000-000000000000.jsonl"
        transcript(tmp_path / "in", [user("x", 1)], name)
    command = f"'{sys.executable}' -m knowrepo archive '{tmp_path}/in' | true"
    subprocess.run(["bash", "-c", command], cwd=repository.root, check=False)
    assert len(list(repository.sessions.rglob("*.jsonl"))) == 30


def test_a_terminal_that_knows_no_unicode_is_served(own):
    done = subprocess.run(
        [sys.executable, "-m", "knowrepo", "recall", "type:Decision"],
        cwd=own.root, capture_output=True, check=False,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )  # fmt: skip
    assert done.returncode == 0
    assert b"\\u2026" in done.stdout


def _on_a_terminal(folder: Path, *arguments: str) -> str:
    """Run a command whose output and talk are one terminal; returns all that it was sent."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 300))
    with subprocess.Popen(
        [sys.executable, "-m", "knowrepo", *arguments],
        cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"},
    ) as process:  # fmt: skip
        os.close(theirs)
        sent = b""
        with contextlib.suppress(OSError):  # how the end of a terminal is told
            while block := os.read(ours, 1 << 16):
                sent += block
    os.close(ours)
    assert process.returncode == 0
    return sent.decode()


def _screen(sent: str) -> list[str]:
    """Return the lines of a terminal that is as long as need be, as a person sees them."""
    lines, row, column = [""], 0, 0
    for token in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", sent):
        if token == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif token == "\r":
            column = 0
        elif token.startswith("\x1b["):
            number = int(re.sub(r"\D", "", token) or 1)
            if token.endswith("A"):
                row = max(0, row - number)
            elif token == "\x1b[2K":
                lines[row] = ""
            else:
                assert token[-1] in "mhl", token
        else:
            lines[row] = (
                lines[row].ljust(column)[:column] + token + lines[row][column + len(token) :]
            )
            column += len(token)
    return [line.rstrip() for line in lines if line.strip()]


def test_on_a_terminal_each_result_has_a_line_of_its_own_and_no_bar_is_left(tmp_path):
    repository = make_repository(tmp_path / "memory")
    (tmp_path / "in").mkdir()
    ids = [f"{n:08d}-0000-4000-8000-000000000000" for n in range(1, 41)]
    for name in ids:
        transcript(tmp_path / "in", [user("hello", 1, sessionId=name)], f"{name}.jsonl")
    (tmp_path / "in" / f"{ids[0]}.jsonl").with_suffix(".txt").write_text("x")
    sent = _on_a_terminal(repository.root, "archive", str(tmp_path / "in"))
    assert "archiving" in sent
    screen = _screen(sent)
    assert [line.partition(":")[0] for line in screen[:40]] == [f"claude/{name}" for name in ids]
    assert screen[40].split() == ["agent", "new", "bytes", "added"]
    assert not any("archiving" in line or "━" in line for line in screen)


def test_a_growing_session_embeds_only_what_is_new(tmp_path):
    """By text hash: what is pending after growth is the new exchange alone."""
    from helpers import WordEmbedder
    from knowrepo.index.build import refresh
    from knowrepo.index.catalog import Catalog
    from knowrepo.index.fill import embed as embed_texts
    from knowrepo.index.fill import pending_texts
    from knowrepo.sessions.archive import archive

    repository = make_repository(tmp_path / "memory")
    records = [user(f"question number {n} " * 20, n) for n in range(1, 60)]
    embedder = WordEmbedder()
    store = VectorStore(repository.vectors, embedder.fingerprint)

    def run() -> int:
        list(archive(repository, [transcript(tmp_path / "in", records)]))
        refresh(repository)
        catalog = Catalog.open(repository.catalog)
        assert catalog is not None
        with catalog:
            waiting = pending_texts(catalog, store)
        embed_texts(waiting, store, embedder)
        return len(waiting)

    assert run() == 59
    records.append(user("one more question", 60))
    assert run() == 1

"""The log of recalls: whole lines, no secrets, bounded, and no recall that fails for it."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers import git, unprivileged
from knowrepo.config import config_path
from knowrepo.git.layout import Repository, repository_at
from knowrepo.index.catalog import Filter
from knowrepo.recall import journal
from knowrepo.recall.hits import Hit
from knowrepo.recall.review import NO_HIT, NOT_CONFIDENT, review
from knowrepo.recall.route import Answer

TOKEN = "ghp_" + "a8Kd03mZq7" * 3 + "b1Xy9w"


def hit(digits: str, *, score: float = 0.5, text: str = "", also: tuple[str, ...] = ()) -> Hit:
    uid = digits.ljust(40, "0")
    return Hit(
        id=digits, uid=uid, kind="concept", path=f"concepts/{digits}.md", shown_path=digits,
        type="Decision", title="A title", heading="", date="2026-05-01", summary="A summary",
        score=score, text=text, also=also,
    )  # fmt: skip


def ask(repository: Repository, query: str = "how", *hits: Hit, **fields: Any) -> None:
    options = {key: fields.pop(key) for key in ("only", "bodies") if key in fields}
    printed = fields.pop("printed", 100)
    answer = Answer(query, fields.pop("route", "hybrid"), "", list(hits), **fields)
    journal.record(repository, answer, printed=printed, **options)


def lines(repository: Repository) -> list[dict[str, Any]]:
    text = "".join(p.read_text() for p in journal.files(repository) if p.is_file())
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def clock(monkeypatch):
    def at(time: str) -> None:
        monkeypatch.setattr(journal, "_now", lambda: f"2026-05-01T{time}:00Z")

    return at


@pytest.fixture(autouse=True)
def _nobody_asks(monkeypatch):
    for name in ("AI_AGENT", "CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("CURSOR_AGENT", raising=False)


# -- what is noted -----------------------------------------------------------------


def test_a_recall_leaves_one_line_of_what_was_asked_shown_and_printed(repository, monkeypatch):
    monkeypatch.setenv("CLAUDECODE", "1")
    file = repository.root / "concepts" / "b8c1.md"
    file.write_text("x" * 700)
    ask(
        repository, "two  stores", hit("a3f2", text="y" * 300, also=("c0de",)), hit("b8c1"),
        confidence=0.81234, confident=True, seconds=0.0123, printed=90,
        only=Filter(type="Decision", since="2026"),
    )  # fmt: skip
    (line,) = lines(repository)
    assert line.pop("time").endswith("Z")
    assert line == {
        "did": "recall", "query": "two stores", "only": {"type": "Decision", "since": "2026"},
        "route": "hybrid", "confidence": 0.812, "confident": True, "hits": 2,
        "shown": [["a3f200000000", 0.5, "c0de"], ["b8c100000000", 0.5]], "ms": 12.3,
        "printed": 90, "whole": 1000, "bodies": False, "by": "claude-code/unknown",
    }  # fmt: skip


def test_no_text_of_what_was_found_is_in_the_log(repository):
    ask(repository, "how", hit("a3f2", text="the words of a session"))
    journal.opened(repository, ["a3f2".ljust(40, "0")], printed=22)
    text = (repository.logs / journal.FILE).read_text()
    assert all(word not in text for word in ("words", "A title", "A summary", "concepts/"))


def test_a_recall_of_a_thousand_hits_leaves_a_line_of_bounded_length(repository):
    ask(repository, "how", *(hit(f"{number:04x}") for number in range(1000)))
    (line,) = lines(repository)
    assert line["hits"] == 1000
    assert len(line["shown"]) == 50


def test_nobody_else_may_read_the_log_and_nothing_lies_beside_it(repository):
    ask(repository)
    assert (repository.logs / journal.FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in repository.logs.iterdir()] == [journal.FILE]


def test_the_log_is_in_the_git_directory_and_git_sees_nothing_of_it(repository):
    git(repository.root, "add", "-A")
    before = git(repository.root, "status", "--porcelain")
    ask(repository)
    assert (repository.git_dir / "know" / "logs" / journal.FILE).is_file()
    assert git(repository.root, "status", "--porcelain") == before


def test_noting_imports_nothing_that_a_recall_has_not(repository):
    program = (
        "import sys; from pathlib import Path; from knowrepo.cli.main import main;"
        f"main(['recall', '--no-log', '--repo', {str(repository.root)!r}, 'tag:git']);"
        "from knowrepo.recall.route import Answer; from knowrepo.git.layout import repository_at;"
        "before = set(sys.modules); from knowrepo.recall import journal;"
        f"here = repository_at(Path({str(repository.root)!r}));"
        "journal.record(here, Answer('how is it done', 'hybrid', '', []), printed=1);"
        "print(*sorted(set(sys.modules) - before))"
    )
    environment = {k: v for k, v in os.environ.items() if k != "KNOW_CONFIG"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) <= {
        "knowrepo.callers", "knowrepo.recall.glance", "knowrepo.recall.journal",
    }  # fmt: skip
    assert len(lines(repository)) == 1


# -- secrets and hostile queries ---------------------------------------------------


@pytest.mark.parametrize(
    ("query", "secret"),
    [
        (f"why is {TOKEN} refused", TOKEN),
        (f"{TOKEN}", TOKEN),
        ("DB_PASSWORD=" + "tR7x9Kq2Lm4v", "tR7x9Kq2Lm4v"),
        ("psql postgres://app:" + "s3cr" + "3tPw@db/app fails", "s3cr3tPw"),
        (f"{'word ' * 600}{TOKEN} {'word ' * 600}", TOKEN),
        (f"{'word ' * 818}{TOKEN}", TOKEN[:12]),  # cut in the middle of it
    ],
)
def test_a_pasted_secret_does_not_lie_in_clear_in_the_log(repository, query, secret):
    ask(repository, query)
    data = (repository.logs / journal.FILE).read_text()
    assert secret not in data
    assert len(lines(repository)) == 1


def test_half_a_secret_at_the_cut_of_a_long_query_does_not_move_to_where_it_is_kept(repository):
    ask(repository, f"{TOKEN} " * 200)
    (line,) = lines(repository)
    assert "ghp_" not in line["query"]


def test_what_the_user_and_the_repository_call_secrets_is_redacted_too(repository):
    config_path().write_text('[[redact.extra]]\nkind = "customer"\npattern = "(?i)acme"\n')
    (repository.root / "know.toml").write_text(
        '[[redact.extra]]\nkind = "ticket"\npattern = "TCK-\\\\d{4}"\n'
    )
    ask(repository, "what did acme say of TCK-1234")
    (line,) = lines(repository)
    assert line["query"] == "what did [redacted:customer] say of [redacted:ticket]"


@pytest.mark.parametrize(
    "query",
    [
        "a\nb\r\nc", "\x00", "\ud800 half", "\x1b]0;title\x07 \x1b[2J", "\u202e\u2028", "",
        '{"did": "recall", "time": "x"}', "]}\n{\"did\": ", "\\", "中文" * 4000, "x" * 1_000_000,
        "pass" * 300_000, "a@b:c/" * 200_000,
    ],
    ids=range(13),
)  # fmt: skip
def test_any_query_leaves_one_line_that_reads_back(repository, query):
    ask(repository, query)
    ask(repository, "the next")
    assert len(lines(repository)) == 2
    assert len((repository.logs / journal.FILE).read_bytes()) < 8000
    found = review(repository)
    assert found.recalls == 2
    assert found.unanswered[0].query == "the next"


# -- where it is switched off ------------------------------------------------------


def written(repository: Repository) -> bool:
    ask(repository)
    journal.opened(repository, ["a" * 40])
    return (repository.logs / journal.FILE).exists()


@pytest.mark.parametrize("value", ["0", "off", "False", "no", "nonsense"])
def test_the_variable_switches_it_off(repository, monkeypatch, value):
    monkeypatch.setenv(journal.VARIABLE, value)
    assert not written(repository)
    assert journal.switched_off(repository) == journal.VARIABLE


@pytest.mark.parametrize(
    "text",
    [
        "[recall]\nlog = false\n", "recall.log = false\n", 'recall = {"log" = false}\n',
        '"\\u0072ecall".log = false\n', '"re\\U00000063all"."lo\\u0067" = false\n',
        "[recall]\nlog = 0\n", "[recall\nlog = true\n",
    ],
)  # fmt: skip
def test_either_configuration_switches_it_off_and_so_does_one_that_is_wrong(repository, text):
    config_path().write_text(text)
    assert not written(repository)
    assert journal.switched_off(repository) == str(config_path())
    config_path().unlink()
    assert written(repository)
    journal.clear(repository)
    (repository.root / "know.toml").write_text(text)
    assert not written(repository)
    assert journal.switched_off(repository) == str(repository.root / "know.toml")


def test_a_repository_can_only_switch_it_off(repository, monkeypatch):
    monkeypatch.setenv(journal.VARIABLE, "1")
    (repository.root / "know.toml").write_text("[recall]\nlog = true\n")
    assert written(repository)
    journal.clear(repository)
    config_path().write_text("[recall]\nlog = false\n")
    assert not written(repository)


def test_a_configuration_that_cannot_be_read_may_say_no(repository):
    config_path().mkdir()
    assert not written(repository)
    assert journal.switched_off(repository) == str(config_path())


def test_other_words_in_a_configuration_change_nothing(repository):
    config_path().write_text("# recall: the log\n[archive]\nexclude = ['catalog', 'recall']\n")
    assert written(repository)


# -- disks -------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_stops_no_recall(repository):
    repository.logs.mkdir(parents=True)
    repository.logs.chmod(0o500)
    try:
        with unprivileged():
            ask(repository)
            journal.opened(repository, ["a" * 40])
    finally:
        repository.logs.chmod(0o700)
    assert list(repository.logs.iterdir()) == []
    repository.logs.rmdir()
    repository.logs.write_text("a file in its place")
    ask(repository)
    assert repository.logs.read_text() == "a file in its place"
    assert review(repository).recalls == 0


def test_no_link_is_followed_to_another_file(repository, tmp_path):
    other = tmp_path / "other"
    other.write_text("mine")
    repository.logs.mkdir(parents=True)
    (repository.logs / journal.FILE).symlink_to(other)
    ask(repository)
    assert other.read_text() == "mine"


def _on_a_full_disk(folder: str) -> None:
    repository = repository_at(Path(folder))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    ask(repository, "before")
    size = (repository.logs / journal.FILE).stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, size + 40))
    ask(repository, "cut by the disk")
    ask(repository, "with no room at all")


def test_a_full_disk_costs_the_lines_that_it_has_no_room_for_and_no_other(repository):
    process = multiprocessing.get_context("spawn").Process(
        target=_on_a_full_disk, args=(str(repository.root),)
    )
    process.start()
    process.join()
    assert process.exitcode == 0
    assert not (repository.logs / journal.FILE).read_bytes().endswith(b"\n")
    ask(repository, "after")
    with (repository.logs / journal.FILE).open("ab") as stream:
        stream.write(b'\xff\n[]\n{}\n{"did": "recall"}\n{"did": "opened", "time": 3, "ids": 4}\n')
        stream.write(b'{"did": ' + b"[" * 20_000 + b"\n")
    assert {one.query for one in review(repository).unanswered} == {"before", "after"}


# -- many processes ----------------------------------------------------------------


def _ask_many(folder: str, name: str, count: int, largest: int) -> None:
    journal.LARGEST = largest
    repository = repository_at(Path(folder))
    for number in range(count):
        ask(repository, f"{name} {number}", hit("a3f2"))


def start(repository: Repository, count: int, largest: int) -> list[Any]:
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_ask_many, args=(str(repository.root), f"p{number}", count, largest))
        for number in range(3)
    ]
    for process in processes:
        process.start()
    return processes


def test_lines_of_processes_that_write_at_once_stay_whole(repository):
    for process in start(repository, 60, journal.LARGEST):
        process.join()
    found = sorted(line["query"] for line in lines(repository))
    assert found == sorted(f"p{p} {number}" for p in range(3) for number in range(60))


def test_turning_over_among_processes_loses_nothing_but_the_oldest(repository):
    for process in start(repository, 200, 8000):
        process.join()
    older, current = journal.files(repository)
    assert older.stat().st_size < 8000 + 4 * 400
    assert current.stat().st_size < 8000 + 4 * 400
    found = lines(repository)
    assert len(found) < 600
    for name in ("p0", "p1", "p2"):
        own = sorted(int(line["query"].split()[1]) for line in found if name in line["query"])
        assert own == list(range(200))[200 - len(own) :], name


def test_a_log_that_is_turned_over_keeps_the_newest_half(repository, monkeypatch):
    monkeypatch.setattr(journal, "LARGEST", 4000)
    for number in range(100):
        ask(repository, f"query {number}")
        sizes = [path.stat().st_size for path in journal.files(repository) if path.exists()]
        assert sum(sizes) < 2 * 4000 + 400
    kept = [line["query"] for line in lines(repository)]
    assert kept == [f"query {number}" for number in range(100)][-len(kept) :]
    assert sum(sizes) > 4000
    assert review(repository).recalls == len(kept)


def test_a_killed_writer_costs_its_own_line_at_most(repository):
    log = repository.logs / journal.FILE
    processes = start(repository, 100_000, journal.LARGEST)
    while not log.exists() or log.stat().st_size < 20_000:
        assert all(process.is_alive() for process in processes)
    for process in processes:
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    ask(repository, "after", hit("a3f2"))
    data = b"".join(path.read_bytes() for path in journal.files(repository) if path.exists())
    assert review(repository).recalls >= data.count(b"\n") - 3
    assert lines(repository)[-1]["query"] == "after"


# -- what it tells -----------------------------------------------------------------


def test_what_is_opened_belongs_to_the_latest_recall_that_showed_it(repository, clock):
    clock("10:00")
    ask(repository, "first", hit("aaaa"), hit("bbbb"))
    clock("10:05")
    ask(repository, "second", hit("cccc"), hit("bbbb"))
    clock("10:10")
    ask(repository, "third", hit("dddd"))
    journal.opened(repository, ["bbbb".ljust(40, "0")])
    clock("10:12")
    ask(repository, "fourth, asked after it", hit("bbbb"))
    found = review(repository)
    assert found.opened == {2: 1}
    assert found.openable == 4
    assert found.most_opened == (("bbbb00000000", 1, "2026-05-01T10:10:00Z"),)


@pytest.mark.parametrize(("time", "joined"), [("10:29", {1: 1}), ("10:31", {})])
def test_what_is_opened_later_than_half_an_hour_belongs_to_no_recall(
    repository, clock, time, joined
):
    clock("10:00")
    ask(repository, "first", hit("aaaa"))
    clock(time)
    journal.opened(repository, ["aaaa".ljust(40, "0")])
    assert review(repository).opened == joined


def test_a_near_duplicate_that_is_opened_counts_for_the_hit_that_names_it(repository):
    ask(repository, "how", hit("aaaa"), hit("bbbb", also=("cafe", "beef")))
    journal.opened(repository, ["beef".ljust(40, "1")])
    assert review(repository).opened == {2: 1}


def test_unanswered_is_what_had_no_hit_or_none_with_confidence_and_none_opened(repository, clock):
    clock("10:00")
    ask(repository, "answered", hit("aaaa"))
    ask(repository, "Nothing there")
    ask(repository, "doubtful", hit("bbbb"), confident=False)
    ask(repository, "doubtful, and opened", hit("cccc"), confident=False)
    journal.opened(repository, ["cccc".ljust(40, "0")])
    clock("10:01")
    ask(repository, "nothing  there")
    ask(repository, "", only=Filter(tag="git"))
    found = review(repository).unanswered
    assert [(one.query, one.count, one.why) for one in found] == [
        ("tag:git", 1, NO_HIT), ("nothing there", 2, NO_HIT), ("doubtful", 1, NOT_CONFIDENT),
    ]  # fmt: skip
    assert review(repository).confident == 1


def test_tokens_spared_are_bodies_less_what_was_printed_and_opened_after_all(repository):
    ask(repository, "how", hit("aaaa", text="x" * 4000), hit("bbbb", text="y" * 4000), printed=400)
    assert review(repository).tokens_spared == (8000 - 400) // 4
    journal.opened(repository, ["aaaa".ljust(40, "0")], printed=4000)
    assert review(repository).tokens_spared == (8000 - 400 - 4000) // 4
    journal.opened(repository, ["eeee".ljust(40, "0")], printed=9000)  # no recall led there
    assert review(repository).tokens_spared == (8000 - 400 - 4000) // 4


def test_bodies_at_once_spare_nothing_and_leave_nothing_to_open(repository):
    ask(repository, "how", hit("aaaa", text="x" * 4000), printed=4100, bodies=True)
    found = review(repository)
    assert (found.tokens_spared, found.openable) == (0, 0)


def test_a_period_takes_its_first_and_last_day_whole(repository, monkeypatch):
    for day in ("2026-05-01", "2026-05-02", "2026-05-03"):
        monkeypatch.setattr(journal, "_now", lambda day=day: f"{day}T12:00:00Z")
        ask(repository, day)
    assert review(repository, since="2026-05-02", until="2026-05-02").recalls == 1
    assert review(repository, since="2026-05-02").recalls == 2
    assert review(repository, until="2026-05").recalls == 3
    assert review(repository, until="2026-05-02T11:59:00").recalls == 1


def test_two_knowledge_repositories_of_one_git_repository_have_their_own_recalls(repository):
    below = repository.root / "below"
    (below / "concepts").mkdir(parents=True)
    (below / "know.toml").write_text("format = 1\n")
    inner = repository_at(below)
    ask(repository, "outer")
    ask(inner, "inner")
    assert [one.query for one in review(repository).unanswered] == ["outer"]
    assert [one.query for one in review(inner).unanswered] == ["inner"]


def test_all_work_trees_of_a_repository_share_the_log(repository, tmp_path):
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "all")
    git(repository.root, "worktree", "add", "-q", str(tmp_path / "other"))
    ask(repository_at(tmp_path / "other"), "there")
    assert [one.query for one in review(repository).unanswered] == ["there"]


def test_clearing_removes_all_of_it(repository, monkeypatch):
    assert not journal.clear(repository)
    monkeypatch.setattr(journal, "LARGEST", 300)
    for _ in range(5):
        ask(repository)
    assert len(list(repository.logs.iterdir())) == 2
    assert journal.clear(repository)
    assert list(repository.logs.iterdir()) == []

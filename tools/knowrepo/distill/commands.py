"""What a shell command was run for: the goal that two commands may share.

Owns taking a command line apart as far as that needs: no shell is imitated. A
command that only looks (`grep`, `ls`) has no goal: that it finds nothing is an
answer and no failure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LONGEST = 400  # characters of a command's first line that are looked at
_LONGEST_ARGUMENT = 200
_MOST = 3  # commands in one line that share a goal

_LOOKING = frozenset(
    """
    ag awk basename bat cat cmp column command curl cut date df diff dig dirname du echo env exit
    export false fd file find gh-api grep head history host hostname id jobs jq less ls lsof man
    md5sum nl nslookup pgrep ping printenv printf ps pwd read readlink realpath rg sed seq set
    sha256sum sleep sort stat strings tail tee test top tr tree true type uname uniq wait wc
    wget which who xargs xxd yes [ [[ kill pkill killall cd pushd popd source . unset
    mkdir touch rm cp mv chmod ln open
    """.split()
)
_SCRIPTING = frozenset({"for", "while", "until", "if", "case", "do", "done", "then", "function"})
# What runs another command, and how many words of its own it takes.
_BEFORE = frozenset({"sudo", "time", "nohup", "nice", "exec", "builtin", "command", "env", "&"})
# Subcommands that look: of any program, and of some.
_LOOKING_AT = frozenset(
    "status log diff show list ls view info describe search stats where".split()
)
_ALSO = frozenset(
    """
    api branch blame rev-parse grep remote config outdated why get cat-file ls-files reflog stash
    merge-base ps images inspect logs
    """.split()
)
_HAVING = frozenset({"git", "gh", "npm", "pnpm", "yarn", "docker", "pip", "brew", "kubectl"})
_ONE_LINERS = frozenset({"-e", "-p", "-c", "--eval", "--print", "-pe", "-ne", "eval"})
_INTERPRETERS = re.compile(r"(?:node|bun|deno|python|ruby|perl|php|osascript|sqlite3|psql)[\d.]*")
_CHECKS = re.compile(
    r"(?:^|[\s:/_-])(?:tests?|pytest|jest|vitest|mocha|rspec|tox|nox|lint|eslint|ruff|flake8|mypy"
    r"|pyright|ty|tsc|typecheck|type-check|clippy|golangci-lint|shellcheck|biome|prettier|fmt"
    r"|format|check|build|compile|vet|make|cmake|cargo|gradle|mvn|bundle|e2e|ci)(?:$|[\s:/_-])"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*")
# What asks for help, or goes round what it is for.
_NOT_MEANT = frozenset({"--help", "-h", "--version", "-V", "help", "version", "--no-verify"})
_TARGETS = frozenset({"-run", "-k", "-t", "--filter", "-F", "-p", "--package", "--testNamePattern"})
_JOINTS = re.compile(r"&&|\|\||;|\n|\|&?|(?<![<>&\d])&(?!>)")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_REDIRECTED = re.compile(r"\s+(?:\d?>&\d|&?\d?>+\s*\S+)")
_WORD = re.compile(r"(?:[^\s'\"]|'[^']*'|\"(?:\\.|[^\"\\])*\"|['\"])+")
_MARKS = re.compile("['\"]")
_STREAM = re.compile(r"\d?[<>]|&>")
_WHOLE = frozenset({"", ".", "./..."})


@dataclass(frozen=True)
class Goal:
    """What a command is for: the program with its subcommand, and what it was given.

    ``masked``: its exit code is that of another command after it. ``checks``: it
    tests, lints or builds, so that its output tells how it went.
    """

    name: str
    target: str
    command: str
    masked: bool = False
    checks: bool = False

    @property
    def program(self) -> str:
        """The first word of its name."""
        return self.name.partition(" ")[0]

    def covers(self, other: Goal) -> bool:
        """Say whether this one working means that the other would."""
        return self.name == other.name and (self.target == other.target or self.target in _WHOLE)


def may_check(command: str) -> bool:
    """Say whether a command may be one that tests, lints or builds; a quick look."""
    return _CHECKS.search(command[:_LONGEST]) is not None


def goal_of(command: str) -> Goal | None:
    """Return what a command line is for; None where it has no goal, or too many."""
    line = _first_line(command)
    parts, joints = _cut(line)
    told = [(n, words) for n, part in enumerate(parts) if (words := _words(part))]
    if any(words[0] in _SCRIPTING for _, words in told):
        return None
    runs = [(n, words) for n, words in told if not _looks(words)]
    if not runs or len(runs) > _MOST or any(_NOT_MEANT & set(words) for _, words in runs):
        return None
    names = [_name(words) for _, words in runs]
    targets = [_target(words, name) for (_, words), name in zip(runs, names, strict=True)]
    last = runs[-1][0]
    after = joints[last:]
    return Goal(
        " && ".join(names),
        " ".join(filter(None, targets)),
        _without_rest(line, parts, joints, last),
        masked=any(joint.strip() != "&&" for joint in after),
        checks=any(_CHECKS.search(name) for name in names),
    )


def _first_line(command: str) -> str:
    """Return the command without what it gives to standard input, and on one line."""
    text = command.replace("\\\n", " ").strip()
    return text.partition("\n")[0][:_LONGEST].strip()


def _cut(line: str) -> tuple[list[str], list[str]]:
    """Cut a line at what joins commands, outside quotes; returns the parts and the joints."""
    hidden = _QUOTED.sub(lambda match: "_" * len(match[0]), line)
    parts, joints, at = [], [], 0
    for match in _JOINTS.finditer(hidden):
        parts.append(line[at : match.start()])
        joints.append(match[0])
        at = match.end()
    return [*parts, line[at:]], joints


def _without_rest(line: str, parts: list[str], joints: list[str], last: int) -> str:
    """Return a line without what stands after its last command, and without redirections."""
    end = sum(map(len, parts[: last + 1])) + sum(map(len, joints[:last]))
    return _REDIRECTED.sub("", line[:end]).strip()


def _words(part: str) -> list[str]:
    words = [_MARKS.sub("", word) for word in _WORD.findall(part) if not _STREAM.match(word)]
    while words and (words[0] in _BEFORE or _ASSIGNMENT.fullmatch(words[0])):
        words = words[1:]
    if words and words[0] == "timeout":
        words = words[2:]
    return words


def _looks(words: list[str]) -> bool:
    program = words[0].rpartition("/")[2]
    if program in _LOOKING or not re.fullmatch(r"[\w./~@+-]+", words[0]):
        return True
    if _INTERPRETERS.fullmatch(program) and (
        words[1:2] in ([], ["-"]) or not _ONE_LINERS.isdisjoint(words[1:4])
    ):
        return True
    plain = [word for word in words[1:4] if not word.startswith("-")][:2]
    looking = _LOOKING_AT | _ALSO if program in _HAVING else _LOOKING_AT
    return not looking.isdisjoint(plain)


def _name(words: list[str]) -> str:
    """Return the program and the words of it that are no options and no arguments."""
    kept = [words[0].rpartition("/")[2]]
    for word in words[1:]:
        if len(kept) == 3 or not re.fullmatch(r"[A-Za-z][\w:-]*", word):
            if word in ("-m", "--", "-r") and len(kept) < 3:
                continue
            break
        kept.append(word)
    return " ".join(kept)


def _target(words: list[str], name: str) -> str:
    given = words[1:]
    kept = []
    for index, word in enumerate(given):
        named = bool(index) and given[index - 1] in _TARGETS
        argument = not word.startswith("-") and word not in name.split()
        if named or (argument and len(word) < _LONGEST_ARGUMENT):
            kept.append(word)
    return " ".join(kept)

"""``know-hook``: an agent says that a session has moved on; note it, and be gone.

Owns where the queue lies, what an entry looks like and how it is written. The
queue is a folder of the user, for a hook knows no repository: one small file a
transcript, so that repeated events of a session are one entry, and twenty hooks
at once write twenty files. What becomes of an entry is `sessions/capture/queue.py`.

Must not import anything but the standard library (it starts with every turn of
an agent, and the light imports are half of its life), must not print (on some
events standard output becomes the agent's context), must not wait, and must not
fail: whatever happens, it exits with 0, within a second.
"""

import _thread
import hashlib
import json
import os
import signal
import sys
import time

TYPE_CHECKING = False  # typing alone would cost a fifth of the whole
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

QUEUE = "queue"
LOG = "hook.log"

# An agent gives the hooks of an ending session 1.5 seconds in all.
_LIFE = 1.0
_GRACE = 0.1
_MOST_INPUT = 1 << 20
_LONGEST = 4096
_MOST_LOG = 1 << 16
_STATUS_EVERY = 60

# What agents call the same thing, in the order in which it is looked for.
# Claude Code, Codex hooks and Gemini CLI use the first name; Copilot CLI writes
# camelCase; Cursor has conversations and workspace roots, Codex's `notify` has
# threads. A sub-agent's own transcript goes before that of its parent.
_PATHS = ("agent_transcript_path", "transcript_path", "transcriptPath")
_SESSIONS = ("session_id", "sessionId", "conversation_id", "thread-id")
_FOLDERS = ("cwd", "workspace_roots")
_EVENTS = ("hook_event_name", "type")


def main() -> "NoReturn":
    """Enqueue what the agent says in its last argument or on standard input; exit with 0.

    ``--agent NAME`` says who calls, by default Claude Code; ``--event NAME`` what
    happened, for agents that do not say; ``--status`` that it is a status line:
    then it enqueues once a minute at most, and prints a word for the person.
    """
    try:
        # Interrupts go to the agent's whole process group. Life is short anyway.
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)
        _thread.start_new_thread(_exit_after, (_LIFE,))
        _run(sys.argv[1:])
    except BaseException as error:
        _log(f"{type(error).__name__}: {error}")
    # Nothing is left to flush, and nobody may hold us up or change the code.
    os._exit(0)


def state_dir() -> str:
    """Return the folder of the queue and the log: `KNOW_STATE`, else the platform's.

    The same as platformdirs would say, without importing it. A relative path in
    either variable is ignored: a hook runs in any folder.
    """
    override = os.environ.get("KNOW_STATE", "")
    if os.path.isabs(override):
        return override
    base = os.environ.get("XDG_STATE_HOME", "")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif not os.path.isabs(base):
        mac = sys.platform == "darwin"
        base = os.path.expanduser("~/Library/Application Support" if mac else "~/.local/state")
    if not os.path.isabs(base):
        raise OSError("no home folder to keep the queue in")
    return os.path.join(base, "knowrepo")


def entry_name(agent: str, path: str, session: str) -> str:
    """Return the file name of an entry: one a transcript, or a session that names none."""
    key = f"{agent}\0{path}\0{'' if path else session}"
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32] + ".json"


def write_entry(folder: str, name: str, entry: "Mapping[str, object]") -> None:
    """Publish an entry by rename: a reader sees the one before, or this one, whole.

    It is not brought to the disk: a power cut may cost the note, never the
    transcript, and the next event or `know archive --all` finds that again.
    """
    data = json.dumps(entry).encode()
    temporary = os.path.join(folder, f".{os.getpid()}.{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        file = os.open(temporary, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        file = os.open(temporary, flags, 0o600)
    try:
        try:
            while data:
                data = data[os.write(file, data) :]
        finally:
            os.close(file)
        os.replace(temporary, os.path.join(folder, name))
    except BaseException:
        os.unlink(temporary)
        raise


def _run(arguments: list[str]) -> None:
    agent, event, status, given = _options(arguments)
    told = "not queued, see `know hooks status`"
    try:
        said = _parse(given) if given else _read()
        _enqueue(said, agent, event, seldom=status)
        told = "session queued"
    finally:
        if status:  # shown to the person at the foot of the window, and to no model
            os.write(1, f"know: {told}\n".encode())
        if not given:
            _drain()


def _options(arguments: list[str]) -> tuple[str, str, bool, bytes]:
    """Return the agent, the event, whether it is a status line, and JSON given as an argument."""
    named = {"--agent": "claude", "--event": ""}
    status = False
    given = b""
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word in named and rest:
            named[word] = rest.pop(0)
        elif word == "--status":
            status = True
        elif word.lstrip().startswith("{") and not rest:
            given = os.fsencode(word)
        else:
            raise ValueError(f"an argument that is none of its own: {word[:40]!r}")
    agent = named["--agent"]
    if not (agent.isascii() and agent.replace("-", "").isalnum() and len(agent) <= 32):
        raise ValueError("--agent must be a short name")
    return agent, named["--event"], status, given


def _read() -> "Mapping[str, object]":
    """Return the object on standard input, as soon as it is whole: the pipe may stay open."""
    data = b""
    while block := os.read(0, 1 << 16):
        data += block
        if len(data) > _MOST_INPUT:
            raise ValueError("more than 1 MiB on standard input")
        if block.rstrip().endswith(b"}"):
            try:
                return _parse(data)
            except ValueError:  # the end of something inside, most likely
                continue
    return _parse(data)


def _drain() -> None:
    """Read what is still coming, for a moment: a closed pipe could upset who writes."""
    _thread.start_new_thread(_exit_after, (_GRACE,))
    while os.read(0, 1 << 16):
        pass


def _parse(data: bytes) -> "Mapping[str, object]":
    said = json.loads(data)
    if not isinstance(said, dict):
        raise ValueError("not a JSON object")
    return said


def _enqueue(said: "Mapping[str, object]", agent: str, event: str, *, seldom: bool) -> None:
    event = event or _text(said, _EVENTS)
    path = _text(said, _PATHS)
    if path.startswith("~"):
        path = os.path.expanduser(path)
    if path and not os.path.isabs(path):
        raise ValueError("the path of the transcript is not absolute")
    session = _text(said, _SESSIONS)
    if not path and not session:
        raise ValueError("it names neither a transcript nor a session")
    folder = os.path.join(state_dir(), QUEUE)
    name = entry_name(agent, path, session)
    if seldom and _is_fresh(os.path.join(folder, name)):
        return
    entry = {
        "agent": agent,
        "path": path,
        "session": session,
        "cwd": _text(said, _FOLDERS),
        "event": event,
        "time": int(time.time()),
        "closed": _closes(event, said),
    }
    write_entry(folder, name, entry)


def _closes(event: str, said: "Mapping[str, object]") -> bool:
    """Tell whether nothing more is to be expected in this transcript."""
    plain = event.replace("_", "").replace("-", "").lower()
    # Where a sub-agent has no transcript of its own, its parent's goes on.
    return plain == "sessionend" or (plain == "subagentstop" and bool(said.get(_PATHS[0])))


def _text(said: "Mapping[str, object]", names: tuple[str, ...]) -> str:
    """Return the first of these values that is a string, or a list that begins with one."""
    for name in names:
        value = said.get(name)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, str) and value:
            if len(value) > _LONGEST or "\0" in value:
                raise ValueError(f"`{name}` is too long, or holds a NUL")
            return value
    return ""


def _is_fresh(path: str) -> bool:
    try:
        return abs(time.time() - os.stat(path).st_mtime) < _STATUS_EVERY
    except OSError:
        return False


def _exit_after(seconds: float) -> None:
    """End the process, whatever it waits for: a pipe that stays open, a disk that hangs."""
    time.sleep(seconds)
    os._exit(0)


def _log(message: str) -> None:
    """Note what went wrong, without a word of what the agent said; two small files at most."""
    try:
        folder = state_dir()
        path = os.path.join(folder, LOG)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        file = os.open(path, flags, 0o600)
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        os.write(file, f"{when} {' '.join(message.split())[:300]}\n".encode("ascii", "replace"))
        if os.fstat(file).st_size > _MOST_LOG:
            os.replace(path, path + ".old")
    except BaseException:  # no place to complain
        return


if __name__ == "__main__":
    main()

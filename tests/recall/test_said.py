"""What a chunk of a session is worth for what somebody said in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import assistant, tool_call, tool_result, transcript, user
from knowrepo.index.chunk import session_chunks
from knowrepo.recall import said
from knowrepo.sessions.readers import reader_of
from knowrepo.sessions.store import SessionLines


def cut(folder, records: list[dict]) -> list[str]:
    """Return the texts of the chunks of a session, as the chunker makes them."""
    reader = reader_of("claude")
    assert reader is not None
    lines = SessionLines(transcript(folder, records))
    return [chunk.text for chunk in session_chunks(reader.read(lines), reader.facts(lines, "x"))]


def test_what_users_and_assistants_say_counts_in_full(tmp_path):
    [text] = cut(tmp_path, [user("why is it slow?", 1), assistant("It reads\n\nall of it.", 2)])
    assert said.share(text) == 1.0
    assert said.worth(text) == 1.0


def test_calls_of_tools_and_their_output_are_not_said(tmp_path):
    records = [
        user("why is it slow?", 1),
        tool_call("Bash", 2, command="time make"),
        tool_result("Note: a line of output\nreal 0m1.0s", 3, 2),
        assistant("It reads all of it.", 4),
    ]
    [text] = cut(tmp_path, records)
    spoken = "User: why is it slow?\n" + "Assistant: It reads all of it."
    assert said.share(text) == pytest.approx(len(spoken) / len(text))
    assert 1 - said.UNSAID < said.worth(text) < 1.0


def test_the_later_parts_of_a_long_message_count_less_than_its_beginning(tmp_path):
    long = "\n\n".join(f"Paragraph {n} tells a detail. {'And more. ' * 40}" for n in range(6))
    first, *others = cut(tmp_path, [user(long, 1)])
    assert said.share(first) == 1.0
    assert others
    assert {said.worth(other) for other in others} == {1 - said.UNSAID}


@given(st.text() | st.lists(st.sampled_from(["User: a", "Output: b", "Bash: c", "d", ""])))
def test_it_is_a_share_of_any_text(text):
    text = text if isinstance(text, str) else "\n".join(text)
    assert 0.0 <= said.share(text) <= 1.0
    assert 1 - said.UNSAID <= said.worth(text) <= 1.0

from __future__ import annotations

import base64
import hashlib
import io
import json
from typing import Any

import pytest

from helpers import assistant, tool_result, user
from knowrepo.sessions.keep import BAD, Kept, archived_line
from knowrepo.sessions.lines import read_lines
from redaction_corpus import secrets

SECRET = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"


def keep(raw: bytes) -> tuple[bytes | None, Kept]:
    kept = Kept()
    (line,) = read_lines(io.BytesIO(raw))
    return archived_line(line, kept), kept


def keep_record(record: dict[str, Any]) -> dict[str, Any]:
    archived, _ = keep(json.dumps(record).encode() + b"\n")
    assert archived is not None
    loaded: dict[str, Any] = json.loads(archived)
    return loaded


def test_a_line_without_a_finding_stays_byte_for_byte():
    raw = b'{ "type" : "user", "n": 1.50e3, "s": "\\u00e9\\/", "uuid":"u" }'
    assert keep(raw + b"\r\n")[0] == raw


def test_a_secret_is_redacted_in_the_decoded_string_wherever_it_stands():
    escaped = "".join(f"\\u{ord(c):04x}" for c in SECRET)
    raw = (
        b'{"type":"user","uuid":"u","deep":[{"x":"'
        + escaped.encode()
        + b'"}],"n":12345678901234567890}'
    )
    archived, kept = keep(raw + b"\n")
    assert archived is not None
    assert json.loads(archived)["deep"] == [{"x": "[redacted:github-token]"}]
    assert b"12345678901234567890" in archived
    assert kept.redacted == {"github-token": 1}


def test_a_secret_under_a_key_that_is_repeated_does_not_stay():
    raw = b'{"type":"user","uuid":"u","t":"' + SECRET.encode() + b'","t":"ok"}'
    archived, _ = keep(raw + b"\n")
    assert archived is not None
    assert SECRET.encode() not in archived


def test_a_name_tells_that_its_value_is_a_secret():
    password = "h7Gk2" + "mQ9zX4v"
    kept = keep_record(user("x", input={"db_password": password, "token_count": password}))
    assert kept["input"] == {"db_password": "[redacted:assigned-secret]", "token_count": password}


def test_numbers_keep_their_spelling_in_a_line_that_changes():
    raw = (
        '{"s":"'
        + SECRET
        + '","a":12345678901234567.891234,"b":1e400,"c":-0.0,"z":-0,"d":1E5,"e":[]}'
    )
    archived, _ = keep(raw.encode() + b"\n")
    assert archived == raw.replace(SECRET, "[redacted:github-token]").encode()


def test_two_secrets_as_keys_keep_both_values():
    other = SECRET[:-1] + "B"
    kept = keep_record({"type": "x", "uuid": "u", "m": {SECRET: 1, other: 2}})
    assert sorted(kept["m"].values()) == [1, 2]


def test_an_invalid_byte_in_a_bad_line_is_told():
    archived, _ = keep(b"broken \xff line\n")
    assert archived == b'{"type":"know.bad","text":"broken \\\\xff line"}'


def test_a_secret_in_a_key_is_redacted_too():
    assert "[redacted:github-token]" in keep_record(user("x", extra={SECRET: 1}))["extra"]


def test_signatures_are_never_touched():
    record = assistant([{"type": "thinking", "thinking": "", "signature": SECRET}])
    assert keep_record(record) == record
    other = keep_record(assistant([{"type": "tool_use", "input": {"signature": SECRET}}]))
    assert SECRET not in json.dumps(other)


def test_images_and_whole_files_become_stubs_that_name_what_they_were():
    data = bytes(range(256)) * 4
    image = {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": "image/png",
            "data": base64.b64encode(data).decode(),
        },
    }
    original = "line\n" * 200
    record = user([image], toolUseResult={"originalFile": original, "filePath": "/a"})
    kept = keep_record(record)
    digest = hashlib.sha256(data).hexdigest()
    assert kept["message"]["content"][0]["source"]["data"] == (
        f"[stub base64 sha256={digest} bytes=1024 type=image/png]"
    )
    digest = hashlib.sha256(original.encode()).hexdigest()
    assert kept["toolUseResult"] == {
        "originalFile": f"[stub file sha256={digest} bytes=1000]",
        "filePath": "/a",
    }


def test_a_copy_of_the_result_goes_and_text_that_stands_nowhere_else_stays():
    shown = "the output of a command that is long enough to be worth the trouble of dropping"
    only_here = (
        "what was written to standard error, and is found nowhere else in this record at all"
    )
    record = tool_result(shown, 3, 2, toolUseResult={"stdout": shown, "stderr": only_here})
    assert keep_record(record)["toolUseResult"] == {"stderr": only_here}


def test_a_numbered_listing_counts_as_the_same_text():
    content = "\n".join(f"def function_{n}(): return {n}" for n in range(10))
    shown = "\n".join(f"{n:6d}\t{line}" for n, line in enumerate(content.split("\n"), start=1))
    record = tool_result(shown, 3, 2, toolUseResult={"file": {"content": content, "numLines": 10}})
    assert keep_record(record)["toolUseResult"] == {"file": {"numLines": 10}}


def test_progress_that_repeats_is_dropped_and_progress_that_carries_output_is_kept():
    chatter = {"type": "progress", "uuid": "p", "data": {"type": "hook_progress"}}
    output = {"type": "progress", "uuid": "p", "data": {"type": "bash_progress", "output": "half"}}
    assert keep(json.dumps(chatter).encode() + b"\n")[0] is None
    assert keep_record(output) == output


def test_fields_of_any_type_do_no_harm():
    schema = {"properties": {"type": {"enum": []}, "data": {"type": ["x"]}, "signature": 1}}
    for record in (
        {"type": ["x"], "uuid": "u", "data": {"type": {}}},
        {"type": "progress", "data": {"type": []}, "uuid": "u"},
        assistant([{"type": "tool_use", "input": schema}]),
    ):
        assert keep_record(record) == record


def test_a_bad_line_is_kept_as_redacted_text_and_reported():
    archived, kept = keep(b'{"type":"user", broken ' + SECRET.encode() + b"\n")
    assert archived is not None
    assert json.loads(archived) == {
        "type": BAD,
        "text": '{"type":"user", broken [redacted:github-token]',
    }
    assert kept.bad == [1]


def image(size: int = 600) -> tuple[str, str]:
    data = bytes(n % 251 for n in range(size))
    digest = hashlib.sha256(data).hexdigest()
    return base64.b64encode(data).decode(), f"[stub base64 sha256={digest} bytes={size}"


@pytest.mark.parametrize(
    ("wrap", "kind"),
    [
        (lambda b: {"inlineData": {"mimeType": "image/png", "data": b}}, "image/png"),
        (lambda b: {"type": "image", "data": b, "mimeType": "image/jpeg"}, "image/jpeg"),
        (lambda b: {"type": "input_audio", "data": b, "format": "wav"}, "wav"),
        (lambda b: {"image_url": f"data:image/webp;base64,{b}"}, "image/webp"),
        (lambda b: {"image_url": {"url": f"data:image/png;base64,{b}"}}, "image/png"),
        (lambda b: {"url": f"data:application/pdf;name=a.pdf;base64,{b}"}, "application/pdf"),
        (lambda b: {"type": "document", "source": {"type": "base64", "data": b}}, "base64"),
        (lambda b: {"type": "image_generation_call", "result": b}, "image_generation_call"),
        (lambda b: {"file": {"base64": b, "type": "image/png"}}, "image/png"),
    ],
)
def test_every_agents_payload_becomes_a_stub(wrap, kind: str):
    data, stub = image()
    for encoded in (json.dumps, lambda r: json.dumps(r).replace("/", "\\/")):
        archived, kept = keep(encoded({"type": "x", "content": [wrap(data)]}).encode() + b"\n")
        assert archived is not None
        assert f"{stub} type={kind}]" in archived.decode()
        assert data not in archived.decode()
        assert kept.stubbed == 1
        assert keep(archived + b"\n")[0] == archived


def test_base64_that_nothing_calls_a_payload_stays():
    data, _ = image()
    for record in (
        {"type": "reasoning", "encrypted_content": data},
        {"type": "x", "thoughtSignature": data, "data": {"token": data[:40]}},
        {"type": "redacted_thinking", "data": data},
        {"type": "x", "data": data},
    ):
        assert keep_record(record).keys() == record.keys()
        assert data in json.dumps(keep_record(record))


@pytest.mark.parametrize("writer", ["plain", "escaped", "slashes", "ascii"])
def test_no_secret_of_the_corpus_hides_in_how_a_line_is_spelled(writer: str):
    for secret in secrets():
        record = {"type": "user", "uuid": "u", "m": {secret.key or "text": secret.text}}
        raw = json.dumps(record, ensure_ascii=writer == "ascii")
        if writer == "escaped":
            whole = json.dumps(secret.text)[1:-1]
            spelled = "".join(f"\\u{ord(c):04x}" for c in secret.text)
            raw = json.dumps(record).replace(whole, spelled)
        if writer == "slashes":
            raw = raw.replace("/", "\\/")
        archived, _ = keep(raw.encode() + b"\n")
        assert archived is not None
        text = json.loads(archived)["m"][secret.key or "text"]
        assert not secret.stays_in(text), secret


def test_the_counts_add_up():
    sound, progress = json.dumps(user("x")), '{"type":"progress","data":{"type":"hook_progress"}}'
    source = f"{sound}\n\n{progress}\n{sound}{sound}\n{{broken\n{{stub{sound}\n{{pending".encode()
    kept = Kept()
    out = [archived_line(line, kept) for line in read_lines(io.BytesIO(source))]
    assert (kept.lines, kept.pieces, kept.recovered) == (6, 8, 2)
    assert kept.pieces == kept.records + kept.dropped + len(kept.bad) + kept.pending
    assert sum(line is not None for line in out) == kept.records + len(kept.bad)
    assert kept.dropped_kinds == {"hook_progress": 1}


def test_archiving_an_archived_line_changes_nothing():
    raws = [
        json.dumps(user(f"my token is {SECRET}")).encode(),
        b'{"type":"user", broken ' + SECRET.encode(),
        json.dumps(tool_result("x" * 100, 3, 2, toolUseResult={"stdout": "x" * 100})).encode(),
    ]
    for raw in raws:
        once, _ = keep(raw + b"\n")
        assert once is not None
        assert keep(once + b"\n")[0] == once


def test_a_record_nested_deeper_than_can_be_walked_is_kept():
    raw = b'{"type":"user","uuid":"u","a":' + b"[" * 900 + b"]" * 900 + b"}"
    archived, _ = keep(raw + b"\n")
    assert archived == raw

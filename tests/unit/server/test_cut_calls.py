"""A call inside which a reply ended is never whole for a program, in any dialect."""

from __future__ import annotations

import json

import pytest

from headstart.core.chats.parts import Origin, PartKind
from headstart.core.chats.values import FinishReason
from headstart.core.events import CallStep, TextPiece
from headstart.server.dialects.chat import ChatWriter
from headstart.server.dialects.declined import Declined
from headstart.server.dialects.messages import MessagesWriter
from headstart.server.dialects.responses import ResponsesWriter
from tests.support.run_calls import DIALECTS, answered, ended, runs, streamed

WRITTEN = '{"command": "rm -rf /home/'
WHOLE = TextPiece(PartKind.TOOL_CALL, '{"path": "a"}', Origin.TARGET, "read", 1)
CUT = TextPiece(PartKind.TOOL_CALL, WRITTEN, Origin.TARGET, "bash", 2, CallStep.CUT)
LIMIT = ended(FinishReason.LENGTH)
ENDS = (FinishReason.LENGTH, FinishReason.CONTEXT_FULL, FinishReason.END, FinishReason.CANCELLED)


@pytest.mark.parametrize("finish", ENDS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_was_written_before_runs_and_the_cut_call_does_not(
    dialect: str, finish: FinishReason
) -> None:
    assert runs(dialect, [WHOLE, CUT], ended(finish)) == [("read", {"path": "a"})] * 2


@pytest.mark.parametrize("length", range(1, len('{"input": "rm -rf /home/me"}')))
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_text_that_was_cut_does_not_run(dialect: str, length: int) -> None:
    text = '{"input": "rm -rf /home/me"}'[:length]
    cut = TextPiece(PartKind.TOOL_CALL, text, Origin.TARGET, "shell", 1, CallStep.CUT)
    assert runs(dialect, [cut], LIMIT, free=["shell"]) == []


def test_chat_says_length_and_gives_what_was_written() -> None:
    found = ChatWriter(answered()).whole([CUT], LIMIT)["choices"][0]
    assert found["finish_reason"] == "length"
    (call,) = found["message"]["tool_calls"]
    assert call["function"] == {"name": "bash", "arguments": WRITTEN}
    chunks = streamed(ChatWriter(answered()), [CUT], LIMIT)
    assert [one["choices"][0]["finish_reason"] for one in chunks[:-1]][-1] == "length"


@pytest.mark.parametrize(("finish", "says"), [("END", "stop"), ("LENGTH", "length")])
def test_a_cut_call_alone_asks_for_no_result(finish: str, says: str) -> None:
    found = ChatWriter(answered()).whole([CUT], ended(FinishReason[finish]))
    assert found["choices"][0]["finish_reason"] == says


def test_responses_are_incomplete_and_so_is_the_item() -> None:
    whole = ResponsesWriter(answered()).whole([WHOLE, CUT], LIMIT)
    assert whole["status"] == "incomplete"
    assert whole["incomplete_details"] == {"reason": "max_output_tokens"}
    first, last = whole["output"]
    assert (first["status"], last["status"]) == ("completed", "incomplete")
    assert last["arguments"] == WRITTEN
    found = streamed(ResponsesWriter(answered()), [WHOLE, CUT], LIMIT)
    kinds = [one["type"] for one in found]
    assert kinds.count("response.function_call_arguments.done") == 1
    assert [one["item"]["status"] for one in found if one["type"].endswith("item.done")] == [
        "completed", "incomplete",
    ]  # fmt: skip
    assert kinds[-1] == "response.incomplete"
    assert found[-1]["response"]["output"] == whole["output"]


def test_a_text_that_was_cut_has_no_end_in_the_stream() -> None:
    text = '{"input": "*** Begin Patch\\nDelete a'
    cut = TextPiece(PartKind.TOOL_CALL, text, Origin.TARGET, "patch", 1, CallStep.CUT)
    found = streamed(ResponsesWriter(answered(["patch"])), [cut], LIMIT)
    assert not [one for one in found if one["type"].endswith("done")]
    (item,) = found[-1]["response"]["output"]
    assert (item["status"], item["input"]) == ("incomplete", "*** Begin Patch\nDelete a")


def test_messages_leave_the_input_open() -> None:
    found = streamed(MessagesWriter(answered()), [WHOLE, CUT], LIMIT)
    kinds = [one["type"] for one in found]
    # the last block begins, has its input as far as it was written, and does not end
    assert kinds[-4:] == [
        "content_block_start", "content_block_delta", "message_delta", "message_stop",
    ]  # fmt: skip
    assert found[-3]["delta"] == {"type": "input_json_delta", "partial_json": WRITTEN}
    assert found[-2]["delta"]["stop_reason"] == "max_tokens"


def test_whole_messages_leave_the_call_out_and_say_so() -> None:
    found = MessagesWriter(answered()).whole([WHOLE, CUT], LIMIT)
    assert [one["name"] for one in found["content"]] == ["read"]
    assert found["stop_reason"] == "max_tokens"
    assert found["headstart"]["cut_call"] == {"name": "bash", "text": WRITTEN}


def test_a_stream_that_fails_in_a_call_does_not_end_the_call() -> None:
    for dialect, (make, _, of_stream) in DIALECTS.items():
        writer = make(answered())
        data = writer.begin(0, 0) + writer.take([CUT]) + writer.fail(Declined("Stopped."))
        lines = [one for one in data.decode().split("\n") if one.startswith("data: {")]
        found = [json.loads(one.removeprefix("data: ")) for one in lines]
        told = [one for one in found if "error" not in one]
        assert of_stream(told) == [], dialect

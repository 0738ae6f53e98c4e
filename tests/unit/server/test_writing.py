"""Streams of all dialects say the same as their whole answers, whatever the pieces."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from headstart.core.chats.parts import Origin, PartKind
from headstart.core.chats.values import FinishReason, PrefixStats, TurnStats
from headstart.core.events import CallStep, TextPiece
from headstart.core.serving.request import ServedRequest, ShownTool
from headstart.server.dialects.chat import ChatWriter
from headstart.server.dialects.completions import CompletionsWriter
from headstart.server.dialects.declined import Declined, too_long
from headstart.server.dialects.messages import MessagesWriter
from headstart.server.dialects.reply import Answered, AnswerWriter, Ended
from headstart.server.dialects.responses import ResponsesWriter
from tests.support.program import events

NAMES = {"agents__wait": ShownTool("wait", "agents"), "patch": ShownTool("patch", "", free=True)}
ANSWERED = Answered(ServedRequest(names=NAMES, with_usage=True), "0" * 32, "local", 7)
STATS = TurnStats(FinishReason.END, 20, 12, 0.5, 0.6, 9, 0.3, prefix=PrefixStats(4, 8))
ENDED = Ended(STATS, reasoning_tokens=3)
CUT = Ended(replace(STATS, finish=FinishReason.LENGTH), reasoning_tokens=3)


def pieces_of(rng: random.Random) -> list[list[TextPiece]]:
    """Some batches of a reply's pieces, as the engine emits them."""
    found: list[TextPiece] = []
    number = 0
    for _ in range(rng.randrange(0, 7)):
        kind = rng.choice(("text", "reasoning", "call", "withdrawn"))
        if kind in ("text", "reasoning"):
            part = PartKind.TEXT if kind == "text" else PartKind.REASONING
            words = rng.choice(["a", "é\n", "漢字", "data: x\n\n", "🙂", ""])
            found += [TextPiece(part, words, Origin.TARGET) for _ in range(rng.randrange(1, 4))]
        elif kind == "withdrawn":
            call = PartKind.TOOL_CALL
            found.append(TextPiece(call, "", Origin.TARGET, "read", number + 1, CallStep.BEGAN))
            found.append(TextPiece(call, "", Origin.TARGET, "", number + 1, CallStep.WITHDRAWN))
            found.append(TextPiece(PartKind.TEXT, "<tool", Origin.TARGET))
        else:
            number += 1
            name = rng.choice(["read", "agents__wait", "patch"])
            given = {"input": "*** é"} if name == "patch" else {"path": "é", "n": number}
            text = json.dumps(given)
            call = PartKind.TOOL_CALL
            found.append(TextPiece(call, "", Origin.TARGET, name, number, CallStep.BEGAN))
            found.append(TextPiece(call, text[:4], Origin.TARGET, name, number, CallStep.MORE))
            found.append(TextPiece(call, text, Origin.TARGET, name, number, CallStep.WHOLE))
    batches: list[list[TextPiece]] = [[]]
    for piece in found:
        if rng.random() < 0.5:
            batches.append([])
        batches[-1].append(piece)
    return batches


def cut_call(name: str, text: str, number: int = 9) -> list[TextPiece]:
    """The pieces of a call inside which the reply ended."""
    call = PartKind.TOOL_CALL
    return [
        TextPiece(call, "", Origin.TARGET, name, number, CallStep.BEGAN),
        TextPiece(call, text, Origin.TARGET, name, number, CallStep.CUT),
    ]


def streamed(
    writer: AnswerWriter, batches: list[list[TextPiece]], ended: Ended = ENDED
) -> list[tuple[str, Any]]:
    data = writer.begin(20, 12) + writer.alive(3, 20)
    for batch in batches:
        data += writer.take(batch)
    return events(data + writer.end(ended))


def whole(writer: AnswerWriter, batches: list[list[TextPiece]], ended: Ended = ENDED) -> Any:
    found = writer.whole([piece for batch in batches for piece in batch], ended)
    return json.loads(json.dumps(found))


def of_chat(found: list[tuple[str, Any]]) -> Any:
    """The message that a program puts together from the chunks."""
    assert found[-1] == ("", "[DONE]")
    assert found[-2][1]["choices"] == []
    message: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": []}
    finish = None
    for _, chunk in found[:-2]:
        (choice,) = chunk["choices"]
        delta = choice["delta"]
        finish = choice["finish_reason"] or finish
        message["content"] += delta.get("content") or ""
        message["reasoning_content"] += delta.get("reasoning_content") or ""
        for call in delta.get("tool_calls", ()):
            calls = message["tool_calls"]
            if call["index"] == len(calls):
                calls.append({key: call[key] for key in ("id", "type", "function")})
            else:
                calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
    return message, finish, found[-2][1]["usage"]


def whole_chat(found: Any) -> Any:
    (choice,) = found["choices"]
    message = choice["message"]
    said = {
        "content": message["content"] or "",
        "reasoning_content": message.get("reasoning_content", ""),
        "tool_calls": message.get("tool_calls", []),
    }
    return said, choice["finish_reason"], found["usage"]


def of_messages(found: list[tuple[str, Any]]) -> Any:
    """The blocks that a program puts together; every delta is of its block's kind. Those that do
    not end are none."""
    kinds = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}
    blocks: list[Any] = []
    is_open = False
    for name, event in found:
        assert name == event["type"]
        match name:
            case "content_block_start":
                assert not is_open
                assert event["index"] == len(blocks)
                blocks.append(dict(event["content_block"]))
                is_open = True
            case "content_block_delta":
                assert is_open
                delta, block = event["delta"], blocks[event["index"]]
                if delta["type"] == "signature_delta":
                    block["signature"] = delta["signature"]
                    continue
                assert kinds[delta["type"]] == block["type"]
                if delta["type"] == "text_delta":
                    block["text"] += delta["text"]
                elif delta["type"] == "thinking_delta":
                    block["thinking"] += delta["thinking"]
                else:
                    block["input"] = _value(delta["partial_json"])
            case "content_block_stop":
                is_open = False
    if is_open:
        # a call that was cut, at the very end
        assert blocks.pop()["type"] == "tool_use"
        assert found[-2][1]["delta"]["stop_reason"] == "max_tokens"
    assert (found[0][0], found[-1][0]) == ("message_start", "message_stop")
    end = found[-2][1]
    blocks = blocks or [{"type": "text", "text": ""}]
    return blocks, end["delta"]["stop_reason"], end["usage"]


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def whole_messages(found: Any) -> Any:
    return found["content"], found["stop_reason"], found["usage"]


def of_responses(found: list[tuple[str, Any]]) -> Any:
    """The items of the stream; they are those of the end."""
    assert [event["sequence_number"] for _, event in found] == list(range(len(found)))
    items: list[Any] = []
    added: list[str] = []
    texts: dict[str, str] = {}
    for name, event in found:
        assert name == event["type"]
        if name == "response.output_item.added":
            assert event["output_index"] == len(added)
            added.append(event["item"]["id"])
        elif name == "response.output_item.done":
            assert event["item"]["id"] == added[event["output_index"]]
            items.append(event["item"])
        elif name.endswith(".delta"):
            texts[event["item_id"]] = texts.get(event["item_id"], "") + event["delta"]
    for item in items:
        if item["type"] == "message":
            assert texts[item["id"]] == item["content"][0]["text"]
        elif item["type"] == "function_call":
            assert texts[item["id"]] == item["arguments"]
        elif item["type"] == "custom_tool_call":
            assert texts[item["id"]] == item["input"] == "*** é"
    response = found[-1][1]["response"]
    if len(items) < len(added):
        # a call with a text that was cut does not end in the stream
        items.append(response["output"][-1])
        assert items[-1]["type"] == "custom_tool_call"
        assert items[-1]["status"] == "incomplete"
        assert texts[items[-1]["id"]] == items[-1]["input"]
    assert response["output"] == items
    return items, response["status"], response["usage"]


def whole_responses(found: Any) -> Any:
    return found["output"], found["status"], found["usage"]


def of_completions(found: list[tuple[str, Any]]) -> Any:
    texts = [chunk["choices"][0]["text"] for _, chunk in found[:-2]]
    return "".join(texts), found[-3][1]["choices"][0]["finish_reason"], found[-2][1]["usage"]


def whole_completions(found: Any) -> Any:
    (choice,) = found["choices"]
    return choice["text"], choice["finish_reason"], found["usage"]


WRITERS: dict[str, tuple[Callable[[Answered], AnswerWriter], Any, Any]] = {
    "chat": (ChatWriter, of_chat, whole_chat),
    "messages": (MessagesWriter, of_messages, whole_messages),
    "responses": (ResponsesWriter, of_responses, whole_responses),
    "completions": (CompletionsWriter, of_completions, whole_completions),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_stream_says_what_the_whole_answer_says(name: str) -> None:
    make, of_stream, of_whole = WRITERS[name]
    rng = random.Random(3)
    for _ in range(200):
        batches = pieces_of(rng)
        assert of_stream(streamed(make(ANSWERED), batches)) == of_whole(
            whole(make(ANSWERED), batches)
        )


@pytest.mark.parametrize("name", WRITERS)
def test_a_stream_that_is_cut_in_a_call_says_what_the_whole_answer_says(name: str) -> None:
    make, of_stream, of_whole = WRITERS[name]
    rng = random.Random(4)
    for _ in range(100):
        batches = pieces_of(rng)
        tool = rng.choice(["read", "agents__wait", "patch"])
        text = '{"input": "*** é"}' if tool == "patch" else '{"path": "a b", "n": 3}'
        batches.append(cut_call(tool, text[: rng.randrange(1, len(text))]))
        assert of_stream(streamed(make(ANSWERED), batches, CUT)) == of_whole(
            whole(make(ANSWERED), batches, CUT)
        )


@pytest.mark.parametrize("name", WRITERS)
def test_a_stream_can_end_with_an_error(name: str) -> None:
    writer = WRITERS[name][0](ANSWERED)
    data = writer.begin(0, 0) + writer.fail(too_long(9_000, 7_168, 8_192))
    kind, last = [one for one in events(data) if one[1] != "[DONE]"][-1]
    error = last["response"]["error"] if name == "responses" else last["error"]
    assert error["message"].startswith("prompt is too long: 9000 tokens > 7168 maximum")
    assert kind == {"messages": "error", "responses": "response.failed"}.get(name, "")


def test_names_and_namespaces_come_back_apart() -> None:
    piece = TextPiece(PartKind.TOOL_CALL, "{}", Origin.TARGET, "agents__wait", 1)
    (item,) = ResponsesWriter(ANSWERED).whole([piece], ENDED)["output"]
    assert (item["namespace"], item["name"]) == ("agents", "wait")


def test_kinds_of_errors() -> None:
    assert Declined("x").kind == "invalid_request_error"
    assert Declined("x", status=429).kind == "rate_limit_error"
    assert Declined("x", status=500).kind == "api_error"

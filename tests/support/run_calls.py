"""Calls that a program would run from an answer, read as carelessly as frameworks read it: whatever
parses as an object is run, whatever the reason for the answer's end."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from headstart.core.chats.values import FinishReason, PrefixStats, TurnStats
from headstart.core.events import TextPiece
from headstart.core.serving.request import ServedRequest, ShownTool
from headstart.server.dialects.chat import ChatWriter
from headstart.server.dialects.messages import MessagesWriter
from headstart.server.dialects.reply import Answered, AnswerWriter, Ended
from headstart.server.dialects.responses import ResponsesWriter
from tests.support.program import events

Run = tuple[str, Any]


def answered(free: Sequence[str] = ()) -> Answered:
    """An answer to a request whose tools with these names take one text."""
    names = {name: ShownTool(name, "", free=True) for name in free}
    return Answered(ServedRequest(names=names, with_usage=True), "0" * 32, "local", 7)


def ended(finish: FinishReason) -> Ended:
    return Ended(TurnStats(finish, 20, 12, 0.5, 0.6, 9, 0.3, prefix=PrefixStats(4, 8)))


def streamed(writer: AnswerWriter, pieces: Sequence[TextPiece], end: Ended) -> list[Any]:
    """The data of a stream's events."""
    data = writer.begin(20, 12) + b"".join(writer.take([piece]) for piece in pieces)
    return [found for _, found in events(data + writer.end(end)) if found != "[DONE]"]


def _run(name: str, text: str) -> list[Run]:
    try:
        found = json.loads(text, strict=False) if text else {}
    except ValueError:
        return []
    return [(name, found)] if isinstance(found, dict) else []


def of_chat(answer: Any) -> list[Run]:
    calls = answer["choices"][0]["message"].get("tool_calls", [])
    return [one for call in calls for one in _run(*_function(call))]


def _function(call: Any) -> tuple[str, str]:
    return call["function"]["name"], call["function"]["arguments"]


def of_chat_stream(found: Sequence[Any]) -> list[Run]:
    calls: dict[int, list[str]] = {}
    for chunk in found:
        for choice in chunk["choices"]:
            for call in choice["delta"].get("tool_calls", ()):
                known = calls.setdefault(call["index"], ["", ""])
                known[0] += call["function"].get("name", "")
                known[1] += call["function"]["arguments"]
    return [one for name, text in calls.values() for one in _run(name, text)]


def of_responses(answer: Any) -> list[Run]:
    return [one for item in answer["output"] for one in _of_item(item)]


def _of_item(item: Any) -> list[Run]:
    if item["type"] == "function_call":
        return _run(item["name"], item["arguments"])
    if item["type"] == "custom_tool_call" and item["status"] == "completed":
        return [(item["name"], {"input": item["input"]})]
    return []


def of_responses_stream(found: Sequence[Any]) -> list[Run]:
    """As an item ends, and as its arguments end."""
    done = [one["item"] for one in found if one["type"] == "response.output_item.done"]
    at_the_end = [one for item in done for one in _of_item(item)]
    # a text has no other sign than its event
    at_the_end += [
        (item["name"], {"input": item["input"]})
        for item in done
        if item["type"] == "custom_tool_call" and item["status"] != "completed"
    ]
    kinds = ("function_call_arguments.done", "custom_tool_call_input.done")
    assert len([one for one in found if one["type"].endswith(kinds)]) == len(at_the_end)
    return at_the_end


def of_messages(answer: Any) -> list[Run]:
    return [(one["name"], one["input"]) for one in answer["content"] if one["type"] == "tool_use"]


def of_messages_stream(found: Sequence[Any]) -> list[Run]:
    """Blocks that end."""
    blocks: dict[int, list[str]] = {}
    over: list[Run] = []
    for one in found:
        if one["type"] == "content_block_start" and one["content_block"]["type"] == "tool_use":
            blocks[one["index"]] = [one["content_block"]["name"], ""]
        elif one["type"] == "content_block_delta" and one["index"] in blocks:
            blocks[one["index"]][1] += one["delta"]["partial_json"]
        elif one["type"] == "content_block_stop" and one["index"] in blocks:
            over += _run(*blocks[one["index"]])
    return over


Reader = Callable[[Any], list[Run]]
# a writer, and what is run from its whole answer and from its stream
DIALECTS: dict[str, tuple[Callable[[Answered], AnswerWriter], Reader, Reader]] = {
    "chat": (ChatWriter, of_chat, of_chat_stream),
    "messages": (MessagesWriter, of_messages, of_messages_stream),
    "responses": (ResponsesWriter, of_responses, of_responses_stream),
}


def runs(dialect: str, pieces: Sequence[TextPiece], end: Ended, free: Sequence[str] = ()) -> Any:
    """What is run from the whole answer and from the stream, one after the other."""
    make, of_whole, of_stream = DIALECTS[dialect]
    of = answered(free)
    whole = json.loads(json.dumps(make(of).whole(pieces, end)))
    return [*of_whole(whole), *of_stream(streamed(make(of), pieces, end))]

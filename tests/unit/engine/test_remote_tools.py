"""Tools and calls of servers' models, in the API's own fields."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headstart.core.chats.parts import PartKind
from headstart.core.chats.values import FinishReason, Role, TurnStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import CallStep, Notice, TextAdded, TextPiece
from headstart.core.requests import (
    PromptCall,
    PromptMessage,
    RemoteRequest,
    ToolRole,
)
from headstart.core.servers import Connection, ServerModel
from headstart.core.settings.schema import Sampling
from headstart.core.tools import Choosing, ToolChoice, Tools
from tests.support.asking import QUESTION, Asking
from tests.support.scripted_server import Answer, Asked, ScriptedServer, chunk
from tests.support.tool_forms import READ, TOOLS


def _ask(asking: Asking, url: str, *messages: PromptMessage, tools: Tools) -> TurnStats:
    connection = Connection("s", "Server", url, "", 5, True, "", True)
    model = ServerModel(connection, "harbour-7b", 0)
    return asking.send(RemoteRequest(model, messages or QUESTION, Sampling(), tools=tools))


def _calls(asking: Asking, *steps: CallStep) -> list[TextPiece]:
    return [
        piece
        for event in asking.events
        if isinstance(event, TextAdded)
        for piece in event.pieces
        if piece.kind is PartKind.TOOL_CALL and piece.step in steps
    ]


def _delta(index: int, name: str = "", arguments: str = "", call_id: str = "") -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    named = {"id": call_id, "type": "function"} if call_id else {}
    return {"tool_calls": [{"index": index, **named, "function": function}]}


def test_calls_arrive_piece_by_piece(server: ScriptedServer, asking: Asking) -> None:
    async def call(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(["Let me ", "see."])
        await answer.event(chunk(_delta(0, "read_file", "", "abc")))
        for piece in ('{"pa', 'th": "a', '.txt"}'):
            await answer.event(chunk(_delta(0, arguments=piece)))
        await answer.event(chunk(_delta(1, "now", "{}", "def")))
        await answer.end("tool_calls")

    server.handler = call
    stats = _ask(asking, server.url, tools=Tools(TOOLS))
    assert stats.finish is FinishReason.END
    assert asking.said() == "Let me see."
    whole = _calls(asking, CallStep.WHOLE)
    assert [(one.name, json.loads(one.text), one.call) for one in whole] == [
        ("read_file", {"path": "a.txt"}, 1), ("now", {}, 2),
    ]  # fmt: skip
    more = _calls(asking, CallStep.MORE)
    assert "".join(one.text for one in more if one.call == 1) == whole[0].text
    body = server.asked[0].body
    assert [tool["function"]["name"] for tool in body["tools"]] == [tool.name for tool in TOOLS]
    assert body["tools"][0]["function"]["parameters"] == READ.parameters
    assert "tool_choice" not in body


def test_a_server_that_does_not_stream_calls(server: ScriptedServer, asking: Asking) -> None:
    async def whole(asked: Asked, answer: Answer) -> None:
        calls = [
            {"id": "x", "type": "function", "function": {"name": "now", "arguments": "{}"}},
            {"id": "y", "type": "function", "function": {"name": "now", "arguments": ""}},
        ]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        await answer.json(
            {"id": "c", "object": "chat.completion", "created": 1, "choices": [choice]}
        )

    server.handler = whole
    _ask(asking, server.url, tools=Tools(TOOLS))
    found = [(one.name, one.text) for one in _calls(asking, CallStep.WHOLE)]
    assert found == [("now", "{}"), ("now", "{}")]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (ToolChoice(Choosing.REQUIRED), "required"),
        (ToolChoice(Choosing.NONE), "none"),
        (ToolChoice(Choosing.NAMED, "now"), {"type": "function", "function": {"name": "now"}}),
    ],
)
def test_a_choice_and_a_history_are_sent(
    server: ScriptedServer, asking: Asking, choice: ToolChoice, sent: object
) -> None:
    history = (
        *QUESTION,
        PromptMessage(Role.ASSISTANT, "", "a", calls=(PromptCall("call_1", "now", '{"odd" :1}'),)),
        PromptMessage(ToolRole.TOOL, "noon", "a", call_id="call_1", name="now"),
    )
    _ask(asking, server.url, *history, tools=Tools(TOOLS, choice))
    body = server.asked[0].body
    assert body["tool_choice"] == sent
    call, result = body["messages"][-2:]
    assert call["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "now", "arguments": '{"odd" :1}'}}
    ]
    assert result == {"role": "tool", "content": "noon", "tool_call_id": "call_1"}


@pytest.mark.parametrize("reason", ["length", "stop", "tool_calls", "content_filter"])
@pytest.mark.parametrize("text", ['{"path": "a b', '{"path": "a b"', '{"path": ["a"', "{", ""])
def test_a_call_that_a_server_cuts_is_as_far_as_it_was_written(
    server: ScriptedServer, asking: Asking, text: str, reason: str
) -> None:
    """Servers that stop at a stop string inside a call say “stop”."""

    async def cut(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.event(chunk(_delta(0, "read_file", text, "x")))
        await answer.end(reason)

    server.handler = cut
    stats = _ask(asking, server.url, tools=Tools(TOOLS))
    assert (stats.finish is FinishReason.LENGTH) is (reason == "length")
    (call,) = _calls(asking, CallStep.CUT, CallStep.WHOLE)
    if not text and reason in ("stop", "tool_calls"):
        assert (call.step, call.text) == (CallStep.WHOLE, "{}")
        return
    assert (call.step, call.text) == (CallStep.CUT, text or "{")


@pytest.mark.parametrize("text", ['{"path": "a b', ""])
@pytest.mark.logs("a request failed: ")
def test_a_call_in_which_a_server_hangs_up_is_cut(
    server: ScriptedServer, asking: Asking, text: str
) -> None:
    async def cut(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.event(chunk(_delta(0, "read_file", text, "x")))
        await answer.cut()

    server.handler = cut
    with pytest.raises(EnvironmentProblem):
        _ask(asking, server.url, tools=Tools(TOOLS))
    (call,) = _calls(asking, CallStep.CUT, CallStep.WHOLE)
    assert (call.step, call.text) == (CallStep.CUT, text or "{")


def test_a_call_that_is_no_json_goes_to_its_tool(server: ScriptedServer, asking: Asking) -> None:
    """The tool says what is wrong, and the model tries again."""

    async def odd(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.event(chunk(_delta(0, "read_file", "{'path': a}", "x")))
        await answer.end("tool_calls")

    server.handler = odd
    _ask(asking, server.url, tools=Tools(TOOLS))
    (call,) = _calls(asking, CallStep.CUT, CallStep.WHOLE)
    assert (call.step, call.text) == (CallStep.WHOLE, "{'path': a}")


def test_a_call_that_was_cut_is_sent_again_as_an_object(
    server: ScriptedServer, asking: Asking
) -> None:
    """A history with half a JSON text is refused by servers, again and again."""
    call = PromptCall("call_1", "now", '{"at": "no')
    said = PromptMessage(Role.ASSISTANT, "", "a", calls=(call,))
    asked = PromptMessage(ToolRole.TOOL, "No result.", "a", call_id="call_1", name="now")
    _ask(asking, server.url, *QUESTION, said, asked, tools=Tools(TOOLS))
    (sent,) = server.asked[0].body["messages"][-2]["tool_calls"]
    assert json.loads(sent["function"]["arguments"]) == {"arguments": '{"at": "no'}


@pytest.mark.parametrize(
    "calls",
    [
        "text", 7, None, [], [7], [None], [{}], [{"function": 7}], [{"function": {}}],
        [{"index": "a", "function": {"name": 7, "arguments": 7}}],
        [{"index": 0, "function": {"name": "", "arguments": "{}"}}],
    ],
)  # fmt: skip
def test_odd_calls_are_no_calls(server: ScriptedServer, asking: Asking, calls: object) -> None:
    async def odd(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.event(chunk({"content": "Yes.", "tool_calls": calls}))
        await answer.end()

    server.handler = odd
    _ask(asking, server.url, tools=Tools(TOOLS))
    assert asking.said() == "Yes."
    assert _calls(asking, *CallStep) == []


def test_a_server_without_tools_answers_without_them(
    server: ScriptedServer, asking: Asking
) -> None:
    async def refuse(asked: Asked, answer: Answer) -> None:
        if "tools" in asked.body:
            error = {"message": "harbour-7b does not support tools", "type": "api_error"}
            await answer.json({"error": error}, "400 Bad Request")
            return
        await answer.stream()
        await answer.words(["Plain."])
        await answer.end()

    server.handler = refuse
    _ask(asking, server.url, tools=Tools(TOOLS))
    assert asking.said() == "Plain."
    assert any(isinstance(one, Notice) and "tools" in one.told.text for one in asking.events)

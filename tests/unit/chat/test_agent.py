"""A reply that calls tools: asked for permission, run, gone on with, stopped, restarted."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec.structs import replace

from headstart.chat.agent.permissions import Permission, ToolKey
from headstart.chat.agent.stream import DENIED, MOST_STEPS, STOPPED
from headstart.chat.changes import ReplyEvent
from headstart.chat.requests import local_request
from headstart.core.chats.parts import Part, TextPart, ToolCallPart, ToolResultPart
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.core.events import ToolAsked, ToolDone, ToolStarted
from headstart.core.requests import (
    LoadRequest,
    ToolRole,
)
from headstart.core.settings.schema import ChatOptions, Settings
from tests.support.answers import MODEL, Answer, Talk

TERM = ("calculate", '{"term": "19.99 * 3"}')


async def _with_tools(talk: Talk, chat_id: str) -> None:
    options = ChatOptions(tools=("calculate", "current_time"))
    await talk.choices.set_options(chat_id, options)


async def _asked(talk: Talk, chat_id: str, count: int = 1) -> ToolAsked:
    """Wait for the call that waits for the user."""
    while True:
        found = [
            change.event
            for change in talk.told
            if isinstance(change, ReplyEvent) and isinstance(change.event, ToolAsked)
        ]
        if len(found) >= count:
            return found[count - 1]
        await asyncio.sleep(0.002)


async def _reply(talk: Talk, chat_id: str) -> Message:
    return (await talk.branches.whole(chat_id))[-1]


def _kinds(parts: tuple[Part, ...]) -> list[type]:
    return [type(part) for part in parts]


async def test_a_call_is_allowed_run_and_gone_on_with(talk: Talk, chat: str) -> None:
    await _with_tools(talk, chat)
    talk.listen(ReplyEvent)
    talk.answerer.answers = [Answer(["Let me see."], calls=[TERM]), Answer(["59.97 euros."])]
    await talk.conversation.send(chat, "What do three cost?")
    asked = await _asked(talk, chat)
    assert (asked.name, asked.arguments) == TERM
    talk.permissions.answer(chat, asked.call, Permission.ONCE)
    await talk.written(chat)
    reply = await _reply(talk, chat)
    first, call, result, last = reply.parts
    assert isinstance(call, ToolCallPart)
    assert isinstance(result, ToolResultPart)
    assert (first.text, last.text) == ("Let me see.", "59.97 euros.")
    assert (call.name, call.text, call.id) == (*TERM, result.id)
    assert (result.text, result.failed) == ("59.97", False)
    assert reply.status is MessageStatus.COMPLETE
    # the second request has the first step as messages
    request = local_request(talk.answerer.asked[1], LoadRequest(MODEL), Settings())
    assert [one.role for one in request.messages] == [Role.USER, Role.ASSISTANT, ToolRole.TOOL]
    assert request.messages[1].calls[0].id == request.messages[2].call_id
    assert not request.reply_so_far
    assert [tool.name for tool in request.tools.specs] == ["calculate", "current_time"]


async def test_a_denied_call_is_a_result(talk: Talk, chat: str) -> None:
    await _with_tools(talk, chat)
    talk.listen(ReplyEvent)
    talk.answerer.answers = [Answer([], calls=[TERM]), Answer(["As you like."])]
    await talk.conversation.send(chat, "Compute.")
    asked = await _asked(talk, chat)
    talk.permissions.answer(chat, asked.call, Permission.DENIED)
    await talk.written(chat)
    _, result, last = (await _reply(talk, chat)).parts
    assert isinstance(result, ToolResultPart)
    assert (result.text, result.failed) == (DENIED, True)
    assert last.text == "As you like."


@pytest.mark.parametrize("permission", [Permission.CHAT, Permission.ALWAYS])
async def test_a_tool_is_asked_for_once(talk: Talk, chat: str, permission: Permission) -> None:
    await _with_tools(talk, chat)
    talk.listen(ReplyEvent)
    talk.answerer.answers = [Answer([], calls=[TERM, TERM]), Answer([], calls=[TERM]), Answer()]
    await talk.conversation.send(chat, "Compute.")
    asked = await _asked(talk, chat)
    talk.permissions.answer(chat, asked.call, permission)
    await talk.written(chat)
    events = [one.event for one in talk.told if isinstance(one, ReplyEvent)]
    assert sum(isinstance(one, ToolAsked) for one in events) == 1
    assert [one.call for one in events if isinstance(one, ToolDone)] == [1, 2, 3]
    assert sum(isinstance(one, ToolStarted) for one in events) == 3
    always = ("calculate",) if permission is Permission.ALWAYS else ()
    assert talk.preferences.current.allowed_tools == always
    ids = [part.id for part in (await _reply(talk, chat)).parts if isinstance(part, ToolCallPart)]
    assert len(set(ids)) == 3
    talk.permissions.withdraw("calculate")
    assert not talk.permissions.given(chat, ToolKey("calculate"))


async def test_a_stop_ends_the_wait_and_the_loop(talk: Talk, chat: str) -> None:
    await _with_tools(talk, chat)
    talk.listen(ReplyEvent)
    talk.answerer.answers = [Answer(["Hm."], calls=[TERM]), Answer(["Never."])]
    await talk.conversation.send(chat, "Compute.")
    await _asked(talk, chat)
    talk.replies.stop(chat)
    await talk.written(chat)
    reply = await _reply(talk, chat)
    assert reply.status is MessageStatus.STOPPED
    assert _kinds(reply.parts) == [TextPart, ToolCallPart, ToolResultPart]
    assert reply.parts[-1].text == STOPPED
    assert len(talk.answerer.asked) == 1


async def test_a_loop_ends_after_some_steps_and_can_go_on(talk: Talk, chat: str) -> None:
    await _with_tools(talk, chat)
    talk.preferences.update(allowed_tools=("calculate",))
    talk.answerer.answers = [Answer([], calls=[TERM]) for _ in range(MOST_STEPS)]
    await talk.say(chat, "Compute for ever.")
    reply = await _reply(talk, chat)
    assert reply.status is MessageStatus.STOPPED
    assert len(talk.answerer.asked) == MOST_STEPS
    talk.answerer.answers = [Answer(["Done."])]
    await talk.conversation.continue_reply(chat, reply.id)
    await talk.written(chat)
    reply = await _reply(talk, chat)
    assert reply.parts[-1].text == "Done."
    assert sum(isinstance(part, ToolCallPart) for part in reply.parts) == MOST_STEPS


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("nothing", "{}", "There is no tool nothing."),
        ("calculate", "{broken", "The arguments are no JSON"),
        ("calculate", "[1]", "The arguments are no JSON object."),
        ("calculate", "{}", "The argument term is missing."),
        ("calculate", json.dumps({"term": "1 / 0"}), "Division by zero."),
    ],
)
async def test_a_call_that_cannot_be_carried_out_says_why(
    talk: Talk, chat: str, name: str, arguments: str, said: str
) -> None:
    await _with_tools(talk, chat)
    talk.preferences.update(allowed_tools=("calculate", "nothing"))
    talk.answerer.answers = [Answer([], calls=[(name, arguments)]), Answer(["I see."])]
    await talk.say(chat, "Compute.")
    _, result, last = (await _reply(talk, chat)).parts
    assert isinstance(result, ToolResultPart)
    assert result.failed
    assert said in result.text
    assert last.text == "I see."


async def test_a_chat_without_tools_runs_none(talk: Talk, chat: str) -> None:
    talk.answerer.answers = [Answer(["Hm."], calls=[TERM]), Answer(["Never."])]
    await talk.say(chat, "Compute.")
    reply = await _reply(talk, chat)
    assert _kinds(reply.parts) == [TextPart, ToolCallPart]
    assert len(talk.answerer.asked) == 1


async def test_the_loop_goes_on_after_a_restart(talk: Talk, chat: str) -> None:
    """The program ended while a call waited: nothing runs by itself, Continue goes on."""
    await _with_tools(talk, chat)
    talk.listen(ReplyEvent)
    talk.answerer.answers = [Answer([], calls=[TERM])]
    await talk.conversation.send(chat, "Compute.")
    await _asked(talk, chat)
    asked = talk.answerer.asked[0]
    reply = talk.replies.reply_in(chat)
    assert reply is not None
    request = local_request(replace(asked, written=reply.parts), LoadRequest(MODEL), Settings())
    assert [one.role for one in request.messages] == [Role.USER, Role.ASSISTANT, ToolRole.TOOL]
    assert "interrupted" in request.messages[-1].text
    talk.replies.stop(chat)
    await talk.written(chat)

"""Calls that a limit cuts, as the SDKs of OpenAI and Anthropic get them from the starter model:
none of them can be run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import keyring
import openai
import pytest

from headstart.core.settings.schema import EngineSettings
from tests.conftest import OpenApp
from tests.support.keyrings import MemoryKeyring
from tests.support.prefix_engine import prose
from tests.support.program import beside, opened
from tests.support.sdk_clients import close_clients, for_anthropic, for_openai

SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string", "minLength": 60, "maxLength": 80}},
    "required": ["command"],
}
ASKED: Any = [{"role": "user", "content": "Run this: rm -rf /home/me/project/build/cache"}]
CHAT: Any = {
    "tools": [{"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}],
    "tool_choice": "required", "parallel_tool_calls": False, "temperature": 0, "seed": 3,
}  # fmt: skip
RESPONSES: Any = {
    "tools": [{"type": "function", "name": "bash", "parameters": SCHEMA}],
    "tool_choice": "required", "parallel_tool_calls": False, "temperature": 0,
}  # fmt: skip
MESSAGES: Any = {
    "tools": [{"name": "bash", "input_schema": SCHEMA}],
    "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
    "extra_body": {"temperature": 0},
}
LIMITS = (21, 32)


@pytest.fixture(autouse=True)
def kept_keys() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)
    close_clients()


def _is_cut(arguments: str, whole: str) -> bool:
    """True if arguments are as far as they were written, and do not read as whole."""
    try:
        json.loads(arguments)
    except ValueError:
        return whole.startswith(arguments) and len(arguments) > 1
    return False


async def test_chat_calls_are_cut(running: OpenApp) -> None:
    async with running() as app:
        client = for_openai(*await opened(app)).chat.completions

        def ask() -> None:
            (call,) = client.create(model="x", messages=ASKED, **CHAT).choices[0].message.tool_calls
            whole = call.function.arguments
            assert isinstance(json.loads(whole), dict)
            for limit in LIMITS:
                choice = client.create(
                    model="x", messages=ASKED, max_tokens=limit, **CHAT
                ).choices[0]  # fmt: skip
                assert choice.finish_reason == "length"
                (call,) = choice.message.tool_calls
                assert _is_cut(call.function.arguments, whole)
                with client.stream(model="x", messages=ASKED, max_tokens=limit, **CHAT) as found:
                    # the SDK itself refuses to give a reply that was cut
                    with pytest.raises(openai.LengthFinishReasonError):
                        found.get_final_completion()
                    (streamed,) = found.current_completion_snapshot.choices[0].message.tool_calls
                assert streamed.function.arguments == call.function.arguments

        await beside(ask)


async def test_responses_calls_are_cut(running: OpenApp) -> None:
    async with running() as app:
        client = for_openai(*await opened(app)).responses

        def ask() -> None:
            whole = client.create(model="x", input=ASKED, **RESPONSES).output[-1].arguments
            for limit in LIMITS:
                found = client.create(model="x", input=ASKED, max_output_tokens=limit, **RESPONSES)
                assert (found.status, found.incomplete_details.reason) == (
                    "incomplete", "max_output_tokens",
                )  # fmt: skip
                item = found.output[-1]
                assert item.status == "incomplete"
                assert _is_cut(item.arguments, whole)
                events = list(
                    client.create(
                        model="x", input=ASKED, max_output_tokens=limit, stream=True, **RESPONSES
                    )
                )
                assert events[-1].type == "response.incomplete"
                assert events[-1].response.output[-1].arguments == item.arguments
                assert "response.function_call_arguments.done" not in {one.type for one in events}
                *_, done = (one for one in events if one.type == "response.output_item.done")
                assert (done.item.status, done.item.arguments) == ("incomplete", item.arguments)

        await beside(ask)


async def test_messages_calls_are_cut(running: OpenApp) -> None:
    async with running() as app:
        client = for_anthropic(*await opened(app)).messages

        def ask() -> None:
            given = {"model": "x", "messages": ASKED, **MESSAGES}
            whole = _input(list(client.create(stream=True, max_tokens=200, **given)))
            assert isinstance(json.loads(whole), dict)
            for limit in LIMITS:
                found = client.create(max_tokens=limit, **given)
                assert found.stop_reason == "max_tokens"
                assert {block.type for block in found.content} == {"text"}
                events = list(client.create(stream=True, max_tokens=limit, **given))
                kinds = [event.type for event in events]
                # the last block does not end
                assert kinds[-3:] == ["content_block_delta", "message_delta", "message_stop"]
                assert _is_cut(_input(events), whole)
                assert events[-2].delta.stop_reason == "max_tokens"

        await beside(ask)


def _input(events: list[Any]) -> str:
    found = [event.delta for event in events if event.type == "content_block_delta"]
    return "".join(one.partial_json for one in found if one.type == "input_json_delta")


async def test_a_context_that_is_full_cuts_as_a_limit_does(running: OpenApp) -> None:
    async with running() as app:
        app.services.preferences.update(engine=EngineSettings(context_length=512))
        client = for_openai(*await opened(app)).chat.completions
        long = {"type": "string", "minLength": 4000}
        schema = {**SCHEMA, "properties": {"command": long}}
        tools = [{"type": "function", "function": {"name": "bash", "parameters": schema}}]
        asked = [{"role": "user", "content": f"{prose(200, 3)}\n\n{ASKED[0]['content']}"}]

        def ask() -> None:
            choice = client.create(
                model="x", messages=asked, **{**CHAT, "tools": tools}
            ).choices[0]  # fmt: skip
            assert choice.finish_reason == "length"
            (call,) = choice.message.tool_calls
            assert _is_cut(call.function.arguments, call.function.arguments)

        await beside(ask)


async def test_a_stop_string_inside_arguments_does_not_cut(running: OpenApp) -> None:
    async with running() as app:
        client = for_openai(*await opened(app)).chat.completions

        def ask() -> None:
            plain = client.create(model="x", messages=ASKED, **CHAT).choices[0]
            (call,) = plain.message.tool_calls
            word = json.loads(call.function.arguments)["command"][5:9]
            stopped = client.create(model="x", messages=ASKED, stop=[word], **CHAT).choices[0]
            assert stopped.finish_reason == "tool_calls"
            (same,) = stopped.message.tool_calls
            assert same.function.arguments == call.function.arguments

        await beside(ask)

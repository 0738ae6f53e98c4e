"""Calls in thoughts, as programs and the window get them from a model that thinks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import keyring
import pytest

from headstart.assembly import App
from headstart.chat.agent.permissions import Permission
from headstart.core.chats.parts import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from headstart.engine.backends import select
from headstart.ui.transcript.call_box import CallBox
from tests.conftest import OpenApp, until
from tests.models.llama_source import templates
from tests.support.byte_decoder import byte_encoder, reply_tokens
from tests.support.driver import ask as ask_window
from tests.support.driver import begin, reply_done
from tests.support.keyrings import MemoryKeyring
from tests.support.program import beside, opened
from tests.support.scripted_model import opening
from tests.support.sdk_clients import close_clients, for_openai

ASKED: Any = [{"role": "user", "content": "Tidy my notes."}]
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS: Any = [{"type": "function", "function": {"name": "delete_file", "parameters": SCHEMA}}]
CALL = '<tool_call>\n{"name": "delete_file", "arguments": {"path": "notes"}}\n</tool_call>'
THOUGHT = f"I could call {CALL} but that would lose the notes, so I ask first."
OTHER = 'I could [TOOL_CALLS]delete_file[ARGS]{"path": "notes"} but no.'
QWEN = "Qwen-Qwen3-0.6B"
MINISTRAL = "mistralai-Ministral-3-14B-Reasoning-2512"


@pytest.fixture(autouse=True)
def kept_keys() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)
    close_clients()


class Program:
    def __init__(self, port: int, key: str) -> None:
        self.client = for_openai(port, key)

    def ask(self, **more: Any) -> Any:
        """The choice of a whole answer."""
        given = {"model": "x", "messages": ASKED, "tools": TOOLS, **more}
        return self.client.chat.completions.create(**given).choices[0]

    def stream(self, **more: Any) -> tuple[str, str, list[Any], str]:
        """Reasoning, text, deltas of calls and the reason for the end."""
        given = {"model": "x", "messages": ASKED, "tools": TOOLS, "stream": True, **more}
        thought, text, calls, finish = "", "", list[Any](), ""
        for chunk in self.client.chat.completions.create(**given):
            (choice,) = chunk.choices
            thought += getattr(choice.delta, "reasoning_content", None) or ""
            text += choice.delta.content or ""
            calls += choice.delta.tool_calls or []
            finish = choice.finish_reason or finish
        return thought, text, calls, finish


@pytest.mark.parametrize(
    ("template", "raw", "thought"),
    [
        (QWEN, f"<think>\n{THOUGHT}\n</think>\n\nShall I delete it?", THOUGHT),
        (MINISTRAL, f"[THINK]{OTHER}[/THINK]Shall I delete it?", OTHER),
    ],
    ids=["qwen3", "ministral"],
)
async def test_a_program_gets_no_call_that_was_only_considered(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch, template: str, raw: str, thought: str
) -> None:
    monkeypatch.setattr(select, "open_decoder", opening(templates()[template], raw, raw))
    async with running() as app:
        program = Program(*await opened(app))

        def ask() -> None:
            whole = program.ask()
            assert whole.message.tool_calls is None
            assert whole.message.content == "Shall I delete it?"
            assert whole.message.reasoning_content.strip() == thought
            assert whole.finish_reason == "stop"
            reasoning, text, calls, finish = program.stream()
            assert (reasoning.strip(), text) == (thought, "Shall I delete it?")
            assert (calls, finish) == ([], "stop")

        await beside(ask)


async def test_a_program_gets_a_call_in_thoughts_that_never_end(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = f"<think>\nI look.\n{CALL}"
    monkeypatch.setattr(select, "open_decoder", opening(templates()[QWEN], raw, raw, raw))
    async with running() as app:
        program = Program(*await opened(app))

        def ask() -> None:
            whole = program.ask()
            (call,) = whole.message.tool_calls
            assert call.function.arguments == '{"path": "notes"}'
            assert (whole.message.reasoning_content, whole.finish_reason) == (
                "I look.\n", "tool_calls",
            )  # fmt: skip
            reasoning, text, calls, finish = program.stream()
            assert (reasoning, text, finish) == ("I look.\n", "", "tool_calls")
            assert "".join(one.function.arguments or "" for one in calls) == '{"path": "notes"}'
            # what a limit cuts might still have ended
            tokens = len(reply_tokens(byte_encoder(templates()[QWEN]), raw))
            cut = program.ask(max_tokens=tokens)
            assert (cut.message.tool_calls, cut.finish_reason) == (None, "length")

        await beside(ask)


async def test_stop_strings_of_a_program_sleep_in_thoughts(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = "<think>\nOne.\n\nTwo, but no.\n</think>\n\nThree.\n\nFour."
    monkeypatch.setattr(select, "open_decoder", opening(templates()[QWEN], raw, raw))
    async with running() as app:
        program = Program(*await opened(app))

        def ask() -> None:
            whole = program.ask(stop=["\n\n", "but"])
            assert whole.message.reasoning_content == "One.\n\nTwo, but no.\n"
            assert (whole.message.content, whole.finish_reason) == ("Three.", "stop")
            assert program.stream(stop=["Four"])[1] == "Three.\n\n"

        await beside(ask)


async def test_the_window_runs_no_call_that_was_only_considered(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = CALL.replace("delete_file", "calculate").replace("path", "term")
    first = f"<think>\nI could {call} but I know it.\n</think>\n\nFour."
    second = f"<think>\nI look.\n{call}"
    monkeypatch.setattr(select, "open_decoder", opening(templates()[QWEN], first, second, "No."))
    async with running() as app:
        app.window.show_tools()
        app.window.inspector.tools.switches["calculate"].click()
        await app.controllers.settle()
        reply = await ask_window(app, "Two and two?")
        assert [type(part) for part in reply.parts] == [ReasoningPart, TextPart]
        assert reply.text == "Four."
        assert call in reply.reasoning
        await begin(app, "And notes?")
        # thoughts that never ended: the call is asked about
        await until(lambda: any(box.asks for box in _boxes(app)))
        app.controllers.reply.answer_call(1, Permission.DENIED)
        reply = await reply_done(app)
        assert [type(part) for part in reply.parts] == [
            ReasoningPart, ToolCallPart, ToolResultPart, TextPart,
        ]  # fmt: skip
        assert (reply.reasoning.strip(), reply.text) == ("I look.", "No.")


def _boxes(app: App) -> list[CallBox]:
    """The calls of the last message, as they are shown."""
    item = app.window.transcript.column.items[-1]
    widget = app.window.transcript.widget_of(item.message.id)
    return list(widget.body.calls.values()) if widget is not None else []

"""Steps of an agent over real templates: what the model wrote is never processed again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from headstart.core.chats.values import Role
from headstart.core.requests import PromptCall, PromptMessage
from headstart.core.tools import Tools
from headstart.engine.call_memory import CallMemory, WrittenStep
from tests.support.tool_forms import TOOLS, shapes, written
from tests.support.tool_sessions import STEPS, Session


def _sessions() -> Iterator[str]:
    # Command R+ does not take a type that is a list, and gets the generic form
    yield from (name for name in sorted(shapes()) if "command-r-plus" not in name)


@pytest.mark.parametrize("name", list(_sessions()))
def test_no_token_of_a_step_is_processed_again(name: str) -> None:
    session = Session(name)
    for number in range(1, STEPS + 1):
        session.step(number)
    assert session.again == [0] * STEPS


@pytest.mark.parametrize("name", list(_sessions()))
def test_a_restart_forgets_no_step(name: str) -> None:
    session = Session(name)
    for number in range(1, STEPS + 1):
        session.step(number)
        session.restart()
    assert session.again == [0] * STEPS


def test_a_step_is_not_put_back_into_a_prompt_with_other_tools() -> None:
    """The prompt before it would tell the model of tools that are switched off by now."""
    session = Session("Bielik-11B-v3.0-Instruct")
    session.step(1)
    fewer = session.encoder.render(session.messages, tools=Tools(TOOLS[:1]))
    assert TOOLS[1].description in session.encoder.render(session.messages, tools=Tools(TOOLS))
    assert TOOLS[1].description not in fewer


@pytest.mark.parametrize("name", ["Bielik-11B-v3.0-Instruct", "LFM2.5-8B-A1B"])
def test_a_call_that_thoughts_consider_is_not_the_steps_call(name: str) -> None:
    """Where a vocabulary has no token for the mark, it stands in the prompt as it was written."""
    way, layout, mark = shapes()[name]
    considered = written(way, layout, mark, [("now", "{}")])
    called = written(way, layout, mark, [("read_file", '{"path":  "a"}')])
    shown = written(way, layout, mark, [("read_file", '{"path": "a"}')])
    call = PromptCall("call_1", "read_file", '{"path": "a"}')
    thought = f"I could {considered} but no."
    raw = f"<think>\n{thought}\n</think>\n\n{called}"
    memory = CallMemory()
    memory.keep(WrittenStep((call,), "", thought, raw))
    question = PromptMessage(Role.USER, "Read.", "q")
    said = PromptMessage(Role.ASSISTANT, "", "r", thought, calls=(call,))
    ahead = PromptMessage(Role.USER, "And?", "q2")

    def render(some: Sequence[PromptMessage]) -> str:
        texts = ["Q: Read.\nA: ", f"<think>{thought}</think>{shown}<end>", "Q: And?"]
        return "".join(texts[: len(some)])

    messages = [question, said, ahead]
    found = memory.as_written(render(messages), messages, way.form, render)
    assert found == f"Q: Read.\nA: {raw}<end>Q: And?"


def test_only_the_same_step_is_put_back() -> None:
    memory = CallMemory()
    call = PromptCall("call_1", "run", '{"a": 1, "b": [1, 2]}')
    memory.keep(WrittenStep((call,), "Look.", "Hm.", "raw"))

    def message(arguments: str, text: str = "Look.", reasoning: str = "") -> PromptMessage:
        calls = (PromptCall("call_1", "run", arguments),)
        return PromptMessage(Role.ASSISTANT, text, "r", reasoning, calls=calls)

    assert memory.find(message('{"b":[1,2],"a":1}')) is not None
    assert memory.find(message('{"b":[1,2],"a":1}', reasoning="Hm. ")) is not None
    assert memory.find(message('{"b":[2,1],"a":1}')) is None
    assert memory.find(message('{"a": 1, "b": [1, 2]}', text="Other.")) is None
    assert memory.find(message('{"a": 1, "b": [1, 2]}', reasoning="Other.")) is None
    assert memory.find(PromptMessage(Role.ASSISTANT, "Look.", "r")) is None
    (given,) = memory.with_reasoning([message(call.arguments)])
    assert given.reasoning == "Hm."


def test_the_memory_forgets_the_oldest_steps() -> None:
    memory = CallMemory()
    for number in range(20):
        call = PromptCall(f"call_{number}", "run", "{}")
        memory.keep(WrittenStep((call,), "", "", "x" * 1_000_000))
    kept = [
        memory.find(
            PromptMessage(Role.ASSISTANT, "", calls=(PromptCall(f"call_{n}", "run", "{}"),))
        )
        for n in range(20)
    ]
    assert [one is not None for one in kept] == [False] * 4 + [True] * 16

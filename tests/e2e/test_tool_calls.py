"""Calls of a real model: held to the tools' schemas, the same words with drafts as without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from headstart.core.chats.parts import PartKind
from headstart.core.chats.values import FinishReason, Role
from headstart.core.events import CallStep, Finished, TextAdded, TextPiece
from headstart.core.models.ref import ModelRef
from headstart.core.requests import (
    GenerationRequest,
    LoadRequest,
    PromptCall,
    PromptMessage,
    ToolRole,
)
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation
from headstart.core.tools import NO_TOOLS, Choosing, ToolChoice, Tools, call_id
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile
from tests.support.tool_forms import READ, RUN, TOOLS, schema_of

QUESTION = PromptMessage(Role.USER, "Read the file notes.txt from line 3.", "q")
REQUIRED = ToolChoice(Choosing.REQUIRED)


class Asker:
    def __init__(self, model: ModelRef, folder: Path) -> None:
        self.model, self.settings = model, EngineSettings(context_length=2048)
        checked = CheckedModelsFile(folder / "checked.json")
        checked.add(model, self.settings)
        self.generator = LocalGenerator(Resources(checked))
        self.last: Finished | None = None

    def ask(self, *messages: PromptMessage, tools: Tools, **named: Any) -> list[TextPiece]:
        events: list[Any] = []
        speculation = named.pop("speculation", Speculation(enabled=False))
        of_request = {key: named.pop(key) for key in ("chat_id", "reply_key") if key in named}
        sampling = Sampling(**{"temperature": 0.0, "max_tokens": 160, "seed": 3, **named})
        request = GenerationRequest(
            LoadRequest(self.model, self.settings), messages or (QUESTION,), sampling,
            tools=tools, speculation=speculation, **of_request,
        )  # fmt: skip
        self.generator.generate(request, events.append, StopSignal())
        self.last = events[-1]
        assert isinstance(self.last, Finished)
        return [piece for one in events if isinstance(one, TextAdded) for piece in one.pieces]


@pytest.fixture(scope="module")
def asker(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    made = Asker(starter, tmp_path_factory.mktemp("tools"))
    yield made
    made.generator.close()


def _calls(pieces: list[TextPiece]) -> list[TextPiece]:
    return [one for one in pieces if one.kind is PartKind.TOOL_CALL and one.step is CallStep.WHOLE]


def _text(pieces: list[TextPiece]) -> str:
    return "".join(one.text for one in pieces if one.kind is PartKind.TEXT)


def test_a_required_call_fits_its_schema_and_ends_the_reply(asker: Asker) -> None:
    for temperature in (0.0, 1.0):
        pieces = asker.ask(tools=Tools(TOOLS, REQUIRED, several=False), temperature=temperature)
        (call,) = _calls(pieces)
        jsonschema.validate(json.loads(call.text), schema_of(call.name) or {})
        assert _text(pieces).strip() == ""
        assert asker.last is not None
        assert asker.last.stats.finish is FinishReason.END


def test_a_named_tool_is_called(asker: Asker) -> None:
    for tool in (READ, RUN):
        choice = ToolChoice(Choosing.NAMED, tool.name)
        pieces = asker.ask(tools=Tools(TOOLS, choice, several=False), temperature=0.8)
        assert {one.name for one in pieces if one.kind is PartKind.TOOL_CALL} == {tool.name}


def test_arguments_stream(asker: Asker) -> None:
    pieces = asker.ask(tools=Tools(TOOLS, REQUIRED, several=False))
    steps = [one.step for one in pieces if one.kind is PartKind.TOOL_CALL]
    assert steps[0] is CallStep.BEGAN
    assert steps[-1] is CallStep.WHOLE
    assert steps.count(CallStep.MORE) > 1
    more = [one.text for one in pieces if one.step is CallStep.MORE]
    assert "".join(more) == _calls(pieces)[0].text


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_drafts_change_no_word_inside_calls(asker: Asker, temperature: float) -> None:
    tools = Tools(TOOLS, REQUIRED)
    history = (
        QUESTION,
        PromptMessage(
            Role.ASSISTANT,
            "",
            "a",
            calls=(PromptCall("call_1", "read_file", '{"path": "notes.txt"}'),),
        ),
        PromptMessage(ToolRole.TOOL, "one\ntwo\nthree", "a", call_id="call_1", name="read_file"),
        PromptMessage(Role.USER, "Read it again.", "b"),
    )
    plain = asker.ask(*history, tools=tools, temperature=temperature)
    drafted = asker.ask(
        *history, tools=tools, temperature=temperature, speculation=Speculation(depth=6)
    )
    said = [
        [(one.name, one.text) for one in _calls(each)] + [("", _text(each))]
        for each in (plain, drafted)
    ]
    assert said[0] == said[1]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_text_that_has_no_choice_drafts_itself(asker: Asker, temperature: float) -> None:
    """Names, keys and marks of a call, without repeats in the text and without a draft."""
    tools = Tools(TOOLS, ToolChoice(Choosing.NAMED, READ.name), several=False)
    plain = asker.ask(tools=tools, temperature=temperature)
    drafted = asker.ask(
        tools=tools,
        temperature=temperature,
        speculation=Speculation(depth_mode="fixed", depth=12, prompt_lookup=False),
    )
    assert [one.text for one in _calls(drafted)] == [one.text for one in _calls(plain)]
    assert asker.last is not None
    stats = asker.last.stats.speculation
    assert stats is not None
    assert stats.lookup_accepted >= 10
    # tokens may divide the text in another way, but seldom do
    assert stats.lookup_accepted >= 0.8 * stats.lookup_verified


def test_a_call_cut_by_the_limit_is_as_far_as_it_was_written(asker: Asker) -> None:
    tools = Tools(TOOLS, ToolChoice(Choosing.NAMED, READ.name), several=False)
    (whole,) = _calls(asker.ask(tools=tools))
    assert asker.last is not None
    seen = set[CallStep]()
    for limit in range(6, asker.last.stats.generated_tokens, 5):
        pieces = asker.ask(tools=tools, max_tokens=limit)
        for call in pieces:
            if call.step is CallStep.CUT:
                assert whole.text.startswith(call.text)
                with pytest.raises(ValueError, match=r"."):
                    json.loads(call.text)
            elif call.kind is PartKind.TOOL_CALL and call.step is CallStep.WHOLE:
                assert call.text == whole.text
            seen.add(call.step)
    assert CallStep.CUT in seen


def test_without_tools_a_prompt_is_as_before(asker: Asker) -> None:
    asker.ask(tools=NO_TOOLS, max_tokens=1)
    without = asker.last
    asker.ask(tools=Tools(TOOLS), max_tokens=1)
    with_tools = asker.last
    assert without is not None
    assert with_tools is not None
    assert with_tools.stats.prompt_tokens > without.stats.prompt_tokens + 100


@pytest.mark.parametrize("spelled", ["as sent", "spaced", "sorted"])
def test_a_call_that_comes_back_is_not_processed_again(asker: Asker, spelled: str) -> None:
    """The history has the arguments in other words; the prompt has them as the model wrote them."""
    tools = Tools(TOOLS, ToolChoice(Choosing.NAMED, READ.name), several=False)
    key = f"reply {spelled}"
    pieces = asker.ask(tools=tools, chat_id="c", reply_key=key)
    (call,) = _calls(pieces)
    value = json.loads(call.text)
    arguments = {
        "as sent": call.text,
        "spaced": json.dumps(value, indent=3),
        "sorted": json.dumps(value, sort_keys=True, separators=(",", ":")),
    }[spelled]
    assert asker.last is not None
    had = asker.last.stats.prompt_tokens + asker.last.stats.generated_tokens
    step = (
        PromptMessage(
            Role.ASSISTANT, "", key, calls=(PromptCall(call_id(key, 1), call.name, arguments),)
        ),
        PromptMessage(ToolRole.TOOL, "It ran.", key, call_id=call_id(key, 1), name=call.name),
    )
    asker.ask(QUESTION, *step, tools=Tools(TOOLS), chat_id="c", reply_key=key, max_tokens=4)
    # the last token of a reply is not decoded before the next one
    assert asker.last.stats.reused_tokens >= had - 1


def test_an_answer_format_and_tools_go_together(asker: Asker) -> None:
    """An answer keeps to the format where tools are offered and none is called."""
    schema = json.dumps(
        {
            "type": "object",
            "properties": {"line": {"type": "integer", "maximum": 99}},
            "required": ["line"],
            "additionalProperties": False,
        }
    )
    pieces = asker.ask(tools=Tools(TOOLS), schema=schema)
    assert not _calls(pieces)
    assert set(json.loads(_text(pieces))) == {"line"}

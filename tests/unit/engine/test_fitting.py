"""Which turns are left out when the context is full, and that they stay left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from headstart.core.chats.values import Role
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import GenerationEvent, Notice
from headstart.core.models.ref import ModelRef
from headstart.core.requests import (
    GenerationRequest,
    LoadRequest,
    PromptMessage,
    WrittenSoFar,
)
from headstart.core.settings.schema import Sampling, WhenFull
from headstart.engine.fitting import Fitting
from headstart.engine.markup.formats import THINK
from headstart.engine.prefill import Resident
from headstart.engine.prompt import PromptEncoder

SIZE, MODEL = 1000, ModelRef(Path("m.gguf"), "m", 1)
NOTHING = WrittenSoFar()


class NoImages:
    def show(self, _messages: Sequence[PromptMessage]) -> None:
        pass


class Words:
    """Renders messages as they are; a word is a token."""

    form = THINK
    trained = 4096
    images = NoImages()

    def render(
        self, messages: Sequence[PromptMessage], _thinking: str = "auto", _tools: object = None
    ) -> str:
        return " ".join(message.text for message in messages)

    def end_of(self, _rendered: str, _messages: Sequence[PromptMessage]) -> str:
        return ""

    def encode(self, rendered: str) -> list[int]:
        return list(range(len(rendered.split())))

    def guard(self, text: str) -> str:
        return text


def _chat(sizes: Sequence[int]) -> tuple[PromptMessage, ...]:
    return tuple(
        PromptMessage(Role.USER, "word " * size, f"q{index}") for index, size in enumerate(sizes)
    )


def _fitting(
    sizes: Sequence[int], resident: Resident, when_full: WhenFull = "drop_oldest"
) -> Fitting:
    request = GenerationRequest(
        LoadRequest(MODEL), _chat(sizes), Sampling(), when_full=when_full, chat_id="c"
    )
    return Fitting(cast("PromptEncoder", Words()), resident, request, SIZE)


def test_the_oldest_turns_go_until_there_is_room() -> None:
    told: list[GenerationEvent] = []
    fitting = _fitting([200, 200, 200, 200, 140], Resident())
    assert len(fitting.fit(NOTHING, told.append)[1]) == 540
    assert [message.key for message in fitting.kept] == ["q2", "q3", "q4"]
    assert [event.kind for event in told if isinstance(event, Notice)] == ["context-dropped"]


def test_a_chat_that_fits_is_left_whole() -> None:
    fitting = _fitting([200, 200, 200, 140], Resident())
    assert len(fitting.fit(NOTHING, lambda _event: None)[1]) == 740


def test_the_rule_to_stop_says_what_is_too_long() -> None:
    with pytest.raises(EnvironmentProblem, match="chat has become too long"):
        _fitting([500, 500], Resident(), "stop").fit(NOTHING, lambda _event: None)
    with pytest.raises(EnvironmentProblem, match="message is too long"):
        _fitting([900], Resident(), "stop").fit(NOTHING, lambda _event: None)


def test_what_an_earlier_start_left_out_stays_out_and_nothing_more() -> None:
    """By itself it would make room down to 700, and forget one turn more than the start before."""
    sizes = [200, 200, 300, 300, 140]
    alone = _fitting(sizes, Resident())
    alone.fit(NOTHING, lambda _event: None)
    assert [message.key for message in alone.kept] == ["q3", "q4"]
    resident = Resident(kept_before={"c": "q2"}.get)
    fitting = _fitting(sizes, resident)
    assert len(fitting.fit(NOTHING, lambda _event: None)[1]) == 740
    assert [message.key for message in fitting.kept] == ["q2", "q3", "q4"]
    # a message that is not there any more says nothing
    other = _fitting(sizes, Resident(kept_before={"c": "gone"}.get))
    other.fit(NOTHING, lambda _event: None)
    assert other.kept == alone.kept


@pytest.mark.parametrize("when_full", ["stop", "drop_oldest"])
def test_a_system_prompt_that_takes_the_room_is_named(when_full: WhenFull) -> None:
    chat = (PromptMessage(Role.SYSTEM, "word " * 1200, "s"), *_chat([3]))
    request = GenerationRequest(
        LoadRequest(MODEL), chat, Sampling(), when_full=when_full, chat_id="c"
    )
    fitting = Fitting(cast("PromptEncoder", Words()), Resident(), request, SIZE)
    with pytest.raises(EnvironmentProblem, match=r"system prompt is too long.*1,200 of 1,000"):
        fitting.fit(NOTHING, lambda _event: None)

"""What holds for a reply: the chat before the model before the app, field by field."""

from __future__ import annotations

from headstart.core.settings.inheritance import effective
from headstart.core.settings.schema import (
    ChatOptions,
    ModelOptions,
    Sampling,
    SamplingChoice,
    Settings,
)

ADVICE = SamplingChoice(temperature=0.6, top_k=20, min_p=0.0)


def test_nobody_chose_anything() -> None:
    holding = effective(Settings(), ChatOptions(), "m")
    assert holding.sampling == Sampling()
    assert holding.chosen == SamplingChoice()


def test_advice_stands_for_what_nobody_chose() -> None:
    holding = effective(Settings(), ChatOptions(), "m", ADVICE)
    assert holding.sampling == Sampling(temperature=0.6, top_k=20, min_p=0.0)
    assert holding.chosen == SamplingChoice()


def test_a_choice_goes_before_advice_field_by_field() -> None:
    settings = Settings(
        sampling=SamplingChoice(temperature=0.3, max_tokens=50),
        models=(ModelOptions(key="m", sampling=SamplingChoice(top_p=0.5, temperature=0.4)),),
    )
    # a chosen value counts though it is the default's
    chat = ChatOptions(sampling=SamplingChoice(top_k=Sampling().top_k))
    holding = effective(settings, chat, "m", ADVICE)
    assert holding.sampling == Sampling(
        temperature=0.4, top_p=0.5, top_k=40, min_p=0.0, max_tokens=50
    )
    assert holding.chosen == SamplingChoice(temperature=0.4, top_p=0.5, top_k=40, max_tokens=50)
    other = effective(settings, chat, "other", ADVICE)
    assert other.sampling.temperature == 0.3


def test_the_rest_is_the_nearest_levels() -> None:
    settings = Settings(
        thinking="on", system_prompt="App.", models=(ModelOptions(key="m", thinking="off"),)
    )
    assert effective(settings, ChatOptions(), "m").thinking == "off"
    assert effective(settings, ChatOptions(thinking="high"), "m").thinking == "high"
    assert effective(settings, ChatOptions(), "other").thinking == "on"
    assert effective(settings, ChatOptions(system_prompt=""), "m").system_prompt == ""

"""The settings in force for a reply: a chat's before its folder's, model's and the app's. Pure.

The only code that merges them; the engine, the window and exports call it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from headstart.core.settings.schema import (
    ChatOptions,
    Overrides,
    Sampling,
    SamplingChoice,
    Settings,
    Speculation,
    Thinking,
    WhenFull,
)

NO_ADVICE = SamplingChoice()


class Effective(Struct, frozen=True):
    """Options in force when a model answers a chat; `chosen` holds the sampling values that were
    not left to the model and the defaults."""

    system_prompt: str
    sampling: Sampling
    chosen: SamplingChoice
    when_full: WhenFull
    thinking: Thinking
    speculation: Speculation
    tools_from: tuple[str, ...]
    files_from: tuple[str, ...]


def effective(
    settings: Settings,
    options: ChatOptions,
    model_key: str,
    advice: SamplingChoice = NO_ADVICE,
    above: Sequence[Overrides] = (),
) -> Effective:
    """`model_key` identifies the answering model, "" if unknown; `advice` is its makers'; `above`
    are the chat's folders, the innermost first.

    Sampling is merged field by field.
    """
    levels = (options, *above, *(own for own in settings.models if own.key == model_key))

    def first(name: str) -> Any:
        own = (getattr(level, name) for level in levels)
        return next((value for value in own if value is not None), getattr(settings, name))

    names = [name for name in Overrides.__struct_fields__ if name != "sampling"]
    choices = [*(level.sampling for level in levels), settings.sampling]
    chosen = _first_of_each([choice for choice in choices if choice is not None])
    return Effective(
        sampling=_filled(_first_of_each([chosen, advice])),
        chosen=chosen,
        **{name: first(name) for name in names},
    )


def _first_of_each(choices: Iterable[SamplingChoice]) -> SamplingChoice:
    found: dict[str, Any] = {}
    for choice in choices:
        for name in SamplingChoice.__struct_fields__:
            value = getattr(choice, name)
            if value is not None:
                found.setdefault(name, value)
    return SamplingChoice(**found)


def _filled(choice: SamplingChoice) -> Sampling:
    values = {name: getattr(choice, name) for name in SamplingChoice.__struct_fields__}
    return Sampling(**{name: value for name, value in values.items() if value is not None})

"""The settings that hold for a reply: a chat's before its model's before the app's. Pure.

The one place where they are put together; the engine, the window and exports ask here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headstart.core.settings import (
    ChatOptions,
    Overrides,
    Sampling,
    Settings,
    Speculation,
    Thinking,
    WhenFull,
)


@dataclass(frozen=True, slots=True)
class Effective:
    """What holds when a chat is answered by a model."""

    system_prompt: str
    sampling: Sampling
    when_full: WhenFull
    thinking: Thinking
    speculation: Speculation


def effective(settings: Settings, options: ChatOptions, model_key: str) -> Effective:
    """`model_key` names the model that answers; "" where it is not known."""
    levels = (options, *(own for own in settings.models if own.key == model_key))

    def first(name: str) -> Any:
        own = (getattr(level, name) for level in levels)
        return next((value for value in own if value is not None), getattr(settings, name))

    return Effective(**{name: first(name) for name in Overrides.__struct_fields__})

"""Installed models, with the facts of each. Frozen values."""

from __future__ import annotations

from msgspec import Struct, field

from headstart.core.models.ref import ModelRef
from headstart.core.told import Told


class About(Struct, frozen=True):
    """Facts in a model's first bytes; 0 and "" where they say nothing."""

    architecture: str = ""
    # as its makers write it: 4B
    parameters: str = ""
    context: int = 0
    quantization: str = ""
    licence: str = ""
    # the code of what it is instead of a chat model
    no_chat: str = ""


class InstalledModel(Struct, frozen=True):
    """A model that lies here. `content` names its bytes, wherever they lie and whatever the file is
    called; seconds since 1970."""

    ref: ModelRef
    # the code of where it lies: whose folder
    source: str
    content: str
    about: About = field(default_factory=About)
    notes: str = ""
    # the user's name for it, if not the file's
    renamed: bool = False
    last_used: float = 0.0
    # other places with the same bytes
    copies: tuple[str, ...] = ()
    # why it cannot be used here at all
    why_not: Told | None = None


class Moved(Struct, frozen=True):
    """A model that lies elsewhere now: keys of before and of now."""

    before: str
    now: str

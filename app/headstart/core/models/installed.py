"""Installed models, with the facts of each. Frozen values."""

from __future__ import annotations

from msgspec import Struct, field

from headstart.core.models.ref import ModelRef
from headstart.core.told import Told


class About(Struct, frozen=True):
    """Facts from a model's first bytes; 0 and "" where missing."""

    architecture: str = ""
    # in its makers' notation: 4B
    parameters: str = ""
    context: int = 0
    quantization: str = ""
    licence: str = ""
    # the code of its kind if it is not a chat model
    no_chat: str = ""


class InstalledModel(Struct, frozen=True):
    """An installed model. `content` identifies its bytes, whatever the file's location and name;
    seconds since 1970."""

    ref: ModelRef
    # the code of its location: whose folder
    source: str
    content: str
    about: About = field(default_factory=About)
    notes: str = ""
    # True for a name given by the user rather than the file's
    renamed: bool = False
    last_used: float = 0.0
    # other locations with the same bytes
    copies: tuple[str, ...] = ()
    # why it cannot be used here at all
    why_not: Told | None = None


class Moved(Struct, frozen=True):
    """A model that was moved: its old key and its new one."""

    before: str
    now: str

"""The vision state of a loaded model. Engine thread."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct, field

from headstart.core.told import Told


class Vision(Struct):
    """A projector costs memory and time, so it is opened only when an image needs it."""

    opened: bool = False
    # unusable projectors, with the reason
    failed: dict[Path, Told] = field(default_factory=dict)

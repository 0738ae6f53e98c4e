"""The vision of a loaded model: whether its projector is open. Engine thread."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct, field

from headstart.core.told import Told


class Vision(Struct):
    """A projector takes memory and time, so that it is opened once an image needs it."""

    opened: bool = False
    # projectors that are of no use here, with the reason
    failed: dict[Path, Told] = field(default_factory=dict)

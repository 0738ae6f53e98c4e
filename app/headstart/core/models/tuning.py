"""Fastest settings measured for one model on this computer's graphics cards. Pure.

Processors have no such choice: a batch of 256 prefills within 2 % as fast there as one of 512, and
attention is flash attention.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headstart.core.models.fit import BATCH
from headstart.core.settings.schema import EngineSettings

# sizes of a batch that are tried, and what the next one must gain: it takes a larger buffer
BATCHES = (BATCH, 512, 1024)
_FASTER = 1.1
# tokens that attention is judged by: a prompt, and a short reply to it
_READ, _WRITTEN = 1024, 64


class Timing(msgspec.Struct, frozen=True):
    """Tokens a second of a prompt and of a reply."""

    batch: int
    flash: bool
    reading: float
    writing: float

    @property
    def seconds(self) -> float:
        """For a prompt with a short reply."""
        return _READ / self.reading + _WRITTEN / self.writing


class Tuning(msgspec.Struct, frozen=True):
    """Values of automatic batch and automatic flash attention; by default, as on a processor."""

    batch: int = BATCH
    flash: bool = True

    def applied(self, engine: EngineSettings) -> EngineSettings:
        """The settings with this instead of what is automatic."""
        flash = engine.flash_attention
        if flash == "auto":
            flash = "on" if self.flash else "off"
        batch = engine.batch or self.batch
        return msgspec.structs.replace(engine, flash_attention=flash, batch=batch)


def choose(timings: Sequence[Timing]) -> Tuning | None:
    """The fastest of what was measured; None where nothing was."""
    if not timings:
        return None
    flash = _with_attention(timings, True)
    plain = _with_attention(timings, False)
    kept = flash or plain
    if flash and plain and flash[0].seconds > _FASTER * plain[0].seconds:
        kept = plain
    best = kept[0]
    for timing in kept[1:]:
        if timing.reading >= _FASTER * best.reading:
            best = timing
    return Tuning(best.batch, best.flash)


def _with_attention(timings: Sequence[Timing], flash: bool) -> list[Timing]:
    """The smallest batch first."""
    return sorted(
        (timing for timing in timings if timing.flash is flash), key=lambda timing: timing.batch
    )

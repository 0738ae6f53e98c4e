"""Fastest settings measured for one model on this computer's graphics cards. Pure.

Processors have no such choice: there, a batch of 256 prefills within 2 % as fast as one of 512, and
attention is flash attention.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headstart.core.models.fit import BATCH
from headstart.core.settings.schema import EngineSettings

# batch sizes to try, and the least gain of the next one: it takes a larger buffer
BATCHES = (BATCH, 512, 1024)
_FASTER = 1.1
# tokens by which attention is judged: a prompt, and a short reply
_READ, _WRITTEN = 1024, 64


class Timing(msgspec.Struct, frozen=True):
    """Tokens a second of prefill and of decoding."""

    batch: int
    flash: bool
    reading: float
    writing: float

    @property
    def seconds(self) -> float:
        """Duration of a prompt with a short reply."""
        return _READ / self.reading + _WRITTEN / self.writing


class Tuning(msgspec.Struct, frozen=True):
    """Values for an automatic batch and automatic flash attention; defaults are a processor's."""

    batch: int = BATCH
    flash: bool = True

    def applied(self, engine: EngineSettings) -> EngineSettings:
        """The settings with automatic values replaced by these."""
        flash = engine.flash_attention
        if flash == "auto":
            flash = "on" if self.flash else "off"
        batch = engine.batch or self.batch
        return msgspec.structs.replace(engine, flash_attention=flash, batch=batch)


def choose(timings: Sequence[Timing]) -> Tuning | None:
    """The fastest measured setting; None without measurements."""
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
    """Timings with or without flash attention, by batch size."""
    return sorted(
        (timing for timing in timings if timing.flash is flash), key=lambda timing: timing.batch
    )

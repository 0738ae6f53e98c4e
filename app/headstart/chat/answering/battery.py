"""Watches the battery: while it is low, nothing is processed ahead."""

from __future__ import annotations

import asyncio
import logging
import time

import psutil

log = logging.getLogger(__name__)

# per cent of charge, while unplugged
LOW = 20
# some firmware is slow to answer
ASK_SECONDS = 30.0


class Battery:
    def __init__(self) -> None:
        self._asked: float | None = None
        self._low = False

    async def low(self) -> bool:
        """True if the charge is low, as of at most `ASK_SECONDS` ago; False without a battery."""
        now = time.monotonic()
        if self._asked is None or now - self._asked > ASK_SECONDS:
            self._low = await asyncio.to_thread(_low)
            self._asked = now
        return self._low


def _low() -> bool:
    try:
        state = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    except Exception:
        log.debug("the battery does not answer", exc_info=True)
        return False
    return state is not None and not state.power_plugged and state.percent < LOW

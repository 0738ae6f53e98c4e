"""Watches the battery: while it is low, nothing is processed ahead."""

from __future__ import annotations

import asyncio
import logging
import time

import psutil

log = logging.getLogger(__name__)

# per cent of charge, where it is not charging
LOW = 20
# some firmware takes its time to answer
ASK_SECONDS = 30.0


class Battery:
    def __init__(self) -> None:
        self._asked: float | None = None
        self._low = False

    async def low(self) -> bool:
        """At most `ASK_SECONDS` old; False where there is no battery."""
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

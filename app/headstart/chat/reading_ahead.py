"""Reading ahead: when a chat is opened, while the user types, after a reply.

On the event loop's thread; the reading itself is the engine thread's, where everything else goes
first. The newest wish counts: one that is still being read is given up for it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import psutil

from headstart.chat.changes import AheadState, Change
from headstart.chat.preferences import Preferences
from headstart.core.events import AheadRequest, ReadAhead
from headstart.engine.runner import Runner, Stream

# below this charge, and not charging, nothing is read that nobody asked for
LOW_BATTERY = 20
_BATTERY_SECONDS = 30.0

# what a chat's next prompt begins with; None where nothing can be read now
Prepare = Callable[[str, str], Awaitable[AheadRequest | None]]


class ReadingAhead:
    def __init__(
        self,
        runner: Runner,
        preferences: Preferences,
        prepare: Prepare,
        tell: Callable[[Change], None],
    ) -> None:
        self._runner = runner
        self._preferences = preferences
        self._prepare = prepare
        self._tell = tell
        self._typed: dict[str, str] = {}
        self._stream: Stream | None = None
        self._serial = 0
        self._battery = (0.0, False)

    @property
    def allowed(self) -> bool:
        """The user's switch, and enough battery."""
        return self._preferences.current.prefix.read_ahead and not self._battery_low()

    async def typed(self, chat_id: str, text: str) -> None:
        """The composer of this chat ("" for a new one) holds `text` now."""
        self._typed[chat_id] = text
        await self.read(chat_id)

    async def read(self, chat_id: str) -> None:
        """Read what any next message of the chat needs, and what is typed of it."""
        self._serial += 1
        serial = self._serial
        if not self.allowed:
            return
        request = await self._prepare(chat_id, self._typed.get(chat_id, ""))
        if request is None or serial != self._serial:
            return
        self.cancel()
        stream = self._stream = self._runner.ahead(request)
        async for event in stream:
            if isinstance(event, ReadAhead):
                self._tell(AheadState(chat_id, event.tokens, event.typed))
        if self._stream is stream:
            self._stream = None

    def sent(self, chat_id: str) -> None:
        """What was typed is a message now."""
        self._typed.pop(chat_id, None)
        self._serial += 1

    def cancel(self) -> None:
        if self._stream is not None:
            self._stream.cancel()

    def _battery_low(self) -> bool:
        asked, low = self._battery
        now = time.monotonic()
        if not asked or now - asked > _BATTERY_SECONDS:
            state = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
            low = state is not None and not state.power_plugged and state.percent < LOW_BATTERY
            self._battery = (now, low)
        return low

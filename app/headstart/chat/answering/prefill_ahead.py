"""Prefilling ahead: while the user types, and after a reply. A chat that is only looked at is
restored as far as it is kept: its prompt costs nothing, and nothing is written to the disk for it.

On the event loop's thread; the prefill itself is the engine thread's, where everything else goes
first. Only the latest wish counts: one that is being prepared or read is given up for it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from headstart.chat.answering.battery import Battery
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import AheadState, NextPromptSize
from headstart.chat.preferences import Preferences
from headstart.core.chats.parts import OtherPart
from headstart.core.chats.unsent import Unsent
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import PrefilledAhead, PromptSize
from headstart.core.requests import AheadRequest
from headstart.core.settings.schema import Settings
from headstart.engine.runner import Runner
from headstart.engine.stream import Stream

log = logging.getLogger(__name__)

# the beginning of a chat's next prompt; None where nothing can be read now
Prepare = Callable[[Unsent], Awaitable[AheadRequest | None]]


class PrefillAhead:
    def __init__(
        self,
        runner: Runner,
        preferences: Preferences,
        prepare: Prepare,
        broadcast: Broadcast,
        battery: Battery,
    ) -> None:
        self._runner = runner
        self._preferences = preferences
        self._prepare = prepare
        self._broadcast = broadcast
        self._typed: dict[str, Unsent] = {}
        # the chat that the user looks at
        self._shown: str | None = None
        # chats that the user did something in since the start
        self._used: set[str] = set()
        self._wish: str | None = None
        self._reading: str | None = None
        self._busy = False
        self._stream: Stream | None = None
        self._battery = battery
        preferences.listen(self._on_settings, "prefix")

    @property
    def shown(self) -> str | None:
        return self._shown

    async def allowed(self) -> bool:
        """The user's switch, and enough battery."""
        return self._preferences.current.prefix.prefill_ahead and not await self._battery.low()

    def show(self, chat_id: str, text: str = "", parts: Sequence[OtherPart] = ()) -> None:
        """The user looks at this chat now; this stands in its composer."""
        self._shown = chat_id
        unsent = Unsent(chat_id, text, tuple(parts))
        self._typed = {chat_id: unsent} if unsent else {}

    def used(self, chat_id: str) -> None:
        """The user does something in this chat: it is worth being read."""
        self._used.add(chat_id)

    async def typed(self, chat_id: str, text: str, parts: Sequence[OtherPart] = ()) -> None:
        """The composer of the shown chat holds this now."""
        if chat_id == self._shown:
            self._typed = {chat_id: Unsent(chat_id, text, tuple(parts))}
            if text or parts:
                self.used(chat_id)
            await self.prefill(chat_id)

    async def prefill_shown(self) -> None:
        """Read what the chat that the user looks at needs; see `prefill`."""
        if self._shown is not None:
            await self.prefill(self._shown)

    async def prefill(self, chat_id: str) -> None:
        """Read what any next message of the chat needs, and what is typed of it.

        Returns at once when another wish is being followed: this one comes after it, and ends it
        if it is about another chat. (Of the same chat, what is being read is where this one
        begins: ended with every word, it would never get anywhere.) Trouble is logged only:
        nobody asked for this.
        """
        self._wish = chat_id
        if self._busy:
            if self._stream is not None and chat_id != self._reading:
                self._stream.cancel()
            return
        self._busy = True
        try:
            while self._wish is not None:
                wish, self._wish = self._wish, None
                await self._follow(wish)
        except EnvironmentProblem as problem:
            log.info("nothing is prefilled ahead: %s", problem)
        except Exception:
            log.exception("prefilling ahead failed")
        finally:
            self._busy = False

    async def _follow(self, chat_id: str) -> None:
        allowed = await self.allowed()
        if not allowed:
            self.cancel()
        request = await self._prepare(self._typed.get(chat_id, Unsent(chat_id)))
        if request is None or self._wish is not None:
            return
        if not allowed:
            request = replace(request, prefills=False)
        elif chat_id not in self._used:
            request = replace(request, restores_only=True)
        self._reading = chat_id
        stream = self._stream = self._runner.ahead(request)
        async for event in stream:
            if isinstance(event, PrefilledAhead):
                self._broadcast.tell(AheadState(chat_id, event.tokens, event.typed))
            elif isinstance(event, PromptSize):
                self._broadcast.tell(NextPromptSize(chat_id, event))
        if self._stream is stream:
            self._stream = None

    def sent(self, chat_id: str) -> None:
        """Typed text has become a message."""
        self.used(chat_id)
        self._typed.pop(chat_id, None)
        self.cancel()

    def cancel(self) -> None:
        """Forget wishes, and stop what is being read."""
        self._wish = None
        if self._stream is not None:
            self._stream.cancel()

    def _on_settings(self, settings: Settings) -> None:
        if not settings.prefix.prefill_ahead:
            self.cancel()

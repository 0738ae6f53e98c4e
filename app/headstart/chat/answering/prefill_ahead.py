"""Prefilling ahead: while the user types, and after a reply. A chat that is only viewed is restored
from the prefix cache as far as possible: no prefill, and nothing written to disk for it.

On the event loop's thread; the prefill itself runs on the engine thread, where all other work goes
first. Only the latest request counts: an earlier one in preparation or prefill is dropped for it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from headstart.chat.answering.battery import Battery
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import AheadProgress, AheadState, NextPromptSize
from headstart.chat.preferences import Preferences
from headstart.core.chats.parts import OtherPart
from headstart.core.chats.unsent import Unsent
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import PrefilledAhead, Prefilling, PromptSize
from headstart.core.requests import AheadRequest
from headstart.core.settings.schema import Settings
from headstart.engine.runner import Runner
from headstart.engine.stream import Stream

log = logging.getLogger(__name__)

# the beginning of a chat's next prompt; None if it cannot be prefilled now
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
        # the chat on show
        self._shown: str | None = None
        # chats the user has worked in since the start of the app
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
        """True if the user allows it and the battery is not low."""
        return self._preferences.current.prefix.prefill_ahead and not await self._battery.low()

    def show(self, chat_id: str, text: str = "", parts: Sequence[OtherPart] = ()) -> None:
        """Note the chat on show and the contents of its composer."""
        self._shown = chat_id
        unsent = Unsent(chat_id, text, tuple(parts))
        self._typed = {chat_id: unsent} if unsent else {}

    def used(self, chat_id: str) -> None:
        """Note that the user works in this chat, so it is worth prefilling."""
        self._used.add(chat_id)

    async def typed(self, chat_id: str, text: str, parts: Sequence[OtherPart] = ()) -> None:
        """Note the composer's new contents, and prefill if its chat is on show."""
        if chat_id == self._shown:
            self._typed = {chat_id: Unsent(chat_id, text, tuple(parts))}
            if text or parts:
                self.used(chat_id)
            await self.prefill(chat_id)

    async def prefill_shown(self) -> None:
        """Prefill the chat on show; see `prefill`."""
        if self._shown is not None:
            await self.prefill(self._shown)

    async def prefill(self, chat_id: str) -> None:
        """Prefill the prompt of the chat's next message, including the text typed so far.

        Returns at once if another request is running: this one follows it, and cancels it if it
        is for another chat. (For the same chat, this request begins with the running one:
        cancelled at every word, it would never finish.) Errors are only logged: the user did not
        ask for this.
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
        unsent = self._typed.get(chat_id, Unsent(chat_id))
        request = await self._prepare(unsent)
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
                counted = unsent if bool(request.typed) == bool(unsent) else None
                self._broadcast.tell(NextPromptSize(chat_id, event, counted))
            elif isinstance(event, Prefilling):
                self._broadcast.tell(AheadProgress(chat_id, event.done, event.total))
        if self._stream is stream:
            self._stream = None

    def sent(self, chat_id: str) -> None:
        """Forget the typed text, which is now a message, and cancel prefilling."""
        self.used(chat_id)
        self._typed.pop(chat_id, None)
        self.cancel()

    def cancel(self) -> None:
        """Drop the waiting request, and stop the running prefill."""
        self._wish = None
        if self._stream is not None:
            self._stream.cancel()

    def _on_settings(self, settings: Settings) -> None:
        if not settings.prefix.prefill_ahead:
            self.cancel()

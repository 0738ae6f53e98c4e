"""Drafts for the open chat: the choices, their activity and their speed. Main thread."""

from __future__ import annotations

import asyncio
import contextlib

from PySide6.QtCore import QObject, Signal

from headstart.chat.answering.calibrating import Calibrating
from headstart.chat.answering.drafts import Drafts
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import (
    Calibrated,
    ChatChanged,
    DraftProgress,
    DraftState,
    ReplyEnded,
    What,
)
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import DraftActivity
from headstart.core.requests import Pair
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat


class SpeculationController(QObject):
    drafts_listed = Signal(list)  # of DraftChoice
    draft_changed = Signal(str, bool)  # name of the draft ("" for none), True if loaded
    measured = Signal(object)  # Calibrated of the open chat's pair, None if not measured yet
    activity_changed = Signal(DraftActivity)

    def __init__(
        self,
        drafts: Drafts,
        calibrating: Calibrating,
        open_chat: OpenChat,
        tasks: Tasks,
        broadcast: Broadcast,
    ) -> None:
        super().__init__()
        self._drafts = drafts
        self._calibrating = calibrating
        self._open = open_chat
        self._tasks = tasks
        self._serial = 0
        # drafts are not looked up before the list of chats is shown
        self._awake = asyncio.Event()
        # measurements by pair, and those of the open chat
        self._known: dict[Pair, Calibrated] = {}
        self._pair: Pair | None = None
        open_chat.opened.connect(self.list)
        broadcast.on(ChatChanged, self._on_chat)
        broadcast.on(ReplyEnded, lambda change: self._refresh(change.chat_id))
        broadcast.on(DraftState, lambda draft: self.draft_changed.emit(draft.name, draft.loaded))
        broadcast.on(Calibrated, self._on_calibrated)
        broadcast.on(DraftProgress, self._on_progress)

    def wake(self) -> None:
        """Allow files to be examined, now that the program has started."""
        self._awake.set()

    def list(self) -> None:
        self._tasks.spawn(self._list())

    def calibrate(self) -> None:
        """Measure the speed of every draft depth."""
        self._tasks.spawn(self._calibrating.run(self._open.id))

    def cancel_calibrating(self) -> None:
        self._calibrating.cancel()

    def _on_chat(self, change: ChatChanged) -> None:
        if change.what is What.MODEL:
            self._refresh(change.chat_id)
        elif change.what is What.OPTIONS and change.chat_id == self._open.id:
            # another draft may have been chosen
            self._tasks.spawn(self._find_pair())

    def _on_calibrated(self, change: Calibrated) -> None:
        self._known[change.pair] = change
        if change.pair == self._pair:
            self.measured.emit(change)

    def _on_progress(self, change: DraftProgress) -> None:
        if change.pair == self._pair:
            self.activity_changed.emit(change.activity)

    async def _find_pair(self) -> None:
        """Find the open chat's pair, and emit its measurements."""
        chat_id, pair = self._open.id, None
        with contextlib.suppress(EnvironmentProblem):
            wanted = await self._drafts.pair(chat_id)
            pair = None if wanted is None else wanted.pair
        if chat_id == self._open.id and pair != self._pair:
            self._pair = pair
            self.measured.emit(None if pair is None else self._known.get(pair))

    def _refresh(self, chat_id: str) -> None:
        if chat_id == self._open.id:
            self.list()

    async def _list(self) -> None:
        self._serial += 1
        serial, chat_id = self._serial, self._open.id
        await self._awake.wait()
        if serial != self._serial:
            # requested again meanwhile
            return
        await self._find_pair()
        try:
            choices = await self._drafts.choices(chat_id)
        except EnvironmentProblem:
            choices = []
        if serial == self._serial and chat_id == self._open.id:
            # else another model was chosen meanwhile: a later call lists its drafts
            self.drafts_listed.emit(choices)

"""Drafts for the open chat: which can be chosen, what they do, how fast they are. Main thread."""

from __future__ import annotations

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
from headstart.ui.open_chat import OpenChat
from headstart.ui.tasks import Tasks


class SpeculationController(QObject):
    drafts_listed = Signal(list)  # of DraftChoice
    draft_changed = Signal(str, bool)  # name of the draft ("" for none), really loaded
    measured = Signal(object)  # Measured
    activity_changed = Signal(object)  # DraftActivity

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
        open_chat.opened.connect(self.list)
        broadcast.on(ChatChanged, self._on_chat)
        broadcast.on(ReplyEnded, lambda change: self._refresh(change.chat_id))
        broadcast.on(DraftState, lambda draft: self.draft_changed.emit(draft.name, draft.loaded))
        broadcast.on(Calibrated, self.measured.emit)
        broadcast.on(DraftProgress, lambda change: self.activity_changed.emit(change.activity))

    def list(self) -> None:
        self._tasks.spawn(self._list())

    def calibrate(self) -> None:
        """Find the speed of every draft depth."""
        self._tasks.spawn(self._calibrating.run(self._open.id))

    def cancel_calibrating(self) -> None:
        self._calibrating.cancel()

    def _on_chat(self, change: ChatChanged) -> None:
        if change.what is What.MODEL:
            self._refresh(change.chat_id)

    def _refresh(self, chat_id: str) -> None:
        if chat_id == self._open.id:
            self.list()

    async def _list(self) -> None:
        self._serial += 1
        serial, chat_id = self._serial, self._open.id
        try:
            choices = await self._drafts.choices(chat_id)
        except EnvironmentProblem:
            choices = []
        if serial == self._serial and chat_id == self._open.id:
            # else another model was chosen meanwhile: a later look tells
            self.drafts_listed.emit(choices)

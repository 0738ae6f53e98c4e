"""Paints the reply being written, at most once per frame."""

from __future__ import annotations

import os
import time

from PySide6.QtCore import QObject, QTimer

from headstart.core.chats.sections import ReplySections
from headstart.core.chats.values import MessageStatus
from headstart.ui.transcript.column import Column
from headstart.ui.transcript.host import Host

FRAME_MS = 16
# with few cores, frames take time from the engine: the longer interval makes it 1.06 times as fast
FEW_CORES, FRAME_ON_FEW_MS = 4, 66


def frame_ms() -> int:
    """Least milliseconds between two frames of a reply."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return FRAME_MS if cores > FEW_CORES else FRAME_ON_FEW_MS


class ReplyPainter(QObject):
    def __init__(self, column: Column, host: Host, parent: QObject) -> None:
        super().__init__(parent)
        self._column = column
        self._host = host
        self._reply: tuple[str, ReplySections] | None = None  # of this message
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._least = frame_ms()
        self._frame.setInterval(self._least)
        self._frame.timeout.connect(self.paint)

    def show(self, message_id: str, sections: ReplySections) -> None:
        """Show the reply so far, with the next frame."""
        self._reply = (message_id, sections)
        if not self._frame.isActive():
            self._frame.start()

    def paint(self) -> None:
        """Paint the text not painted yet."""
        if self._reply is None:
            return
        message_id, sections = self._reply
        self._reply = None
        item = self._column.find(message_id)
        if item is not None and item.message.status is MessageStatus.OPEN:
            began = time.perf_counter()
            widget = self._column.widget(item)
            widget.show_reply(sections)
            if self._host.tinted:
                widget.body.set_origins(sections.origins)
            self._column.place()
            # a reply with a slow layout is painted less often, so that the window stays responsive
            cost = (time.perf_counter() - began) * 1000
            self._frame.setInterval(max(self._least, min(250, round(2 * cost))))

"""Downloads in the order of the queue, each with its progress and actions."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from headstart.core.hub.downloads import ACTIVE, Download, DownloadState
from headstart.ui.kit import icons
from headstart.ui.kit.accessible import Spoken, be
from headstart.ui.kit.asking import DangerQuestion
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.joining import titled
from headstart.ui.models.words import download_words
from headstart.ui.wording import say

_STEPS = 1000
# width in pixels below which the state stands below the title
_ONE_LINE = 620
# bytes that a cancel discards without a question
_LITTLE = 100_000_000
EMPTY = "models.no-downloads"


class DownloadRow(QFrame):
    """One download. Emits its id."""

    paused = Signal(str)
    resumed = Signal(str)
    cancelled = Signal(str)
    moved_up = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._id = ""
        self.title = ElidedLabel("", self, 120, "sectionTitle")
        self.state = QLabel(self)
        self.state.setObjectName("quiet")
        self.reason = QLabel(self)
        self.reason.setObjectName("warning")
        self.reason.setWordWrap(True)
        self.bar = QProgressBar(self)
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.up = QToolButton(self)
        self.up.setIcon(icons.icon("arrow-up"))
        self.up.setToolTip(say("models.earlier"))
        self.up.setAccessibleName(say("models.move-up"))
        self.up.clicked.connect(lambda: self.moved_up.emit(self._id))
        self.pause = QPushButton(say("models.pause"), self)
        self.pause.clicked.connect(self._on_pause)
        self.cancel = QPushButton(say("models.cancel"), self)
        self.cancel.clicked.connect(self._on_cancel)
        head = QHBoxLayout()
        head.setSpacing(8)
        self._words = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._words.setSpacing(8)
        self._words.addWidget(self.title, 1)
        self._words.addWidget(self.state)
        head.addLayout(self._words, 1)
        for button in (self.up, self.pause, self.cancel):
            head.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 14)
        layout.setSpacing(8)
        layout.addLayout(head)
        layout.addWidget(self.reason)
        layout.addWidget(self.bar)
        self._pauses = True
        self._lost = 0

    @property
    def id(self) -> str:
        return self._id

    def show_download(self, download: Download, first: bool) -> None:
        self._id = download.id
        wanted, state = download.wanted, download.state
        self.title.set_full_text(wanted.title)
        self.title.setToolTip(f"{wanted.repo}\n" + "\n".join(file.path for file in wanted.files))
        self.state.setText(download_words(download))
        # else the bar would repaint at once, along with every pending update
        self.bar.setUpdatesEnabled(False)
        self.bar.setValue(int(_STEPS * download.received / max(1, wanted.size)))
        self.bar.setUpdatesEnabled(True)
        self.bar.setAccessibleName(titled(wanted.title, download_words(download)))
        self.bar.setVisible(state is not DownloadState.DONE)
        self.reason.setText(download.reason.text if download.reason is not None else "")
        self.reason.setVisible(download.reason is not None)
        self._pauses = state in ACTIVE
        self.pause.setText(say("models.pause") if self._pauses else say("models.resume"))
        self.pause.setAccessibleName(f"{self.pause.text()} {wanted.title}")
        self.pause.setVisible(state is not DownloadState.DONE)
        done = state is DownloadState.DONE
        self._lost = 0 if done else download.received
        self.cancel.setText(say("models.clear") if done else say("models.cancel"))
        self.cancel.setToolTip(say("models.remove-from-list-keeps-model") if done else "")
        self.cancel.setAccessibleName(f"{self.cancel.text()} {wanted.title}")
        self.up.setVisible(not first and state is DownloadState.QUEUED)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= _ONE_LINE
        direction = QBoxLayout.Direction
        self._words.setDirection(direction.LeftToRight if wide else direction.TopToBottom)

    def _on_pause(self) -> None:
        (self.paused if self._pauses else self.resumed).emit(self._id)

    def _on_cancel(self) -> None:
        """Ask before discarding a large download."""
        if self._lost < _LITTLE:
            self.cancelled.emit(self._id)
            return
        # the row may show another download by then
        gone = self._id
        DangerQuestion(
            self,
            say("models.cancel-full-text", full_text=self.title.full_text),
            say("models.cancelling-loses", lost=self._lost),
            say("models.cancel-download"),
            say("models.keep"),
        ).ask(lambda: self.cancelled.emit(gone))


class DownloadsView(QWidget):
    paused = Signal(str)
    resumed = Signal(str)
    cancelled = Signal(str)
    moved = Signal(str, int)
    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[DownloadRow] = []
        self._downloads: tuple[Download, ...] = ()
        self.empty = QLabel(say(EMPTY), self)
        self.empty.setObjectName("quiet")
        self.empty.setWordWrap(True)
        self.clear = QPushButton(say("models.clear-finished"), self)
        self.clear.clicked.connect(self.cleared)
        body = QWidget()
        body.setObjectName("plain")
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addStretch(1)
        area = QScrollArea(self)
        area.setAccessibleName(say("models.downloads"))
        be(area, Spoken.Grouping)
        area.setObjectName("plain")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setWidget(body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 12, 0, 0)
        layout.addWidget(self.empty)
        layout.addWidget(area, 1)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.clear)
        layout.addLayout(row)
        self.set_downloads(())

    def set_downloads(self, downloads: Sequence[Download]) -> None:
        self._downloads = tuple(downloads)
        known = {row.id: row for row in self.rows}
        wanted = [one.id for one in downloads]
        for row_id, row in known.items():
            if row_id not in wanted:
                # so that the next click does not hit another download's button
                self._column.removeWidget(row)
                row.hide()
                row.deleteLater()
        self.rows = [known.get(one) or self._make_row() for one in wanted]
        for number, (row, download) in enumerate(zip(self.rows, downloads, strict=True)):
            if self._column.indexOf(row) != number:
                self._column.removeWidget(row)
                self._column.insertWidget(number, row)
            row.show_download(download, first=number == 0)
        self.empty.setVisible(not downloads)
        self.clear.setVisible(any(one.state is DownloadState.DONE for one in downloads))

    def _make_row(self) -> DownloadRow:
        row = DownloadRow(self)
        row.paused.connect(self.paused)
        row.resumed.connect(self.resumed)
        row.cancelled.connect(self.cancelled)
        row.moved_up.connect(self._on_up)
        return row

    def _on_up(self, download_id: str) -> None:
        places = [one.id for one in self._downloads]
        self.moved.emit(download_id, max(0, places.index(download_id) - 1))

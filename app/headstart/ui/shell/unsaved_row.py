"""The row that says what is not saved yet, for as long as anything is not. Main thread."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from headstart.core.told import Told
from headstart.ui.kit.aloud import tell
from headstart.ui.wording import say


class UnsavedRow(QFrame):
    """Emits `try_wanted`. It cannot be dismissed: what it tells of would be lost unseen."""

    try_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        # it looks as the banner does
        self.setObjectName("banner")
        self.count = 0
        self.label = QLabel(self)
        self.label.setWordWrap(True)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.button = QPushButton(say("shell.try-now"), self)
        self.button.clicked.connect(self.try_wanted)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 6, 6)
        layout.addWidget(self.label, 1)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_count(self, count: int, problem: Told | None) -> None:
        """`count` changes wait for the disk, because of `problem`."""
        grew = count > self.count
        self.count = count
        if count:
            told = (
                say("shell.not-saved-yet", count=count),
                "" if problem is None else problem.text,
            )
            text = " ".join(filter(None, (*told, say("shell.saved-by-itself"))))
            self.label.setText(text)
            if grew:
                tell(self, text, urgent=True)
        self.setVisible(count > 0)

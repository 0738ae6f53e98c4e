"""Rows of the drafting panel: the draft's activity, and its acceptance and speed. Main thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from headstart.core.chats.values import SpeculationStats
from headstart.core.events import DraftActivity
from headstart.core.text.locale import locale
from headstart.ui.inspector.speculation_words import activity_words
from headstart.ui.wording import say

_NOW = "inspector.now"
_OF_REPLY = ("inspector.accepted", "inspector.tokens-per-round", "inspector.speed")


class LiveStats(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        self.values: dict[str, QLabel] = {}
        for code in (_NOW, *_OF_REPLY):
            row = QHBoxLayout()
            label, value = QLabel(say(code), self), QLabel(self)
            value.setObjectName("fieldValue")
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            row.addWidget(label, 1)
            row.addWidget(value)
            layout.addLayout(row)
            self.values[code] = value
        self.why = QLabel(self)
        self.why.setObjectName("quiet")
        self.why.setWordWrap(True)
        self.why.setAccessibleName(say("inspector.why"))
        layout.addWidget(self.why)

    def show_activity(self, activity: DraftActivity | None) -> None:
        now, why = activity_words(activity)
        self.values[_NOW].setText(now)
        self.why.setText(why)
        self.why.setVisible(bool(why))

    def show_stats(self, stats: SpeculationStats | None, against_plain: float | None) -> None:
        """Show the stats of a reply; None if nothing was drafted, or measured."""
        accepted = rounds = speed = "–"
        if stats is not None and stats.verified:
            share = stats.accepted / stats.verified
            accepted = say(
                "inspector.accepted-of-verified-share",
                accepted=stats.accepted,
                verified=stats.verified,
                share=share,
            )
        if stats is not None and stats.rounds:
            rounds = locale().number((stats.rounds + stats.accepted) / stats.rounds, 1)
        if against_plain is not None:
            speed = say("inspector.against-plain-plain-decoding", against_plain=against_plain)
        for code, text in zip(_OF_REPLY, (accepted, rounds, speed), strict=True):
            self.values[code].setText(text)

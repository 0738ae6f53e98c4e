"""Rows of the drafting panel: the draft's activity, and its acceptance and speed. Main thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from headstart.core.chats.values import SpeculationStats
from headstart.core.events import DraftActivity
from headstart.ui.inspector.speculation_words import activity_words


class LiveStats(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        self.values: dict[str, QLabel] = {}
        for name in ("Now", "Accepted", "Tokens per round", "Speed"):
            row = QHBoxLayout()
            label, value = QLabel(name, self), QLabel(self)
            value.setObjectName("fieldValue")
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            row.addWidget(label, 1)
            row.addWidget(value)
            layout.addLayout(row)
            self.values[name] = value
        self.why = QLabel(self)
        self.why.setObjectName("quiet")
        self.why.setWordWrap(True)
        self.why.setAccessibleName("Why")
        layout.addWidget(self.why)

    def show_activity(self, activity: DraftActivity | None) -> None:
        now, why = activity_words(activity)
        self.values["Now"].setText(now)
        self.why.setText(why)
        self.why.setVisible(bool(why))

    def show_stats(self, stats: SpeculationStats | None, against_plain: float | None) -> None:
        """Statistics of a reply; None where nothing was drafted, or measured."""
        accepted = rounds = speed = "–"
        if stats is not None and stats.verified:
            share = stats.accepted / stats.verified
            accepted = f"{stats.accepted:,} of {stats.verified:,} ({share:.0%})"
        if stats is not None and stats.rounds:
            rounds = f"{(stats.rounds + stats.accepted) / stats.rounds:.1f}"
        if against_plain is not None:
            speed = f"{against_plain:.1f}× plain decoding"
        for name, text in (("Accepted", accepted), ("Tokens per round", rounds), ("Speed", speed)):
            self.values[name].setText(text)

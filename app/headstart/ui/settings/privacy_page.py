"""Privacy: data that stays on this computer or leaves it, and the days of deleted chats."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from headstart.core.settings.fields import describe
from headstart.core.settings.schema import Settings
from headstart.ui.settings.form import Page

# what goes out, and when
OUTWARD = (
    ("Models", "asked for on the page about models, or with “Get”: Hugging Face learns which one."),
    ("Servers", "in chats with a server's model, after you allowed it: the chat goes there."),
    ("Updates", "once a day, only where it is switched on: one address, nothing but the question."),
    ("Links", "of a reply, when you click them: your browser opens them."),
)
NOTHING = (
    "Nothing else leaves this computer: no usage figures, no crash reports, no pictures that a "
    "text refers to. Nothing listens to other programs."
)


class PrivacyPage(Page):
    """Calls `change` with the settings to replace."""

    trash_wanted = Signal()
    guide_wanted = Signal()

    def __init__(
        self, settings: Settings, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__("Privacy", settings, parent)
        section = self.section("Deleted chats")
        section.field(
            describe(Settings)["trash_days"],
            lambda settings: settings.trash_days,
            lambda value: change(trash_days=int(float(str(value)))),
        )
        trash = QPushButton("Recently deleted…", self)
        trash.clicked.connect(self.trash_wanted)
        line = QHBoxLayout()
        line.addWidget(trash)
        line.addStretch(1)
        section.wide(line)
        section = self.section("What leaves this computer", NOTHING)
        for title, words in OUTWARD:
            label = QLabel(f"<b>{title}</b>: {words}", self)
            label.setWordWrap(True)
            section.wide(label)
        more = QPushButton("More about privacy", self)
        more.clicked.connect(self.guide_wanted)
        line = QHBoxLayout()
        line.addWidget(more)
        line.addStretch(1)
        self.column.addLayout(line)
        self.finish()

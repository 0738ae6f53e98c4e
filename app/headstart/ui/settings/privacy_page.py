"""Privacy: the uses of the network, and the days that deleted chats are kept."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from headstart.core.settings.fields import describe
from headstart.core.settings.schema import Settings
from headstart.ui.kit.joining import titled
from headstart.ui.settings.form import Page
from headstart.ui.wording import say

# uses of the network, and their occasions
OUTWARD = (
    ("settings.models", "settings.network-models"),
    ("settings.servers", "settings.network-servers"),
    ("settings.updates", "settings.once-day-only-where-switched"),
    ("settings.links", "settings.network-links"),
)
NOTHING = "settings.nothing-else-leaves"


class PrivacyPage(Page):
    """Calls `change` with the settings to replace."""

    trash_wanted = Signal()
    guide_wanted = Signal()

    def __init__(
        self, settings: Settings, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__(say("settings.privacy"), settings, parent)
        section = self.section(say("settings.deleted-chats"))
        section.field(
            describe(Settings)["trash_days"],
            lambda settings: settings.trash_days,
            lambda value: change(trash_days=int(float(str(value)))),
        )
        trash = QPushButton(say("settings.recently-deleted"), self)
        trash.clicked.connect(self.trash_wanted)
        line = QHBoxLayout()
        line.addWidget(trash)
        line.addStretch(1)
        section.wide(line)
        section = self.section(say("settings.network-use"), say(NOTHING))
        for title, words in OUTWARD:
            label = QLabel(titled(f"<b>{say(title)}</b>", say(words)), self)
            label.setWordWrap(True)
            section.wide(label)
        more = QPushButton(say("settings.more-about-privacy"), self)
        more.clicked.connect(self.guide_wanted)
        line = QHBoxLayout()
        line.addWidget(more)
        line.addStretch(1)
        self.column.addLayout(line)
        self.finish()

"""Every key of the window."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from headstart.core.settings.schema import Settings
from headstart.ui.settings.form import Page
from headstart.ui.wording import say

# titles of groups, each with its actions and their keys
Keys = Sequence[tuple[str, Sequence[tuple[str, str]]]]


class ShortcutsPage(Page):
    def __init__(self, settings: Settings, keys: Keys, parent: QWidget | None = None) -> None:
        super().__init__(say("settings.shortcuts"), settings, parent)
        for title, rows in keys:
            section = self.section(title)
            for what, by in rows:
                label = QLabel(by, self)
                label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                label.setObjectName("quietText")
                section.row(what, label)
        self.finish()

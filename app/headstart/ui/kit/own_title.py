"""A title, with a dot behind it if the value is not inherited. Main thread."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget

from headstart.ui.kit import theme
from headstart.ui.wording import say


class OwnTitle(QLabel):
    def __init__(self, text: str, parent: QWidget | None = None, section: bool = False) -> None:
        super().__init__(text, parent)
        self._plain = text
        self.own = False
        # other languages need more room
        self.setWordWrap(True)
        if section:
            self.setObjectName("sectionTitle")
        theme.follow(self._show)

    def rename(self, text: str) -> None:
        self._plain = text
        self._show()

    def set_own(self, own: bool) -> None:
        self.own = own
        self._show()

    def wanted_width(self) -> int:
        """The width in pixels of the title in one line, with its dot."""
        words = self.fontMetrics().horizontalAdvance(f"{self._plain}  ●")
        return max(words, self.minimumWidth())

    def _show(self) -> None:
        own = self.own
        dot = f'&nbsp; <span style="color:{theme.current().accent_text}">●</span>'
        self.setText(f"{self._plain}{dot}" if own else self._plain)
        self.setToolTip(say("kit.own-setting") if own else "")
        self.setAccessibleName(say("kit.plain-of-chat", plain=self._plain) if own else self._plain)

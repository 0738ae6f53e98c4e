"""Asks what becomes of passages that only resemble a question: they are given, or left out."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from headstart.chat.knowledge.asking import DoubtfulPassages
from headstart.core.text.shown import isolated, shortened
from headstart.ui.kit.sheet import Sheet
from headstart.ui.source_words import passage_place
from headstart.ui.wording import say

_WIDTH = 520
# characters of a passage
_SHOWN = 160


class DoubtedSheet(Sheet):
    """Esc sends nothing: the question stays where it was written."""

    def __init__(
        self, parent: QWidget | None, doubted: DoubtfulPassages, choose: Callable[[bool], object]
    ) -> None:
        super().__init__(say("window.doubted-title"), parent)
        self.setMinimumWidth(_WIDTH)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        count = len(doubted.found)
        self.column.addWidget(
            self.word(
                say(
                    "window.doubted",
                    names=[isolated(shortened(one, 60)) for one in doubted.sources],
                    count=count,
                )
            )
        )
        for part in doubted.found:
            passage = QVBoxLayout()
            passage.setSpacing(2)
            passage.addWidget(self.title_of(passage_place(part)))
            passage.addWidget(self.word(shortened(" ".join(part.text.split()), _SHOWN)))
            self.column.addLayout(passage)
        self.column.addWidget(self.word(say("window.doubted-holds")))
        self.without = QPushButton(say("window.without-files"), self)
        self.give = QPushButton(say("window.send-with-these", count=count), self)
        self.give.setObjectName("primary")
        # Enter must not choose unread
        for button, given in ((self.without, False), (self.give, True)):
            button.setAutoDefault(False)
            button.clicked.connect(lambda _checked, given=given: self._choose(choose, given))
        self.buttons(self.without, self.give)

    def _choose(self, choose: Callable[[bool], object], given: bool) -> None:
        self.accept()
        choose(given)


def ask_doubted(
    parent: QWidget,
    answered: Callable[[], None],
    doubted: DoubtfulPassages,
    choose: Callable[[bool], object],
) -> None:
    """Show the question; `choose` is called with True to give the passages, `answered` in any
    case."""
    sheet = DoubtedSheet(parent, doubted, choose)
    sheet.finished.connect(lambda _result: answered())
    sheet.open()

"""Questions in a sheet: yes or no, or a line of text. None of them blocks. Main thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QWidget

from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say

_WIDTH = 440


class Question(Sheet):
    """`ask` calls `agreed` when the user agrees, and `answered` in any case."""

    def __init__(
        self,
        parent: QWidget | None,
        question: str,
        about: str,
        yes: str,
        no: str = "",
    ) -> None:
        super().__init__(question, parent)
        self.setMinimumWidth(_WIDTH)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.heading.hide()
        self.close_button.hide()
        asked = QLabel(question, self)
        asked.setObjectName("chatTitle")
        asked.setWordWrap(True)
        asked.setTextFormat(Qt.TextFormat.PlainText)
        self.about = QLabel(about, self)
        self.about.setWordWrap(True)
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setVisible(bool(about))
        self.yes, self.no = QPushButton(yes, self), QPushButton(no or say("kit.cancel"), self)
        self.yes.setAutoDefault(False)
        # Enter must not agree to an unread question
        self.no.setDefault(True)
        self.yes.clicked.connect(self.accept)
        self.no.clicked.connect(self.reject)
        self.column.addWidget(asked)
        self.column.addWidget(self.about)
        self.buttons(self.no, self.yes)

    def ask(
        self, agreed: Callable[[], object], answered: Callable[[], object] = lambda: None
    ) -> Question:
        self.accepted.connect(lambda: agreed())
        self.finished.connect(lambda _result: answered())
        self.open()
        return self


class DangerQuestion(Question):
    """A question about an action that cannot be undone."""

    def __init__(
        self, parent: QWidget | None, question: str, about: str, yes: str, no: str = ""
    ) -> None:
        super().__init__(parent, question, about, yes, no)
        self.yes.setObjectName("danger")


class TextQuestion(Sheet):
    """Asks for one line of text; Enter accepts it."""

    def __init__(
        self, parent: QWidget | None, title: str, label: str, text: str = "", yes: str = ""
    ) -> None:
        super().__init__(title, parent)
        self.setMinimumWidth(_WIDTH)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.line = QLineEdit(text, self)
        self.line.setAccessibleName(label)
        self.line.selectAll()
        self.yes, self.no = (
            QPushButton(yes or say("kit.ok"), self),
            QPushButton(say("kit.cancel"), self),
        )
        self.yes.setObjectName("primary")
        self.yes.setDefault(True)
        self.no.setAutoDefault(False)
        self.yes.clicked.connect(self.accept)
        self.no.clicked.connect(self.reject)
        self.column.addWidget(self.word(label))
        self.column.addWidget(self.line)
        self.buttons(self.no, self.yes)

    def ask(self, then: Callable[[str], object]) -> TextQuestion:
        """Call `then` with the text when the user agrees."""
        self.accepted.connect(lambda: then(self.line.text()))
        self.open()
        self.line.setFocus()
        return self

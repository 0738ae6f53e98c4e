"""Asks for the values of a prompt's variables. Main thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFormLayout,
    QPushButton,
    QWidget,
)

from headstart.core.chats.variables import LONGEST
from headstart.ui.kit.enter import begin_line, ends_message, is_enter
from headstart.ui.kit.sheet import Sheet
from headstart.ui.kit.wrapping import TextEdit
from headstart.ui.wording import say

# most visible lines of a value
_MOST_LINES = 5
# characters of an explanation, which may be another program's
_ABOUT = 4_000


class ValueEdit(TextEdit):
    """Grows with its text; Enter accepts it, because most values are one word, but not in code."""

    entered = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._fit)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_enter(event) and ends_message(self, event):
            self.entered.emit()
        elif is_enter(event):
            begin_line(self)
        else:
            super().keyPressEvent(event)

    def _fit(self) -> None:
        lines = max(1, min(_MOST_LINES, self.document().blockCount()))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 20)


class ValuesDialog(Sheet):
    """Emits `given` with a value for each name."""

    given = Signal(dict)

    def __init__(
        self, names: Sequence[str], about: str, known: Mapping[str, str], parent: QWidget | None
    ) -> None:
        super().__init__(say("kit.fill-in-prompt"), parent)
        self.setMinimumWidth(460)
        words = self.word(about[:_ABOUT])
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        self.fields: dict[str, ValueEdit] = {}
        for name in names:
            field = self.fields[name] = ValueEdit(self)
            field.setAccessibleName(name)
            field.setPlainText(known.get(name, ""))
            field.entered.connect(lambda name=name: self._go_on(name))
            form.addRow(self.title_of(name), field)
        use, cancel = QPushButton(say("kit.use"), self), QPushButton(say("kit.cancel"), self)
        use.setObjectName("primary")
        use.setDefault(True)
        use.clicked.connect(self.take)
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.column.addWidget(words)
        self.column.addLayout(form)
        self.column.addWidget(self.word(say("kit.enter-goes-on-shift-enter")))
        self.buttons(cancel, use)

    def _go_on(self, name: str) -> None:
        """Focus the next field; after the last one, accept."""
        names = list(self.fields)
        number = names.index(name) + 1
        if number < len(names):
            self.fields[names[number]].setFocus()
        else:
            self.take()

    def take(self) -> None:
        self.given.emit(
            {name: field.toPlainText()[:LONGEST] for name, field in self.fields.items()}
        )
        self.accept()

"""Asks what the variables of a prompt stand for. Main thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from headstart.core.variables import LONGEST
from headstart.ui.wrapping import TextEdit

_HEIGHT = 60


class ValuesDialog(QDialog):
    """Emits `given` with a value for each name."""

    given = Signal(dict)

    def __init__(
        self, names: Sequence[str], about: str, known: Mapping[str, str], parent: QWidget | None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Fill in the prompt")
        self.setMinimumWidth(440)
        words = QLabel(about, self)
        words.setObjectName("quiet")
        words.setWordWrap(True)
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        self.fields: dict[str, TextEdit] = {}
        for name in names:
            field = self.fields[name] = TextEdit(self)
            field.setAccessibleName(name)
            field.setTabChangesFocus(True)
            field.setFixedHeight(_HEIGHT)
            field.setPlainText(known.get(name, ""))
            form.addRow(name.capitalize(), field)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel, self
        )
        buttons.accepted.connect(self.take)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(12)
        layout.addWidget(words)
        layout.addLayout(form)
        layout.addWidget(buttons)

    def take(self) -> None:
        self.given.emit(
            {name: field.toPlainText()[:LONGEST] for name, field in self.fields.items()}
        )
        self.accept()

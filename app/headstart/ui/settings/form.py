"""What the pages of the settings window are made of: sections, rows, a word under a row."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

LABEL_WIDTH = 170
# a wrapped label is as high as it would be at its least width
WORD_WIDTH = 290


class Page(QScrollArea):
    """A page that scrolls where it does not fit; `column` takes its sections."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget(self)
        body.setObjectName("settingsBody")
        self.column = QVBoxLayout(body)
        self.column.setContentsMargins(20, 16, 20, 8)
        self.column.setSpacing(8)
        self.setWidget(body)

    def section(self, title: str) -> QFormLayout:
        label = QLabel(title, self)
        label.setObjectName("sectionTitle")
        self.column.addWidget(label)
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.setContentsMargins(0, 0, 0, 12)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.column.addLayout(form)
        return form

    def row(self, form: QFormLayout, title: str, field: QWidget) -> None:
        label = QLabel(title, self)
        label.setMinimumWidth(LABEL_WIDTH)
        label.setBuddy(field)
        form.addRow(label, field)

    def word(self, text: str = "") -> QLabel:
        """A quiet line that explains; wrapped, and hidden while there is nothing to say."""
        label = QLabel(text, self)
        label.setObjectName("quiet")
        label.setWordWrap(True)
        label.setMinimumWidth(WORD_WIDTH)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setVisible(bool(text))
        return label

"""Two versions of a message side by side, with differences marked. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from headstart.core.chats.values import Message
from headstart.core.text.differences import Span, differences
from headstart.core.text.units import to_units
from headstart.ui.kit import theme
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.elided import ElidedButton
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say


class CompareWindow(Sheet):
    chosen = Signal(str)  # the id of the version to show

    def __init__(self, versions: Sequence[Message], shown: str, parent: QWidget | None) -> None:
        super().__init__(say("transcript.compare-versions-2"), parent, (1000, 640))
        self._versions = list(versions)
        ids = [one.id for one in versions]
        at = ids.index(shown) if shown in ids else 0
        # the version before the one on show, and the one on show
        starts = (max(0, at - 1), at) if at else (0, min(1, len(ids) - 1))
        self.boxes, self.panes, self.keeps = [], [], []
        layout = QGridLayout()
        layout.setSpacing(8)
        self.column.addLayout(layout, 1)
        for side, start in enumerate(starts):
            box = Choice(self)
            box.setAccessibleName(
                say("transcript.left-version") if side == 0 else say("transcript.right-version")
            )
            box.addItems([_title(number, one) for number, one in enumerate(versions, 1)])
            box.setCurrentIndex(start)
            box.currentIndexChanged.connect(lambda _index: self._show())
            pane = QPlainTextEdit(self)
            pane.setReadOnly(True)
            pane.setFont(theme.reading_font())
            pane.setAccessibleName(
                say("transcript.text-of-left" if side == 0 else "transcript.text-of-right")
            )
            keep = ElidedButton(self)
            keep.set_full_text(say("transcript.show-version-in-chat"))
            keep.setToolTip(keep.full_text)
            keep.setAutoDefault(False)
            keep.clicked.connect(lambda _checked, side=side: self._choose(side))
            layout.addWidget(box, 0, side)
            layout.addWidget(pane, 1, side)
            layout.addWidget(keep, 3, side)
            self.boxes.append(box)
            self.panes.append(pane)
            self.keeps.append(keep)
        self.said = QLabel(self)
        self.said.setObjectName("quiet")
        layout.addWidget(self.said, 2, 0, 1, 2)
        layout.setRowStretch(1, 1)
        self._show()

    def _show(self) -> None:
        texts = [self._versions[box.currentIndex()].text for box in self.boxes]
        found = differences(*texts)
        colours = (theme.current().warning_ground, theme.current().accent_ground)
        for pane, text, spans, colour in zip(self.panes, texts, found, colours, strict=True):
            pane.setPlainText(text)
            pane.setExtraSelections([_marked(pane, text, span, colour) for span in spans])
        same = not any(found)
        self.said.setText(
            say("transcript.versions-identical") if same else say("transcript.differences-marked")
        )

    def _choose(self, side: int) -> None:
        self.chosen.emit(self._versions[self.boxes[side].currentIndex()].id)
        self.accept()


def _title(number: int, message: Message) -> str:
    author = message.author
    return (
        say("transcript.version-number-author", number=number, author=author)
        if author
        else say("transcript.version-number", number=number)
    )


def _marked(pane: QPlainTextEdit, text: str, span: Span, colour: str) -> QTextEdit.ExtraSelection:
    begin, end = to_units(text, span)
    cursor = QTextCursor(pane.document())
    cursor.setPosition(begin)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    form = QTextCharFormat()
    form.setBackground(QColor(colour))
    found = QTextEdit.ExtraSelection()
    found.cursor, found.format = cursor, form
    return found

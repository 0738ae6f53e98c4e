"""A text of a tool call, its arguments or its result: read-only, folded over ten lines, drafted
text tinted. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QColor, QTextCursor, QTextDocument, QWheelEvent
from PySide6.QtWidgets import QFrame, QLabel, QTextEdit, QWidget

from headstart.core.chats.parts import Origin, OriginRun
from headstart.core.text.units import spans_in_units
from headstart.ui.kit import theme
from headstart.ui.kit.joining import titled
from headstart.ui.kit.mirrored import across
from headstart.ui.kit.tool import small_tool
from headstart.ui.kit.wrapping import is_endless, wrap
from headstart.ui.wording import say

# lines and characters of a folded text, and characters that are ever shown here
LINES, CHARACTERS, MOST = 10, 1_200, 40_000
_PAD, _GAP = 8, 4


class CallText:
    """Its widgets are children of `parent`; `resized` is called when its height changes."""

    def __init__(self, parent: QWidget, title: str, resized: Callable[[], object]) -> None:
        self._resized = resized
        self._text = ""
        self._origins: Sequence[OriginRun] = ()
        self._tinted = False
        self.open = False
        self.title = QLabel(title, parent)
        self.title.setObjectName("quiet")
        self.edit = _Reader(parent)
        self.edit.setAccessibleName(title)
        self.more = small_tool(parent, "chevron-down", "x", tab=False)
        self.more.clicked.connect(self._toggle)
        self.hide()

    @property
    def text(self) -> str:
        return self._text

    def set_text(self, text: str, origins: Sequence[OriginRun] = (), tinted: bool = False) -> None:
        """Show a text; `origins` of its characters are tinted where `tinted`."""
        if (text, origins, tinted) == (self._text, self._origins, self._tinted):
            return
        self._text, self._origins, self._tinted = text, origins, tinted
        self._fill()

    def refresh(self) -> None:
        self._fill()

    def hide(self) -> None:
        for widget in (self.title, self.edit, self.more):
            widget.hide()

    def place(self, left: int, y: int, width: int) -> int:
        """Place everything from `y` on; return the lower end."""
        height = self.title.sizeHint().height()
        self.title.setGeometry(left, y, width, height)
        y += height + _GAP
        height = self.edit.height_for(width)
        self.edit.setGeometry(left, y, width, height)
        y += height
        self.title.show()
        self.edit.show()
        self.more.setVisible(self._folds)
        if self._folds:
            hint = self.more.sizeHint()
            wide = min(width, hint.width())
            begin = across(left - 4, wide, width + 2 * left)
            self.more.setGeometry(begin, y + 2, wide, hint.height())
            y += hint.height() + 2
        return y

    @property
    def _shown(self) -> str:
        if self.open or not self._folds:
            return self._text[:MOST]
        return "\n".join(self._text[:CHARACTERS].split("\n")[:LINES])

    @property
    def _folds(self) -> bool:
        return len(self._text) > CHARACTERS or self._text.count("\n") >= LINES

    def _fill(self) -> None:
        shown = self._shown
        left_out = len(self._text) - len(shown) if self.open else 0
        more = say("transcript.call-left-out", count=left_out) if left_out else ""
        self.edit.fill(f"{shown}\n{more}" if more else shown)
        self.edit.tint(self._origins if self._tinted else ())
        lines = self._text.count("\n") + 1
        said = say("transcript.call-less") if self.open else say("transcript.call-all", lines=lines)
        self.more.setText(said)
        self.more.setAccessibleName(titled(said, self.title.text()))

    def _toggle(self) -> None:
        self.open = not self.open
        self._fill()
        self._resized()


class _Reader(QTextEdit):
    """A text to read and select, as high as it is."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("callText")
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(_PAD)
        # the editor lays out its own one for the width that it has, whatever is asked
        self._measured = QTextDocument(self)
        self._measured.setDocumentMargin(_PAD)

    def fill(self, text: str) -> None:
        before = self.toPlainText()
        font = theme.code_font(theme.SMALL_SIZE)
        endless = is_endless(text)
        wrap(self.document(), endless, font)
        wrap(self._measured, endless, font)
        self._measured.setPlainText(text)
        if text.startswith(before) and before:
            cursor = QTextCursor(self.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(text[len(before) :])
        else:
            self.setPlainText(text)

    def tint(self, origins: Sequence[OriginRun]) -> None:
        colours, text = theme.current(), self.toPlainText()
        spans, at = [], 0
        for run in origins:
            if run.origin is not Origin.TARGET and at < len(text):
                spans.append((at, min(len(text), at + run.length), run.origin))
            at += run.length
        marks = []
        for begin, end, origin in spans_in_units(text, spans):
            mark = QTextEdit.ExtraSelection()
            mark.cursor = QTextCursor(self.document())
            mark.cursor.setPosition(begin)
            mark.cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            fill = colours.by_draft if origin.drafted else colours.by_lookup
            mark.format.setBackground(QColor(fill))
            marks.append(mark)
        self.setExtraSelections(marks)

    def height_for(self, width: int) -> int:
        self._measured.setTextWidth(width)
        return round(self._measured.size().height())

    def wheelEvent(self, event: QWheelEvent) -> None:
        # the chat scrolls
        event.ignore()

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText())
        return data

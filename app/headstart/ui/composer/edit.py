"""The composer's text field: as high as its text, Enter sends, lists and code continue by
themselves, and Up recalls earlier messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil

from PySide6.QtCore import QMimeData, Qt, Signal
from PySide6.QtGui import QDropEvent, QImage, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QWidget

from headstart.core.text.shown import is_blank
from headstart.ui.kit import theme
from headstart.ui.kit.enter import begin_line, ends_message
from headstart.ui.kit.long_lines import cut
from headstart.ui.kit.wrapping import TextEdit

MOST_LINES = 10


def _nothing() -> Sequence[str]:
    return ()


class GrowingEdit(TextEdit):
    """`history` returns the user's messages in the open chat, the latest last."""

    submitted = Signal()
    pressed_on = Signal()  # Ctrl+Enter
    files_pasted = Signal(list)  # paths
    image_pasted = Signal(QImage)
    text_pasted = Signal(str)  # a long one, to be attached

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.history: Callable[[], Sequence[str]] = _nothing
        # the recalled text, and the number of messages after it; -1: none
        self._recalled, self._back = "", -1
        # characters of a pasted text from which on it is attached; 0: never
        self._long = 0
        # true while text goes into the message whatever its length
        self._here = False
        self.setTabChangesFocus(True)
        self._take_font()
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.textChanged.connect(self.fit)
        # the word being composed may be in a higher font
        self.composed.connect(self.fit)
        # a pasted paragraph is laid out only after `textChanged`
        self.document().documentLayout().documentSizeChanged.connect(lambda _size: self.fit())
        self.fit()

    def fit(self) -> None:
        """Make the field as high as its text, up to ten lines."""
        if self.font().pixelSize() != theme.px(theme.READING_SIZE):
            self._take_font()
        height, more = self.height_of_lines(MOST_LINES)
        # an empty line is as high as one of the font
        self.setFixedHeight(max(ceil(height), self.fontMetrics().lineSpacing()) + 4)
        policies = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policies.ScrollBarAsNeeded if more else policies.ScrollBarAlwaysOff
        )

    def _take_font(self) -> None:
        self.setFont(theme.reading_font())
        # the words that stand for an empty text are painted in the font of the viewport
        self.viewport().setFont(theme.reading_font())

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self.fit()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        # the window handles dropped files: a model, for one, is opened
        return source.hasImage() or (source.hasText() and not source.hasUrls())

    def insertFromMimeData(self, source: QMimeData) -> None:
        paths = [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
        if paths:
            self.files_pasted.emit(paths)
        elif source.hasImage() and not source.hasText():
            self.image_pasted.emit(QImage(source.imageData()))
        elif source.hasText():
            # other programs also offer their text as an image
            text = source.text()
            if 0 < self._long <= len(text) and not self._here and not is_blank(text):
                self.text_pasted.emit(text)
            else:
                super().insertFromMimeData(source)

    def dropEvent(self, event: QDropEvent) -> None:
        if event.source() in (self, self.viewport()):
            # text that is dragged inside the message stays in it
            with self.keeping():
                super().dropEvent(event)
        else:
            super().dropEvent(event)

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Have text go into the message, however long it is."""
        self._here = True
        try:
            yield
        finally:
            self._here = False

    def attach_from(self, characters: int) -> None:
        """Offer a pasted text of this length for attaching; 0: none."""
        self._long = characters

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shift_control = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        match event.key():
            case Qt.Key.Key_V if event.modifiers() == shift_control:
                with self.keeping():
                    self.paste()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._enter(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier), event)
            case Qt.Key.Key_Up if self._recall(1):
                pass
            case Qt.Key.Key_Down if self._recall(-1):
                pass
            case _:
                super().keyPressEvent(event)

    def _enter(self, new_line: bool, event: QKeyEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and not new_line:
            self.pressed_on.emit()
        elif ends_message(self, event):
            self.submitted.emit()
        else:
            begin_line(self)

    def _recall(self, by: int) -> bool:
        """Recall the message before (1) or after (-1) the current one, unless the user has typed
        other text."""
        text = self.toPlainText()
        recalled = self._back >= 0 and text == self._recalled
        if text and not recalled:
            return False
        asked = list(self.history())
        back = (self._back if recalled else -1) + by
        if back >= len(asked) or (back < 0 and not recalled):
            return False
        self._back = back
        self._recalled = asked[-1 - back] if back >= 0 else ""
        cursor = self.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(cut(self._recalled))
        return True

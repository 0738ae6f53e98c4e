"""Words being composed with an input method: they count as part of the field's text.

Some input methods (ibus's anthy, for one) discard the word when asked to commit, and Qt asks them
at each click that moves the focus. The user sees the word in the field, so this module keeps it.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget

# property of a field: the composed word of its last event
_WORD = "composed"


def word_in(field: QWidget) -> str:
    """The word being composed in a field; "" for none."""
    if isinstance(field, QPlainTextEdit):
        return field.textCursor().block().layout().preeditAreaText()
    return str(field.property(_WORD) or "")


def commit(field: QWidget) -> None:
    """Make the word being composed in a field part of its text."""
    if field is not QApplication.focusWidget():
        return
    word, before = word_in(field), _text(field)
    QGuiApplication.inputMethod().commit()
    if word and _text(field) == before:
        _put(field, word)


def commit_focused() -> None:
    """Commit the word in the focused field before a click reads the field: a button that does not
    take the focus would miss the last word."""
    field = QApplication.focusWidget()
    if field is not None:
        commit(field)


class KeepsWords(QObject):
    """Keeps the word of the focused field when a click would discard it."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        program = QApplication.instance()
        assert isinstance(program, QApplication)
        program.focusChanged.connect(self._on_focus)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QInputMethodEvent) and isinstance(watched, QWidget):
            word, composed = word_in(watched), event.preeditString()
            watched.setProperty(_WORD, composed)
            gone = word and not composed and not event.commitString()
            # only after a click: a key that removes the word is the user's choice
            if gone and QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
                _put(watched, word)
                return True
        return False

    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        if isinstance(before, QLineEdit | QPlainTextEdit):
            before.removeEventFilter(self)
        if isinstance(now, QLineEdit | QPlainTextEdit):
            now.installEventFilter(self)


def _text(field: QWidget) -> str:
    if isinstance(field, QPlainTextEdit):
        return field.toPlainText()
    return field.text() if isinstance(field, QLineEdit) else ""


def _put(field: QWidget, word: str) -> None:
    event = QInputMethodEvent("", [])
    event.setCommitString(word)
    QApplication.sendEvent(field, event)

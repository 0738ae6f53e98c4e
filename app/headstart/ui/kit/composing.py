"""Words that are being composed with an input method: they belong to the field that is read.

Some input methods (ibus's anthy, for one) throw the word away when they are asked to commit, and
Qt asks them with each click that takes the keyboard elsewhere. The field shows the word, so it is
kept here.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget

# a field's word, as its last event said it
_WORD = "composed"


def word_in(field: QWidget) -> str:
    """The word that is being composed in a field; "" for none."""
    if isinstance(field, QPlainTextEdit):
        return field.textCursor().block().layout().preeditAreaText()
    return str(field.property(_WORD) or "")


def commit(field: QWidget) -> None:
    """Make the word that is being composed in a field a part of its text."""
    if field is not QApplication.focusWidget():
        return
    word, before = word_in(field), _text(field)
    QGuiApplication.inputMethod().commit()
    if word and _text(field) == before:
        _put(field, word)


def commit_focused() -> None:
    """The same for the field that has the keyboard, before anything is read by a click: a button
    that leaves the keyboard where it is would read it without its last word."""
    field = QApplication.focusWidget()
    if field is not None:
        commit(field)


class KeepsWords(QObject):
    """Keeps the word of the field that has the keyboard, when a click has it thrown away."""

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
            # by a click: a key that takes it away is the user's own
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

"""Words that are being composed with an input method: they belong to the field that is read."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget


def word_in(field: QWidget) -> str:
    """The word that is being composed in a field; "" for none."""
    if isinstance(field, QPlainTextEdit):
        return field.textCursor().block().layout().preeditAreaText()
    return ""


def commit(field: QWidget) -> None:
    """Make the word that is being composed in a field a part of its text."""
    if field is not QApplication.focusWidget():
        return
    QGuiApplication.inputMethod().commit()
    left = word_in(field)
    if left:
        # the input method has not taken part
        event = QInputMethodEvent("", [])
        event.setCommitString(left)
        QApplication.sendEvent(field, event)


def commit_focused() -> None:
    """The same for the field that has the keyboard, before anything is read by a click: a button
    that leaves the keyboard where it is would read it without its last word."""
    field = QApplication.focusWidget()
    if field is not None:
        commit(field)

"""Enter in a message's text: it ends the message, or begins a line that goes on as the one before.
Main thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextCursor

from headstart.core.text.typing_help import is_in_code, next_line
from headstart.ui.kit.wrapping import TextEdit


def is_enter(event: QKeyEvent) -> bool:
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def ends_message(edit: TextEdit, event: QKeyEvent) -> bool:
    """True if this Enter ends the message. In code Enter is a new line, and Ctrl+Enter ends it."""
    if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
        return False
    control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
    return control or not is_in_code(edit.text_before_caret())


def begin_line(edit: TextEdit) -> None:
    """Begin a line at the caret: in lists with the next mark, in code as far in."""
    gone, begin = next_line(edit.text_before_caret())
    cursor = edit.textCursor()
    cursor.beginEditBlock()
    if gone:
        left, keep = QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor
        cursor.movePosition(left, keep, gone)
        cursor.removeSelectedText()
    else:
        cursor.insertText(f"\n{begin}")
    cursor.endEditBlock()
    edit.setTextCursor(cursor)
    edit.ensureCursorVisible()

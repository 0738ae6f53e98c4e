"""A field for the keys of a command: it takes the next keys that are pressed. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QKeyCombination, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPushButton, QWidget

from headstart.ui.kit.joining import titled
from headstart.ui.kit.keys import key_text
from headstart.ui.wording import say

_Key = Qt.Key
_HELD = (_Key.Key_Control, _Key.Key_Shift, _Key.Key_Alt, _Key.Key_AltGr, _Key.Key_Meta)
# Tab leaves the field, as it does everywhere
_LEAVE = (_Key.Key_Tab, _Key.Key_Backtab)
_NONE = (_Key.Key_Backspace, _Key.Key_Delete)


class KeyField(QPushButton):
    """Shows the keys; pressed, it waits for others. Esc keeps them, Backspace takes them away.
    Emits `entered` with keys in the portable form of Qt, "" for none."""

    entered = Signal(str)

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = title
        self._keys = ""
        self._waits = False
        self.setAutoDefault(False)
        self.clicked.connect(lambda: self._wait(True))

    @property
    def waits(self) -> bool:
        """True while the next keys are taken."""
        return self._waits

    def show_keys(self, keys: str) -> None:
        """Show keys in the portable form."""
        self._keys = keys
        self._wait(False)

    def _wait(self, waits: bool) -> None:
        self._waits = waits
        shown = key_text(self._keys) or say("kit.no-keys")
        self.setText(say("kit.press-keys") if waits else shown)
        name = say("kit.press-keys-for", title=self._title) if waits else titled(self._title, shown)
        self.setAccessibleName(name)
        self.setAccessibleDescription(say("kit.press-keys-how"))

    def event(self, event: QEvent) -> bool:
        if self._waits and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.ShortcutOverride:
                # the window's own shortcuts do not act meanwhile
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress and event.key() not in _LEAVE:
                self._take(event)
                return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self._waits:
            self._wait(False)

    def _take(self, event: QKeyEvent) -> None:
        key, held = _Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if key in _HELD or key == _Key.Key_unknown:
            return
        bare = held == Qt.KeyboardModifier.NoModifier
        self._wait(False)
        if bare and key == _Key.Key_Escape:
            return
        keys = "" if bare and key in _NONE else portable(QKeyCombination(held, key))
        if keys != self._keys:
            self.entered.emit(keys)


def portable(keys: QKeyCombination) -> str:
    """Keys in the form that settings hold: “Ctrl+Shift+N”, on every system."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.PortableText)

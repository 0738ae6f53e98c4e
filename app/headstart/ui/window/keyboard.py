"""Gives the keyboard to the message whenever nothing else is being written. Main thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from headstart.ui.controllers.everything import Controllers
from headstart.ui.typed import is_typed

if TYPE_CHECKING:
    from headstart.ui.window.main_window import MainWindow


class Keyboard(QObject):
    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def connect_to(self, controllers: Controllers) -> None:
        """After what takes the keyboard away from where it was: a click on a chat, a reply that is
        begun from a button, the end of an edit, a panel or notice that goes."""
        window = self._window
        window.sidebar.view.entered_chat.connect(self.to_message)
        window.sidebar.results.entered.connect(self.to_message)
        window.transcript.edit_submitted.connect(lambda *_: self.to_message())
        window.transcript.edit_left.connect(self.to_message)
        window.transcript.host.acted.connect(self.reclaim)
        window.toast.undone.connect(self.to_message)
        window.banner.answered.connect(self.reclaim)
        window.panels.closed.connect(self.reclaim)
        window.pages.changed.connect(self.reclaim)
        controllers.reply.writing_changed.connect(lambda _writing: self._on_writing())

    def to_message(self) -> None:
        if not self._window.pages.on_models:
            self._window.composer.edit.setFocus()

    def reclaim(self) -> None:
        """Give the keyboard to the message unless a field has it, once everything has happened."""
        QTimer.singleShot(0, self, self._reclaim)

    def type(self, event: QKeyEvent) -> bool:
        """Write what was typed outside of any field; whether it was."""
        if self._window.pages.on_models or not is_typed(event):
            return False
        edit = self._window.composer.edit
        if not edit.isEnabled() or edit.hasFocus():
            return False
        edit.setFocus()
        QApplication.sendEvent(edit, event)
        return True

    def _on_writing(self) -> None:
        """A reply begins or ends: buttons of its message are others now. Who goes through the list
        of chats with the keys, and comes to one that is being written, stays there."""
        QTimer.singleShot(0, self, self._leave_message)

    def _leave_message(self) -> None:
        focus, transcript = self._window.focusWidget(), self._window.transcript
        inside = focus is not None and transcript.isAncestorOf(focus)
        if focus is None or (inside and self._is_idle(focus)):
            self.to_message()

    def _reclaim(self) -> None:
        # the window's own: a dialog may have the keyboard until it is gone
        focus = self._window.focusWidget()
        if focus is None or self._is_idle(focus):
            self.to_message()

    def _is_idle(self, focus: QWidget) -> bool:
        """Nothing is written there: a button, a list, the transcript, or what is not shown."""
        window = self._window
        still = isinstance(focus, QAbstractButton) or not focus.isVisible()
        return still or focus in (window, window.sidebar.view, window.transcript)

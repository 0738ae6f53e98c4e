"""Gives the keyboard to the message whenever nothing else is being written. Main thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from headstart.ui.controllers.everything import Controllers
from headstart.ui.kit.sheet import sheet_over
from headstart.ui.kit.typed import is_typed
from headstart.ui.shell.shell import Shell

_BY_KEY = Qt.FocusReason.TabFocusReason


class Keyboard(QObject):
    def __init__(self, window: Shell) -> None:
        super().__init__(window)
        self._window = window
        # whether a key is on its way to the message
        self._typing = False

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
        if not self._window.pages.elsewhere and sheet_over(self._window) is None:
            self._window.composer.edit.setFocus()

    def reclaim(self) -> None:
        """Give the keyboard to the message unless a field has it, once everything has happened."""
        QTimer.singleShot(0, self, self._reclaim)

    def type(self, event: QKeyEvent) -> bool:
        """Write what was typed outside of any field; whether it was."""
        if self._window.pages.elsewhere or not is_typed(event):
            return False
        if sheet_over(self._window) is not None:
            return False
        edit = self._window.composer.edit
        if not edit.isEnabled() or edit.hasFocus() or self._typing:
            return False
        edit.setFocus()
        # a key that the message does not take comes back here, where the window is not active
        self._typing = True
        try:
            QApplication.sendEvent(edit, event)
        finally:
            self._typing = False
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

    # --- panes and chats -----------------------------------------------------------------

    def next_pane(self, by: int = 1) -> None:
        """From pane to pane, as one reads: the chats, the transcript, the message, the panel."""
        window = self._window
        if window.pages.elsewhere:
            window.pages.next_pane()
            return
        panes: list[tuple[QWidget, Callable[[], object]]] = [
            (window.sidebar, lambda: window.sidebar.view.setFocus(_BY_KEY)),
            (window.transcript, window.transcript.walking.enter),
            (window.composer, lambda: window.composer.edit.setFocus(_BY_KEY)),
            (window.inspector, lambda: window.inspector.first_focus.setFocus(_BY_KEY)),
        ]
        branches = window.panels.branches
        if branches is not None:
            panes.append((branches, lambda: branches.setFocus(_BY_KEY)))
        shown = [(pane, enter) for pane, enter in panes if pane.isVisible()]
        focus = window.focusWidget()
        at = next(
            (
                number
                for number, (pane, _) in enumerate(shown)
                if focus is not None and (pane is focus or pane.isAncestorOf(focus))
            ),
            len(shown) - 1 if by > 0 else 0,
        )
        window.setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)
        for step in range(1, len(shown) + 1):
            pane, enter = shown[(at + step * by) % len(shown)]
            enter()
            now = window.focusWidget()
            if now is not None and (pane is now or pane.isAncestorOf(now)):
                return

    def next_chat(self, by: int) -> None:
        """The chat below (1) or above (-1) the open one in the list."""
        window = self._window
        ids = window.sidebar.model.chat_ids()
        if not ids or window.pages.elsewhere:
            return
        now = window.open_id
        at = ids.index(now) + by if now in ids else (0 if by > 0 else len(ids) - 1)
        if 0 <= at < len(ids):
            window.open_chat(ids[at])

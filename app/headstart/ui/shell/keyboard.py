"""Gives the focus to the composer whenever no other field needs it. Main thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from headstart.ui.controllers.everything import Controllers
from headstart.ui.kit.focus import show_focus
from headstart.ui.kit.sheet import sheet_over
from headstart.ui.kit.typed import is_typed
from headstart.ui.shell.shell import Shell

_BY_KEY = Qt.FocusReason.TabFocusReason


class Keyboard(QObject):
    def __init__(self, window: Shell) -> None:
        super().__init__(window)
        self._window = window
        # True while a key is passed on to the composer
        self._typing = False

    def connect_to(self, controllers: Controllers) -> None:
        """Return the focus after events that move it: a click on a chat, a reply begun from a
        button, the end of an edit, a panel or notice that closes."""
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
        """Focus the composer unless a field has the focus, once all events are processed."""
        QTimer.singleShot(0, self, self._reclaim)

    def type(self, event: QKeyEvent) -> bool:
        """Type into the composer a key pressed outside any field; True if it was typed."""
        if self._window.pages.elsewhere or not is_typed(event):
            return False
        if sheet_over(self._window) is not None:
            return False
        edit = self._window.composer.edit
        if not edit.isEnabled() or edit.hasFocus() or self._typing:
            return False
        edit.setFocus()
        # in an inactive window, a key that the composer does not accept returns to this method
        self._typing = True
        try:
            QApplication.sendEvent(edit, event)
        finally:
            self._typing = False
        return True

    def _on_writing(self) -> None:
        """Take the focus from the buttons of a message, which change as its reply begins or ends.
        A user who walks through the list of chats by keys stays in the list."""
        QTimer.singleShot(0, self, self._leave_message)

    def _leave_message(self) -> None:
        focus, transcript = self._window.focusWidget(), self._window.transcript
        inside = focus is not None and transcript.isAncestorOf(focus)
        if focus is None or (inside and self._is_idle(focus)):
            self.to_message()

    def _reclaim(self) -> None:
        # the window's own focus: a dialog may have the keyboard until it is gone
        focus = self._window.focusWidget()
        if focus is None or self._is_idle(focus):
            self.to_message()

    def _is_idle(self, focus: QWidget) -> bool:
        """True for a widget without text input: a button, a list, the transcript, a hidden one."""
        window = self._window
        still = isinstance(focus, QAbstractButton) or not focus.isVisible()
        return still or focus in (window, window.sidebar.view, window.transcript)

    # --- panes and chats -----------------------------------------------------------------

    def next_pane(self, by: int = 1) -> None:
        """Focus the next pane in reading order: chats, transcript, composer, panel."""
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
        for step in range(1, len(shown) + 1):
            pane, enter = shown[(at + step * by) % len(shown)]
            enter()
            show_focus(window)
            now = window.focusWidget()
            if now is not None and (pane is now or pane.isAncestorOf(now)):
                return

    def next_chat(self, by: int) -> None:
        """Open the chat below (1) or above (-1) the open one in the list."""
        window = self._window
        ids = window.sidebar.model.chat_ids()
        if not ids or window.pages.elsewhere:
            return
        now = window.open_id
        at = ids.index(now) + by if now in ids else (0 if by > 0 else len(ids) - 1)
        if 0 <= at < len(ids):
            window.open_chat(ids[at])

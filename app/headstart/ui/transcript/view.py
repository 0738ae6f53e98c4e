"""The transcript: a scrolling column of messages.

`column` holds the messages and their positions, `reply` paints the reply being written, `host`
serves the blocks, `reaching` scrolls to matches; this module handles events and the window's calls.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QWidget

from headstart.core.chats.values import BranchPage, Message
from headstart.core.settings.schema import StatsShown
from headstart.ui.kit import theme
from headstart.ui.kit.accessible import Spoken, be
from headstart.ui.kit.focus_ring import OWN_FOCUS
from headstart.ui.transcript.column import Column, message_of
from headstart.ui.transcript.context_menu import context_menu
from headstart.ui.transcript.copying import copy_markdown, copy_shown
from headstart.ui.transcript.end_button import EndButton
from headstart.ui.transcript.host import Host
from headstart.ui.transcript.message import MessageWidget
from headstart.ui.transcript.reaching import Reaching
from headstart.ui.transcript.reply_painter import ReplyPainter
from headstart.ui.transcript.walking import Walking
from headstart.ui.wording import say

_STEPS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class TranscriptView(QAbstractScrollArea):
    """Shows one branch. Emits the user's requests for a message, by its id."""

    edit_submitted = Signal(str, str, str)  # message id, text, the action After
    edit_left = Signal()
    version_requested = Signal(str, int)
    # the reader is near the first loaded message, and earlier ones exist
    earlier_requested = Signal()
    # a message's id ("" for the whole chat), and the format to copy
    copy_requested = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(say("transcript.conversation"))
        self.viewport().setAccessibleName(say("transcript.messages"))
        be(self, Spoken.Grouping)
        be(self.viewport(), Spoken.List)
        self.setProperty(OWN_FOCUS, True)
        self.viewport().setBackgroundRole(QPalette.ColorRole.Window)
        self.host = Host(self)
        self.column = Column(self, self._make_widget, self.earlier_requested.emit)
        self.host.use(self.column)
        self.reply = ReplyPainter(self.column, self.host, self)
        self.selecting = self.host.selecting
        self.reaching = Reaching(self.column, self.host)
        self.walking = Walking(self, self.column)
        self.end_button = EndButton(self)
        self.end_button.clicked.connect(self.scroll_to_end)
        self._writing = False
        self._relayout = QTimer(self)
        self._relayout.setSingleShot(True)
        self._relayout.setInterval(0)
        self._relayout.timeout.connect(self._place)
        self.host.changed.connect(self._relayout.start)
        # unsaved edits when another chat was opened, by message id
        self._edits: dict[str, str] = {}
        # True: select messages not loaded yet as well
        self._all_wanted = False
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.verticalScrollBar().setSingleStep(theme.line_height())
        theme.follow(self.refresh)

    # --- content -------------------------------------------------------------------------

    def set_branch(self, messages: list[Message], same_chat: bool, earlier: int = 0) -> None:
        """Show these messages; in the same chat, existing widgets are reused.

        `earlier`: number of messages before them, requested when the reader scrolls up to them.
        """
        if not same_chat:
            for widget in self.column.widgets():
                if widget.editor is not None and widget.editor.toPlainText() != widget.message.text:
                    self._edits[widget.message.id] = widget.editor.toPlainText()
        before = [item.message.id for item in self.column.items]
        new = len(messages) - len(before)
        if same_chat and new > 0 and not self.column.following:
            self.end_button.added(new)
        place = self.column.set_messages(messages, same_chat, earlier)
        now = [item.message.id for item in self.column.items]
        upto = self.selecting.messages_up_to(len(before))
        if not same_chat or before[:upto] != now[:upto]:
            self.selecting.clear()
        self.set_writing(self._writing)
        place()
        self.end_button.place(self.column.following)

    def show_earlier(self, page: BranchPage) -> None:
        """Insert messages before those shown; the text in view stays in place."""
        place = self.column.show_earlier(page)
        self.selecting.shift(len(page.messages))
        if self._all_wanted:
            self.selecting.select_all()
        self._all_wanted = self._all_wanted and page.earlier > 0
        place()
        if self._all_wanted and self.column.earlier:
            self.column.want_earlier()

    def set_message(self, message: Message) -> None:
        """Show a message's new state, after its reply ended."""
        self.column.set_message(message)
        self.set_writing(self._writing)
        self.column.place()

    def set_writing(self, writing: bool) -> None:
        """Note whether a reply is being written in the open chat."""
        self._writing = writing
        for widget in self.column.widgets():
            widget.set_busy(writing)
        self.end_button.set_writing(writing)

    def begin_edit(self, message_id: str) -> None:
        """Turn a message into an editor."""
        widget = self.widget_of(message_id)
        if widget is not None:
            widget.begin_edit()
            if widget.editor is not None:
                widget.editor.setFocus()

    def leave_edit(self) -> bool:
        """Close the editor that has the focus; return False if none has."""
        focus = QApplication.focusWidget()
        for widget in self.column.widgets():
            if widget.editing and focus is not None and widget.isAncestorOf(focus):
                widget.end_edit()
                self.edit_left.emit()
                return True
        return False

    def set_stats(self, shown: StatsShown) -> None:
        """Show these stats under replies."""
        if shown != self.host.stats_shown:
            self.host.stats_shown = shown
            for widget in self.column.widgets():
                widget.set_message(widget.message)

    def show_progress(self, message_id: str, text: str) -> None:
        item = self.column.find(message_id)
        if item is not None and item.widget is not None:
            item.widget.show_progress(text)

    def refresh(self) -> None:
        """Measure and paint again with the current theme."""
        self.column.refresh()
        self.viewport().update()

    def widget_of(self, message_id: str) -> MessageWidget | None:
        item = self.column.find(message_id)
        return None if item is None else self.column.widget(item)

    def scroll_to_end(self) -> None:
        self.column.following = True
        self._place()

    def select_all(self) -> None:
        """Select the whole branch; messages not loaded yet are fetched page by page."""
        self._all_wanted = self.column.earlier > 0
        if self.column.earlier:
            self.column.want_earlier()
        self.selecting.select_all()

    # --- inside --------------------------------------------------------------------------

    def _make_widget(self, message: Message) -> MessageWidget:
        widget = MessageWidget(self.host, self.viewport(), message)
        widget.edit_submitted.connect(self.edit_submitted)
        widget.edit_left.connect(self.edit_left)
        widget.version_requested.connect(self.version_requested)
        if message.id in self._edits:
            widget.begin_edit(self._edits.pop(message.id))
        widget.set_busy(self._writing)
        return widget

    def _place(self) -> None:
        self.column.place()
        self.end_button.place(self.column.following)

    def _on_scrolled(self, value: int) -> None:
        if not self.column.placing:
            self.column.following = value >= self.verticalScrollBar().maximum() - 4
            self._place()

    # --- events --------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def wheelEvent(self, event: QWheelEvent) -> None:
        super().wheelEvent(event)
        bar = self.verticalScrollBar()
        self.column.following = bar.value() >= bar.maximum() - 4

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        self.walking.paint(painter)
        painter.end()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.walking.enter(event.reason() is Qt.FocusReason.TabFocusReason)

    def focusNextPrevChild(self, forward: bool) -> bool:
        return self.walking.tab(forward)

    def viewportEvent(self, event: QEvent) -> bool:
        press = event.type() == QEvent.Type.MouseButtonPress
        if press and isinstance(event, QMouseEvent) and event.button() == Qt.MouseButton.LeftButton:
            self.selecting.clear()
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        message = message_of(self.column.items, self.viewport().childAt(event.pos()))
        menu = context_menu(self, self.host, message, self.select_all, self.copy_requested.emit)
        menu.popup(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar = self.verticalScrollBar()
        control = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        if event.key() == Qt.Key.Key_C and event.modifiers() == control:
            copy_markdown(self.selecting)
        elif event.matches(QKeySequence.StandardKey.Copy):
            copy_shown(self.selecting)
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() == Qt.Key.Key_End:
            self.scroll_to_end()
        elif event.key() == Qt.Key.Key_Home:
            bar.setValue(0)
        elif event.key() in _STEPS and not event.modifiers() & control:
            self.walking.step(_STEPS[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

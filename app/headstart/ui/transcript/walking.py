"""Keyboard navigation among messages: the arrow keys move between messages, Tab moves through the
actions of the focused one, and then leaves the transcript. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from headstart.ui.kit import theme
from headstart.ui.kit.focus import focus_by_tab, leave_area, step_among, stops_in
from headstart.ui.transcript.column import Column
from headstart.ui.transcript.message import MessageWidget

# px between the focused message and its frame
_AROUND = 8


class Walking(QObject):
    def __init__(self, area: QAbstractScrollArea, column: Column) -> None:
        super().__init__(area)
        self._area = area
        self._column = column
        # the message that has or last had the keyboard focus
        self.message_id = ""
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)

    @property
    def current(self) -> MessageWidget | None:
        """The message that has the keyboard focus."""
        return self._of(self._area.window().focusWidget())

    def enter(self, forward: bool = True) -> bool:
        """Focus the message that last had the focus, else the last message."""
        items = self._column.items
        item = self._column.find(self.message_id) if self.message_id else None
        if item is None and items:
            item = items[-1]
        if item is None:
            return False
        widget = self._column.widget(item)
        focus_by_tab(widget, forward)
        return True

    def step(self, by: int) -> bool:
        """Move to the next message down (1) or up (-1)."""
        current = self.current
        if current is None:
            return self.enter(by > 0)
        items = self._column.items
        numbers = [number for number, item in enumerate(items) if item.widget is current]
        if not numbers or not 0 <= numbers[0] + by < len(items):
            return False
        item = items[numbers[0] + by]
        view = self._area.viewport().height()
        widget = self._column.widget(item)
        focus_by_tab(widget, by > 0)
        bar = self._area.verticalScrollBar()
        if item.top < bar.value() or item.top + item.height > bar.value() + view:
            if by > 0 and item is items[-1]:
                bar.setValue(bar.maximum())
            else:
                self._column.scroll_to(item, None, -theme.px(16), at_top=True)
        self._area.viewport().update()
        return True

    def tab(self, forward: bool) -> bool:
        """Handle Tab, or Shift+Tab, anywhere in the transcript."""
        focus = self._area.window().focusWidget()
        message = self._of(focus)
        if message is None:
            if focus is self._area and self._column.items and forward:
                return self.enter()
            return leave_area(self._area, forward)
        if step_among([message, *stops_in(message)], focus, forward):
            return True
        return leave_area(self._area, forward)

    def answer_call(self) -> bool:
        """Focus the answers of the first call that waits for the user; False if none does."""
        for message in self._column.widgets():
            for call in message.body.calls.values():
                if call.asks:
                    call.focus_question()
                    return True
        return False

    def paint(self, painter: QPainter) -> None:
        """Paint a frame around the message that has the keyboard focus."""
        message = self.current
        if message is None or not message.hasFocus():
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.colour(theme.current().accent), 2))
        area = message.geometry().adjusted(-_AROUND, -_AROUND // 2, _AROUND, _AROUND // 2)
        painter.drawRoundedRect(area, theme.RADIUS_CARD, theme.RADIUS_CARD)

    def _of(self, widget: QWidget | None) -> MessageWidget | None:
        while widget is not None and widget is not self._area:
            if isinstance(widget, MessageWidget):
                return widget
            widget = widget.parentWidget()
        return None

    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        before, now = self._of(old), self._of(new)
        if before is not None and before is not now:
            before.foot.set_active(before.underMouse())
        if now is not None:
            self.message_id = now.message.id
            now.foot.set_active(True)
        if before is not now or (now is not None and (new is now or old is now)):
            self._area.viewport().update()

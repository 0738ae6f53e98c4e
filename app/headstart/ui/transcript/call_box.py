"""A tool call in a reply: one line when it is over, its question while it waits for the user, its
arguments and its result below. Main thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton, QWidget

from headstart.chat.agent.permissions import Permission
from headstart.core.chats.parts import BlobRef
from headstart.core.chats.sections import CallState, ShownCall
from headstart.ui.kit import icons, theme
from headstart.ui.kit.accessible import Spoken, be, be_fold
from headstart.ui.kit.joining import sentences
from headstart.ui.kit.mirrored import across, draw_words, forward_icon, visual
from headstart.ui.kit.tips import plain_tip
from headstart.ui.tool_names import about_tool, tool_title
from headstart.ui.transcript.call_text import CallText
from headstart.ui.transcript.call_words import (
    about_call,
    facts_of,
    point_of,
    pretty,
    question,
    summary_of,
)
from headstart.ui.wording import say

# px at 100 %: height of the line, padding inside the card, gaps
_ROW, _PAD, _GAP = 40, 12, 8
# px at 100 %: room below which arguments are not shown beside a state
_LEAST = 60
_WITH_RESULT = (CallState.DONE, CallState.FAILED)
_ICONS: dict[CallState, tuple[str, icons.Ink]] = {
    CallState.DONE: ("check", "accent_text"),
    CallState.ASKED: ("hand", "warning"),
    CallState.FAILED: ("x", "warning"),
    CallState.DENIED: ("slash", "quiet"),
    CallState.STOPPED: ("stop", "quiet"),
    CallState.CUT: ("slash", "quiet"),
    CallState.INTERRUPTED: ("slash", "quiet"),
}
_ANSWERS = (
    (Permission.ONCE, "transcript.allow-once", "primary"),
    (Permission.CHAT, "transcript.allow-in-chat", ""),
    (Permission.ALWAYS, "transcript.allow-always", ""),
    (Permission.DENIED, "transcript.deny", "danger"),
)
_TICK_MS = 1_000


class CallHost(Protocol):
    """The message, as a call sees it."""

    @property
    def tinted(self) -> bool: ...

    def answer_call(self, number: int, permission: Permission) -> None: ...

    def stop_call(self, number: int) -> None: ...

    def open_result(self, name: str, whole: BlobRef) -> None: ...

    @property
    def resized(self) -> Callable[[], object]: ...


class CallBox(QWidget):
    """A call as a card; cards of calls that follow each other share their lines."""

    def __init__(self, host: CallHost, parent: QWidget, call: ShownCall) -> None:
        super().__init__(parent)
        self.setObjectName("callBox")
        be(self, Spoken.Grouping)
        self._host = host
        self.call = call
        # True: the card above, or below, is a call, too
        self.joined = (False, False)
        self._began = time.monotonic()
        self.head = _Head(self)
        self.head.toggled.connect(lambda _open: host.resized())
        self.arguments = CallText(self, say("transcript.call-arguments"), host.resized)
        self.result = CallText(self, say("transcript.call-result"), host.resized)
        self.about = QLabel(self)
        self.about.setWordWrap(True)
        # a server's words are text
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.hide()
        # made when they are first needed
        self.answers: dict[Permission, QPushButton] = {}
        self.stop_button: QPushButton | None = None
        self.whole_button: QPushButton | None = None
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self._show_head)
        self._show()

    @property
    def asks(self) -> bool:
        return self.call.state is CallState.ASKED

    # --- content -------------------------------------------------------------------------

    def set_call(self, call: ShownCall) -> None:
        """Show the call's present state."""
        if call == self.call:
            return
        before, self.call = self.call, call
        if call.state is not before.state:
            if call.state is CallState.RUNNING:
                self._began = time.monotonic()
            if self.asks and QAccessible.isActive():
                event = QAccessibleEvent(self.head, QAccessible.Event.Alert)
                QAccessible.updateAccessibility(event)
        self._show()

    def refresh(self) -> None:
        """Apply the theme's current font and colours."""
        self.arguments.refresh()
        self.result.refresh()
        self.update()

    def show_tint(self) -> None:
        self._show_texts()

    def focus_question(self) -> None:
        """Give the keyboard to the first answer."""
        self.answers[Permission.ONCE].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show(self) -> None:
        running = self.call.state is CallState.RUNNING
        if self.asks:
            self._make_answers()
        possible = None if self.call.ground is None else self.call.ground.answers
        for permission, button in self.answers.items():
            button.setVisible(self.asks and (possible is None or permission.value in possible))
        if running and self.stop_button is None:
            self.stop_button = QPushButton(say("transcript.call-stop"), self)
            self.stop_button.setAccessibleName(
                say("transcript.call-stop-tool", tool=tool_title(self.call.name))
            )
            self.stop_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.stop_button.clicked.connect(lambda: self._host.stop_call(self.call.number))
        if self.stop_button is not None:
            self.stop_button.setVisible(running)
        if running is not self._tick.isActive():
            (self._tick.start if running else self._tick.stop)()
        self._show_texts()
        self._show_head()

    def _show_texts(self) -> None:
        call = self.call
        written = pretty(call.arguments) if call.state is not CallState.WRITING else call.arguments
        origins = call.origins if written == call.arguments else ()
        self.arguments.set_text(written, origins, self._host.tinted)
        self.result.set_text(call.result)
        words = ""
        if self.asks:
            words = about_tool(call.name) if call.ground is None else about_call(call.ground)
        self.about.setText(words)

    def _show_head(self) -> None:
        call, seconds = self.call, time.monotonic() - self._began
        title = question(call) if self.asks else tool_title(call.name)
        summary = "" if self.asks else summary_of(call, seconds)
        self.head.show_words(title, point_of(call), summary, facts_of(call))
        self.head.show_state(call.state)
        spoken = [title, point_of(call), summary_of(call, seconds), facts_of(call)]
        self.head.setAccessibleName(sentences(*spoken))

    def _make_answers(self) -> None:
        if self.answers:
            return
        tool = tool_title(self.call.name)
        for permission, code, name in _ANSWERS:
            button = QPushButton(say(code), self)
            button.setObjectName(name)
            # Enter in the composer never allows anything
            button.setAutoDefault(False)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.setAccessibleName(say("transcript.answer-for-tool", answer=say(code), tool=tool))
            button.clicked.connect(
                lambda _checked=False, one=permission: self._host.answer_call(self.call.number, one)
            )
            self.answers[permission] = button

    # --- position ------------------------------------------------------------------------

    def lay_out(self, width: int) -> int:
        """Place everything for `width`; return the height."""
        row, inner = theme.px(_ROW), width - 2 * _PAD
        right = width
        if self.stop_button is not None and not self.stop_button.isHidden():
            hint = self.stop_button.sizeHint()
            right = width - hint.width() - _GAP
            top = (row - hint.height()) // 2
            left = across(right, hint.width(), width)
            self.stop_button.setGeometry(left, top, hint.width(), hint.height())
        self.head.setGeometry(across(0, right, width), 0, right, row)
        y = row
        if self.asks:
            y = self._place_about(y + _GAP, inner)
        if self.asks or self.head.isChecked():
            y = self._place_texts(y + _GAP, inner)
        else:
            self.arguments.hide()
            self.result.hide()
            self._place_whole(y, inner, False)
        if self.asks:
            y = self._place_answers(y + _GAP, width)
        return y + (_PAD if y > row else 0)

    def _place_about(self, y: int, width: int) -> int:
        self.about.setVisible(bool(self.about.text()))
        if not self.about.text():
            return y
        height = self.about.heightForWidth(width)
        self.about.setGeometry(_PAD, y, width, height)
        return y + height

    def _place_texts(self, y: int, width: int) -> int:
        if not self.asks:
            self.about.hide()
        if self.call.arguments.strip() in ("", "{", "{}"):
            self.arguments.hide()
        else:
            y = self.arguments.place(_PAD, y, width)
        if not self.call.result:
            self.result.hide()
            return self._place_whole(y, width, False)
        return self._place_whole(self.result.place(_PAD, y + _GAP, width), width, True)

    def _place_whole(self, y: int, width: int, shown: bool) -> int:
        """Place the button that opens a result which was shortened."""
        whole = self.call.whole
        if shown and whole is not None and self.whole_button is None:
            self.whole_button = QPushButton(say("transcript.call-whole", size=whole.size), self)
            self.whole_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            self.whole_button.setAutoDefault(False)
            self.whole_button.clicked.connect(self._open_whole)
        if self.whole_button is None:
            return y
        self.whole_button.setVisible(shown)
        if not shown:
            return y
        hint = self.whole_button.sizeHint()
        left = across(_PAD, hint.width(), width + 2 * _PAD)
        self.whole_button.setGeometry(left, y + _GAP, hint.width(), hint.height())
        return y + _GAP + hint.height()

    def _open_whole(self) -> None:
        if self.call.whole is not None:
            self._host.open_result(self.call.name, self.call.whole)

    def _place_answers(self, y: int, width: int) -> int:
        """The answers in a row, the denial at its end; in two rows where there is no room."""
        x, lower, end = _PAD, y, width - _PAD
        for permission, button in self.answers.items():
            if button.isHidden():
                continue
            hint = button.sizeHint()
            if x + hint.width() > end:
                x, y = _PAD, lower + _GAP
            elif permission is Permission.DENIED:
                x = end - hint.width()
            left = across(x, hint.width(), width)
            button.setGeometry(left, y, hint.width(), hint.height())
            x += hint.width() + _GAP
            lower = y + hint.height()
        return lower

    # --- painting ------------------------------------------------------------------------

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        above, under = self.joined
        reach = 2 * theme.RADIUS_CARD
        card = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        whole = card.adjusted(0, -reach if above else 0, 0, reach if under else 0)
        path = QPainterPath()
        path.addRoundedRect(whole, theme.RADIUS_CARD, theme.RADIUS_CARD)
        painter.fillPath(path, QColor(colours.raised))
        if self.asks:
            painter.save()
            painter.setClipPath(path)
            head = QRect(0, 0, self.width(), theme.px(_ROW))
            painter.fillRect(head, QColor(colours.warning_ground))
            painter.restore()
        painter.setPen(QPen(QColor(colours.warning if self.asks else colours.line), 1))
        painter.drawPath(path)
        if above:
            painter.setPen(QPen(QColor(colours.line), 1))
            painter.drawLine(QPointF(1, 0.5), QPointF(self.width() - 1, 0.5))
        painter.end()


class _Head(QAbstractButton):
    """The line of a call, which shows and hides its texts."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setCheckable(True)
        be_fold(self)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._words = ("", "", "", "")
        self._state = CallState.WAITING

    @property
    def words(self) -> tuple[str, str, str, str]:
        """Title, point, summary and facts."""
        return self._words

    def show_words(self, title: str, point: str, summary: str, facts: str) -> None:
        self._words = (title, point, summary, facts)
        self.setToolTip(plain_tip(summary))
        self.update()

    def show_state(self, state: CallState) -> None:
        self._state = state
        self.setEnabled(state is not CallState.ASKED)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, theme.px(_ROW))

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours, asks = theme.current(), self._state is CallState.ASKED
        painter = QPainter(self)
        name, ink = _ICONS.get(self._state, ("wrench", "quiet"))
        middle = self.height() // 2
        size = icons.size()
        icons.icon(name, ink).paint(
            painter, visual(self, QRect(_PAD, middle - size // 2, size, size))
        )
        left, right = _PAD + size + _GAP, self.width() - _PAD
        if not asks:
            right -= size
            chevron = "chevron-down" if self.isChecked() else forward_icon()
            place = QRect(right, middle - size // 2, size, size)
            icons.icon(chevron).paint(painter, visual(self, place))
            right -= _GAP
        title, point, summary, facts = self._words
        ink_of_title = colours.warning if asks else colours.ink
        bold = theme.text_font(theme.TEXT_SIZE, QFont.Weight.DemiBold)
        left = self._draw(painter, title, bold, ink_of_title, (left, right)) + _GAP
        end = " · ".join(filter(None, (summary, facts)))
        usual, code = theme.text_font(), theme.code_font(theme.SMALL_SIZE)
        # a pixel more: a text that is a fraction too wide is cut
        wanted = QFontMetrics(usual).horizontalAdvance(end) + 2
        point_wide = QFontMetrics(code).horizontalAdvance(point)
        room = right - left
        if room - wanted < theme.px(_LEAST) and self._state not in _WITH_RESULT:
            # the state is worth more than a piece of the arguments
            point = ""
        # both are cut where there is no room, and neither below a third
        share = max(room // 3, room - point_wide - 2 * _GAP)
        width = min(wanted, share if point else room)
        if end and width > 0:
            self._draw(painter, end, usual, colours.quiet, (right - width, right))
            right -= width + 2 * _GAP
        if point and not asks:
            self._draw(painter, point, code, colours.quiet, (left, right))
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(colours.accent), 2))
            frame = self.rect().adjusted(2, 2, -2, -2)
            painter.drawRoundedRect(frame, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        painter.end()

    def _draw(
        self, painter: QPainter, text: str, font: QFont, ink: str, span: tuple[int, int]
    ) -> int:
        """Draw a text between two x positions; return the end of what is drawn."""
        left, right = span
        metrics = QFontMetrics(font)
        room = max(0, right - left)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
        painter.setFont(font)
        painter.setPen(QColor(ink))
        area = QRect(left, 0, room, self.height())
        draw_words(painter, area, shown, self.rect())
        return left + metrics.horizontalAdvance(shown)

"""Dialogs inside the window: a card over the content, which is dimmed and blocked meanwhile.
Esc closes it, as does a click outside if nothing was typed. Main thread.

Without a window around it (an error at the start) a sheet is a separate window.
"""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from headstart.ui.kit import icons, theme
from headstart.ui.kit.composing import commit_focused
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.focus import focus_by_tab, in_reading_order, takes_tab
from headstart.ui.kit.hover import settle_hover
from headstart.ui.wording import say

# pixels of the window left around a sheet
_AROUND = 24
_DIM = {False: 70, True: 130}


class Sheet(QDialog):
    """Subclasses put their content into `column`. `size`: the preferred size, by default that of
    the content."""

    def __init__(
        self, title: str, parent: QWidget | None, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("sheet")
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._wanted = size
        self._shade: _Shade | None = None
        # the widget that had the focus before
        self._before: QWidget | None = None
        self.heading = ElidedLabel(title, self, 120, "chatTitle")
        self.close_button = QToolButton(self)
        self.close_button.setIcon(icons.icon("x"))
        self.close_button.setToolTip(say("kit.close-esc"))
        self.close_button.setAccessibleName(say("kit.close"))
        self.close_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.close_button.clicked.connect(self.reject)
        head = QHBoxLayout()
        head.setContentsMargins(0, 0, 0, 0)
        head.addWidget(self.heading, 1)
        head.addWidget(self.close_button)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(20, 14, 20, 18)
        self.column.setSpacing(12)
        self.column.addLayout(head)

    def set_title(self, title: str) -> None:
        self.setWindowTitle(title)
        self.heading.set_full_text(title)

    @property
    def is_written(self) -> bool:
        """True if a click outside the sheet would lose typed text."""
        lines = any(one.isModified() for one in self.findChildren(QLineEdit))
        texts = self.findChildren(QPlainTextEdit)
        return lines or any(one.document().isModified() for one in texts)

    def word(self, text: str = "") -> QLabel:
        """Create a quiet line of explanation."""
        label = QLabel(text, self)
        label.setObjectName("quiet")
        label.setWordWrap(True)
        label.setTextFormat(Qt.TextFormat.PlainText)
        return label

    def title_of(self, text: str) -> QLabel:
        """Create the title of a field; the text may be anybody's."""
        label = QLabel(text, self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        return label

    def buttons(
        self, *right: QAbstractButton, left: tuple[QAbstractButton, ...] = ()
    ) -> QHBoxLayout:
        """Add the last line: the main buttons on the right, the default one last."""
        row = QHBoxLayout()
        row.setSpacing(8)
        for button in left:
            row.addWidget(button)
        row.addStretch(1)
        for button in right:
            # before the click reads a field
            button.pressed.connect(commit_focused)
            row.addWidget(button)
        # Tab goes as they stand, in whatever order they were made
        in_reading_order(*left, *right)
        self.column.addLayout(row)
        return row

    # --- placement -----------------------------------------------------------------------

    def setVisible(self, visible: bool) -> None:
        if visible and self._shade is None:
            self._enter()
        super().setVisible(visible)
        if not visible and self._shade is not None:
            self._leave()

    def _enter(self) -> None:
        around = self.parentWidget()
        window = None if around is None else around.window()
        calm(self)
        if window is None or isinstance(window, QDialog) or not window.isVisible():
            self._size_alone()
            return
        self._before = window.focusWidget()
        self._shade = _Shade(window, self)
        # its creator may still delete it
        self.setParent(self._shade)
        self.setWindowFlags(Qt.WindowType.Widget)
        self._shade.place()
        self._shade.show()
        self._shade.raise_()

    def _size_alone(self) -> None:
        """Size a separate window, never larger than the screen."""
        screen = self.screen()
        room = screen.availableGeometry().size() if screen is not None else QSize(1024, 700)
        room -= QSize(2 * _AROUND, 2 * _AROUND)
        self.resize(self._size().boundedTo(room))

    def _size(self) -> QSize:
        if self._wanted is None:
            return self.sizeHint()
        width, height = self._wanted
        return QSize(theme.px(width), theme.px(height))

    def place_in(self, area: QRect) -> None:
        """Place the sheet in the middle of `area`, as large as fits."""
        room = area.size() - QSize(2 * _AROUND, 2 * _AROUND)
        size = self._size().expandedTo(self.minimumSize()).boundedTo(room)
        if self._wanted is None and self.column.hasHeightForWidth():
            height = self.column.heightForWidth(size.width())
            size.setHeight(min(room.height(), max(size.height(), height)))
        # a little above the middle, which looks centred
        spare = area.height() - size.height()
        left = area.left() + (area.width() - size.width()) // 2
        self.setMinimumSize(self.minimumSize().boundedTo(room))
        self.setGeometry(QRect(QPoint(left, area.top() + spare * 2 // 5), size))

    def _leave(self) -> None:
        shade, self._shade = self._shade, None
        assert shade is not None
        window = shade.window()
        shade.hide()
        # it may be shown again; its creator deletes it
        self.setParent(window)
        shade.deleteLater()
        before, self._before = self._before, None
        if _is_alive(before) and before is not None and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)
        QTimer.singleShot(0, window, lambda: settle_hover(window))

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Keep Tab inside the sheet."""
        if self._shade is None:
            return super().focusNextPrevChild(forward)
        focus = self.window().focusWidget()
        at: QWidget | None = focus if focus is not None and self.isAncestorOf(focus) else self
        start = at
        while True:
            assert at is not None
            at = at.nextInFocusChain() if forward else at.previousInFocusChain()
            if at is None or at is start:
                return False
            if self.isAncestorOf(at) and takes_tab(at):
                focus_by_tab(at, forward)
                return True


def sheet_over(window: QWidget) -> Sheet | None:
    """The sheet in front, if any."""
    shades = [one for one in window.findChildren(_Shade) if one.isVisible()]
    return shades[-1].sheet if shades else None


def calm(widget: QWidget) -> None:
    """Let buttons take the focus by Tab only: a click leaves it in the text field."""
    for button in widget.findChildren(QAbstractButton):
        if button.focusPolicy() == Qt.FocusPolicy.StrongFocus:
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)


class _Shade(QWidget):
    """Covers the window, and dims it."""

    def __init__(self, window: QWidget, sheet: Sheet) -> None:
        super().__init__(window)
        self.sheet = sheet
        window.installEventFilter(self)

    def place(self) -> None:
        window = self.parentWidget()
        assert window is not None
        self.setGeometry(window.rect())
        self.sheet.place_in(self.rect())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parent() and self.isVisible():
            self.place()
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(0, 0, 0, _DIM[theme.current().dark]))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        beside = not self.sheet.geometry().contains(event.position().toPoint())
        if beside and not self.sheet.is_written:
            self.sheet.reject()


def _is_alive(widget: QWidget | None) -> bool:
    return widget is not None and shiboken6.isValid(widget)

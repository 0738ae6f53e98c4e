"""A frame around lists, tables and long texts that have the keyboard focus and show it nowhere
else. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from headstart.ui.kit import theme

# a view with this property frames its current row
OWN_FOCUS = "paintsOwnFocus"


class FocusRing(QWidget):
    """Follows the focus in one window; shown for users of the keyboard only."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._around: QAbstractScrollArea | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        program = QApplication.instance()
        assert isinstance(program, QApplication)
        # later: by then it is known whether the focus came by a key
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self._look)
        program.focusChanged.connect(self._on_focus)

    def _on_focus(self, _before: QWidget | None, _now: QWidget | None) -> None:
        self._later.start()

    def _look(self) -> None:
        now = QApplication.focusWidget()
        if self._around is now and now is not None:
            return
        if self._around is not None:
            self._around.removeEventFilter(self)
            self._around.destroyed.disconnect(self._home)
            self._around = None
        if isinstance(now, QAbstractScrollArea) and self._is_for(now):
            self._around = now
            now.installEventFilter(self)
            # it must outlive the area that it lies beside
            now.destroyed.connect(self._home)
            self._place()
        else:
            self._home()

    def _is_for(self, area: QAbstractScrollArea) -> bool:
        if area.window() is not self._window or area.parentWidget() is None:
            return False
        if not self._window.testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange):
            return False
        if isinstance(area, QPlainTextEdit) or (
            isinstance(area, QTextEdit) and not area.isReadOnly()
        ):
            return False
        if not area.property(OWN_FOCUS):
            return True
        return isinstance(area, QAbstractItemView) and not area.currentIndex().isValid()

    def _home(self) -> None:
        self._around = None
        self.hide()
        self.setParent(self._window)

    def _place(self) -> None:
        around = self._around
        if around is None or around.parentWidget() is None:
            return
        if self.parentWidget() is not around.parentWidget():
            self.setParent(around.parentWidget())
        self.setGeometry(around.geometry())
        self.setVisible(around.isVisible())
        self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._around and event.type() in (
            QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide,
            QEvent.Type.ParentChange,
        ):  # fmt: skip
            self._place()
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.current().accent), 2))
        frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(frame, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        painter.end()

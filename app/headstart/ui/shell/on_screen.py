"""The window within its screen, also after the screens have changed. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRect, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QWidget

# around a window that is not shown yet: the title bar and the edges, px
_FRAME = (8, 40, 8, 8)


def placed(frame: QRect, available: QRect) -> QRect:
    """The nearest rectangle to a window's frame that lies in the available one."""
    width, height = min(frame.width(), available.width()), min(frame.height(), available.height())
    left = max(available.left(), min(frame.left(), available.left() + available.width() - width))
    top = max(available.top(), min(frame.top(), available.top() + available.height() - height))
    return QRect(left, top, width, height)


class OnScreen(QObject):
    """Keeps a window as large as its screen at most, and on it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._watched: QScreen | None = None
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        # the system moves windows first
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self.fit)
        application.screenRemoved.connect(lambda _screen: self._soon.start())
        application.primaryScreenChanged.connect(lambda _screen: self._soon.start())
        # makes the system's window, which tells of its screen
        window.winId()
        handle = window.windowHandle()
        if handle is not None:
            handle.screenChanged.connect(lambda _screen: self._watch())
        self._watch()

    def fit(self) -> None:
        """Make the window fit its screen now; a maximized one is the system's."""
        window, screen = self._window, self._window.screen()
        if screen is None or window.isMaximized() or window.isFullScreen():
            return
        inner = window.geometry()
        frame = window.frameGeometry()
        if not window.isVisible() or frame == inner:
            frame = inner.adjusted(-_FRAME[0], -_FRAME[1], _FRAME[2], _FRAME[3])
        target = placed(frame, screen.availableGeometry())
        if target.size() == frame.size() and (target == frame or not window.isVisible()):
            return
        window.resize(
            inner.width() - (frame.width() - target.width()),
            inner.height() - (frame.height() - target.height()),
        )
        if window.isVisible() and not window.windowState() & Qt.WindowState.WindowMinimized:
            window.move(target.topLeft())

    def _watch(self) -> None:
        """Follow the size of the screen on which the window is now."""
        screen = self._window.screen()
        if screen is not None and screen is not self._watched:
            self._watched = screen
            screen.availableGeometryChanged.connect(lambda _area: self._soon.start())
        self._soon.start()

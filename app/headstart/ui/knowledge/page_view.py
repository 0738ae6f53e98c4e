"""A page of a PDF as a picture, with marked words. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from headstart.core.knowledge.values import PagePicture
from headstart.ui.kit import theme

# pixels around a mark, and from the upper edge to the first one
_AROUND, _ABOVE = 1, 120
# milliseconds after which a width is the last one
_SETTLED_MS = 150


class PageView(QScrollArea):
    """Shows a page as wide as itself, from its first mark on. Emits `resized` when it has another
    width for a moment."""

    resized = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.page = _Page(self)
        self.setWidget(self.page)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)

        self.setFrameShape(QFrame.Shape.NoFrame)
        self._again = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._again.timeout.connect(self.resized)

    def pixels(self, width: int) -> int:
        """Width for a picture in a view of this width, in pixels of the screen."""
        bar = self.verticalScrollBar().sizeHint().width()
        return int((width - bar) * self.devicePixelRatioF())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # drawn for it once the window has its size
        self._again.start()

    def show_picture(self, picture: PagePicture, name: str) -> None:
        self.page.show_picture(picture)
        self.page.setAccessibleName(name)
        first = min((top for _, top, _, _ in picture.rects), default=0)
        bar = self.verticalScrollBar()
        bar.setValue(int(first / self.devicePixelRatioF()) - _ABOVE)


class _Page(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._image, self._pixels = QImage(), b""
        self.marks: tuple[QRect, ...] = ()

    def show_picture(self, picture: PagePicture) -> None:
        ratio = self.devicePixelRatioF()
        row = 4 * picture.width
        form = QImage.Format.Format_RGB32
        # the image shares the bytes, which stay with it
        image = QImage(picture.pixels, picture.width, picture.height, row, form)
        image.setDevicePixelRatio(ratio)
        self._image, self._pixels = image, picture.pixels
        self.marks = tuple(QRect(*one) for one in picture.rects)
        self.resize(QSize(int(picture.width / ratio), int(picture.height / ratio)))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.drawImage(0, 0, self._image)
        # letters stay dark under the mark, as under a marker
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Multiply)
        ratio = self.devicePixelRatioF()
        colour = QColor(theme.LIGHT.found)
        for mark in self.marks:
            box = QRectF(mark.adjusted(-_AROUND, -_AROUND, _AROUND, _AROUND))
            painter.fillRect(
                QRectF(box.x() / ratio, box.y() / ratio, box.width() / ratio, box.height() / ratio),
                colour,
            )
        # a white page on a white sheet
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        painter.setPen(QColor(theme.current().edge))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

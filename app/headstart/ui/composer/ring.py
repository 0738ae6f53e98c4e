"""Context used: a ring with the number of tokens beside it. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from headstart.ui.kit import theme
from headstart.ui.kit.mirrored import visual
from headstart.ui.wording import say

_RING, _GAP = 14, 6


class ContextRing(QWidget):
    """Hidden while the use of the context is unknown."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        # tokens
        self.used = self._size = 0
        self._over = False
        self.text = ""
        self.hide()

    def show_use(self, used: int, size: int, limit: int = 0) -> None:
        """Show used tokens; more than `limit` leave no room for a reply (0: limit unknown)."""
        self.used, self._size = used, size
        self._over = bool(limit) and used > limit
        code = "composer.too-many" if self._over else "composer.used-of-size"
        self.text = say(code, used=used, size=size) if size else ""
        code = "composer.shorten" if self._over else "composer.used-of-context"
        self.setToolTip(say(code, used=used, size=size, limit=limit))
        self.setAccessibleName(
            say("composer.context-used-of-size-tokens", used=used, size=size)
            if size
            else say("composer.context")
        )
        self.setVisible(bool(size))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(theme.text_font(theme.SMALL_SIZE))
        width = _RING + 4 + _GAP + metrics.horizontalAdvance(self.text)
        return QSize(width, max(_RING + 4, metrics.height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(_RING + 4, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        place = QRect(2, (self.height() - _RING) // 2, _RING, _RING)
        ring = QRectF(visual(self, place))
        painter.setPen(QPen(QColor(colours.edge), 2.5))
        painter.drawEllipse(ring)
        share = min(1.0, self.used / max(1, self._size))
        colour = QColor(colours.warning if self._over or share > 0.9 else colours.accent)
        painter.setPen(QPen(colour, 2.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        painter.drawArc(ring, 90 * 16, -round(360 * 16 * share))
        painter.setFont(theme.text_font(theme.SMALL_SIZE))
        painter.setPen(QColor(colours.warning if self._over else colours.quiet))
        words = visual(self, self.rect().adjusted(_RING + 4 + _GAP, 0, 0, 0))
        # a part of a number would be another number
        if painter.fontMetrics().horizontalAdvance(self.text) <= words.width():
            aligned = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading
            painter.drawText(words, int(aligned), self.text)
        painter.end()

"""A drawn curve: tokens per second by draft depth, as measured on this computer."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from headstart.core.events import SpeedCurve
from headstart.core.text.locale import locale
from headstart.ui.kit import theme
from headstart.ui.kit.joining import commas, titled
from headstart.ui.wording import say

HEIGHT, EMPTY_HEIGHT = 132, 40
LEFT, RIGHT, TOP, BOTTOM = 34, 10, 22, 20


def _depth(depth: int) -> str:
    return str(depth) if depth else say("inspector.off")


class SpeedCurveView(QWidget):
    """Shows a curve, or a line of text while there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.shown: SpeedCurve | None = None
        self.set_curve(None)

    def sizeHint(self) -> QSize:
        return QSize(200, HEIGHT)

    def set_curve(self, curve: SpeedCurve | None) -> None:
        self.shown = curve
        self.setFixedHeight(HEIGHT if curve is not None else EMPTY_HEIGHT)
        if curve is None:
            self.setAccessibleName(say("inspector.speed-by-draft-depth-not"))
        else:
            points = commas(
                titled(_depth(at), locale().number(speed)) for at, speed in curve.points[::3]
            )
            best = _depth(curve.best)
            self.setAccessibleName(say("inspector.speeds-by-depth", points=points, best=best))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(theme.text_font(11))
        colours, curve = theme.current(), self.shown
        if curve is None or len(curve.points) < 2:
            painter.setPen(theme.colour(colours.quiet))
            painter.drawText(
                self.rect(),
                int(Qt.AlignmentFlag.AlignCenter),
                say("inspector.not-measured-on-computer-yet"),
            )
            painter.end()
            return
        area = QRectF(LEFT, TOP, self.width() - LEFT - RIGHT, HEIGHT - TOP - BOTTOM)
        low, high, step = _scale([speed for _, speed in curve.points])
        depths = [depth for depth, _ in curve.points]

        def place(depth: float, speed: float) -> QPointF:
            across = (depth - depths[0]) / max(1, depths[-1] - depths[0])
            up = (speed - low) / (high - low)
            return QPointF(area.left() + across * area.width(), area.bottom() - up * area.height())

        self._draw_grid(painter, area, low, high, step)
        plain = curve.points[0][1]
        pen = QPen(theme.colour(colours.quiet), 1.2, Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.drawLine(place(depths[0], plain), place(depths[-1], plain))
        painter.setPen(QPen(theme.colour(colours.accent), 2))
        painter.drawPolyline(QPolygonF([place(depth, speed) for depth, speed in curve.points]))
        self._draw_words(painter, area, curve, place(curve.best, dict(curve.points)[curve.best]))
        painter.end()

    @staticmethod
    def _draw_grid(painter: QPainter, area: QRectF, low: float, high: float, step: float) -> None:
        colours = theme.current()
        value = low
        while value <= high + step / 100:
            y = area.bottom() - (value - low) / (high - low) * area.height()
            painter.setPen(QPen(theme.colour(colours.line), 1))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(theme.colour(colours.quiet))
            box = QRectF(0, y - 8, LEFT - 8, 16)
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(
                box, int(right), locale().number(value, 0 if value == int(value) else 1)
            )
            value += step

    def _draw_words(
        self, painter: QPainter, area: QRectF, curve: SpeedCurve, best: QPointF
    ) -> None:
        colours = theme.current()
        last = curve.points[-1][0]
        centre = int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter)
        painter.setPen(theme.colour(colours.quiet))
        for depth in dict.fromkeys((0, 4, 8, 12, last)):
            if depth > last:
                continue
            x = area.left() + depth / max(1, last) * area.width()
            box = QRectF(x - 20, area.bottom() + 3, 40, 16)
            painter.drawText(box, centre, _depth(depth))
        painter.setPen(theme.colour(colours.ink))
        words = (
            say("inspector.best-best", best=curve.best) if curve.best else say("inspector.best-off")
        )
        x = min(max(best.x(), area.left() + 26), area.right() - 26)
        painter.drawText(QRectF(x - 40, best.y() - 22, 80, 16), centre, words)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(colours.accent))
        painter.drawEllipse(best, 4, 4)


def _scale(values: list[float]) -> tuple[float, float, float]:
    """Round bounds and a step with two to four lines between them."""
    high = max(values)
    for step in (1.0, 2.0, 5.0, 10.0, 20.0, 25.0, 50.0, 100.0, 200.0, 500.0, 1000.0):
        if high / step <= 4:
            break
    top = step * (int(high / step) + 1)
    return 0.0, top, step

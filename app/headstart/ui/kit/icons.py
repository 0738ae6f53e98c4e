"""Icons from resources/icons (Lucide). Each takes its colour from the theme when painted, so that
a change of theme needs no extra work."""

from __future__ import annotations

import functools
from typing import Literal

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QStyleOption

from headstart.core.resources import resources
from headstart.ui.kit import theme

Ink = Literal["quiet", "accent", "accent_text", "on_accent", "warning"]
_SIZE = 16
# in units of an icon that is 24 wide: finer than Lucide's own
_STROKE = 1.75


@functools.cache
def icon(name: str, ink: Ink = "quiet", checked: Ink | None = None) -> QIcon:
    """The icon in one of the theme's colours, sharp at every size and scale; `checked`: the colour
    on checked buttons."""
    return QIcon(_Engine(name, ink, checked or ink))


def size() -> int:
    """The width and the height of an icon in pixels, with the current size of text."""
    return theme.icon_px(_SIZE)


class _Engine(QIconEngine):
    def __init__(self, name: str, ink: Ink, checked: Ink) -> None:
        super().__init__()
        self._name = name
        self._inks = {QIcon.State.Off: ink, QIcon.State.On: checked}

    def scaledPixmap(
        self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float
    ) -> QPixmap:
        colour = getattr(theme.current(), self._inks[state])
        whole = size * scale
        drawn = _drawn(self._name, colour, whole.width(), whole.height(), scale)
        if mode != QIcon.Mode.Disabled:
            return drawn
        return QApplication.style().generatedIconPixmap(mode, drawn, QStyleOption())

    def actualSize(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QSize:
        side = theme.icon_px(_SIZE)
        # lists and menus of some styles would draw icons larger than everything around them
        return size.boundedTo(QSize(side, side))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        scale = painter.device().devicePixelRatio()
        painter.drawPixmap(rect, self.scaledPixmap(rect.size(), mode, state, scale))

    def clone(self) -> QIconEngine:
        return _Engine(self._name, *self._inks.values())


@functools.lru_cache(1024)
def _drawn(name: str, colour: str, width: int, height: int, scale: float) -> QPixmap:
    """Draw an icon; width and height in device pixels."""
    if width <= 0 or height <= 0:
        # a button that has no room while its surroundings are laid out
        return QPixmap()
    svg = (resources() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    drawn = svg.replace("currentColor", colour).replace(
        'stroke-width="2"', f'stroke-width="{_STROKE}"'
    )
    pixmap = QPixmap(width, height)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    side = min(width, height)
    place = QRectF((width - side) / 2, (height - side) / 2, side, side)
    QSvgRenderer(QByteArray(drawn.encode())).render(painter, place)
    painter.end()
    pixmap.setDevicePixelRatio(scale)
    return pixmap

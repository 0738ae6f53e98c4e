"""Icons from resources/icons (Lucide), drawn in the theme's colours; cached by name and colour."""

from __future__ import annotations

import functools

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from headstart.core.resources import resources
from headstart.ui.kit import theme

SIZE = 16
# of the 24 units that an icon is wide: finer than Lucide's own
_STROKE = 1.75


def icon(name: str, colour: str | None = None) -> QIcon:
    """An icon in `colour` (the quiet ink by default), sharp at 100, 150 and 200 %."""
    return _icon(name, colour or theme.current().quiet)


@functools.cache
def _icon(name: str, colour: str) -> QIcon:
    svg = (resources() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    drawn = svg.replace("currentColor", colour).replace(
        'stroke-width="2"', f'stroke-width="{_STROKE}"'
    )
    renderer = QSvgRenderer(QByteArray(drawn.encode()))
    result = QIcon()
    for ratio in (1, 1.5, 2):
        pixmap = QPixmap(QSize(round(SIZE * ratio), round(SIZE * ratio)))
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(pixmap.rect()))
        painter.end()
        pixmap.setDevicePixelRatio(ratio)
        result.addPixmap(pixmap)
    return result

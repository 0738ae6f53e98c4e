"""The icon in all sizes, and as .ico or .icns where programs have that; drawn by Qt.

python icons.py icon.svg FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
_ICO, _ICNS = 256, 512


def main(source: str, target: str) -> int:
    application = QGuiApplication(sys.argv[:1])
    assert application is not None
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    renderer = QSvgRenderer(source)
    for size in SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        renderer.render(painter)
        painter.end()
        if not image.save(str(folder / f"{size}.png")):
            return 1
        # Qt writes these where it has the plugins, which its wheels do
        if size == _ICO:
            image.save(str(folder / "headstart.ico"))
        if size == _ICNS:
            image.save(str(folder / "headstart.icns"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))

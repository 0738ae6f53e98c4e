"""Contrast as it is on the screen: words and icons against what they stand on (WCAG 2.2, 1.4.3 and
1.4.11)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from tests.support.heard import in_front

# words; large words and icons
TEXT, LARGE = 4.5, 3.0
# px from which words are large, and from which bold ones are
_LARGE, _LARGE_BOLD = 24, 18.66


def contrast_faults(window: QWidget) -> Iterator[str]:
    """Words and icons of enabled controls with too little contrast. The picture is taken at a scale
    of two: at one, thin strokes are blended with their ground."""
    picture = window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    ratio = picture.devicePixelRatio()
    size = picture.height(), picture.width(), 4
    pixels = np.frombuffer(picture.constBits(), np.uint8).reshape(size)[:, :, 2::-1]
    for widget in in_front(window).findChildren(QWidget):
        if not (widget.isVisible() and widget.isEnabled()) or widget.visibleRegion().isEmpty():
            continue
        words = _words(widget)
        if words is None:
            continue
        seen = widget.visibleRegion().boundingRect()
        place = QRect(widget.mapTo(window, seen.topLeft()), seen.size()).adjusted(2, 2, -2, -2)
        area = pixels[
            round(place.top() * ratio) : round((place.bottom() + 1) * ratio),
            round(place.left() * ratio) : round((place.right() + 1) * ratio),
        ]
        if area.shape[0] < 12 or area.shape[1] < 12:
            continue
        font = widget.font()
        pixel = font.pixelSize() if font.pixelSize() > 0 else font.pointSizeF() * 4 / 3
        large = not words or pixel >= (_LARGE_BOLD if font.bold() else _LARGE)
        least = LARGE if large else TEXT
        found = _contrast(area)
        if found < least:
            name = widget.accessibleName() or words
            yield f"contrast {found:.2f}: {type(widget).__name__} {name[:50]!r}"


def _words(widget: QWidget) -> str | None:
    """The words that are shown, "" for an icon, None for neither."""
    if isinstance(widget, QLabel):
        if not widget.pixmap().isNull():
            return ""
        return widget.text().strip() or None
    if isinstance(widget, QAbstractButton):
        return widget.text().strip() or (None if widget.icon().isNull() else "")
    if isinstance(widget, QComboBox):
        return widget.currentText().strip() or None
    if isinstance(widget.parentWidget(), QAbstractSpinBox | QComboBox):
        return None
    if isinstance(widget, QLineEdit):
        return widget.text() or widget.placeholderText() or None
    if isinstance(widget, QPlainTextEdit):
        return widget.toPlainText() or widget.placeholderText() or None
    return None


def _contrast(area: npt.NDArray[np.uint8]) -> float:
    """The contrast of the strongest colour in a picture with its most frequent one."""
    colours, counts = np.unique(area.reshape(-1, 3), axis=0, return_counts=True)
    light = _luminance(colours)
    ground = light[int(np.argmax(counts))]
    high, low = np.maximum(light, ground), np.minimum(light, ground)
    return float(((high + 0.05) / (low + 0.05)).max())


def _luminance(colours: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    share = colours.astype(np.float64) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    found: npt.NDArray[np.float64] = linear @ np.array([0.2126, 0.7152, 0.0722])
    return found

"""Emoji are in colour where the system has such a font: in the window and in a PDF."""

from __future__ import annotations

import pypdfium2
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontDatabase, QImage, QPainter, QTextDocument
from PySide6.QtWidgets import QApplication

from headstart.ui.kit import theme
from headstart.ui.transcript.markdown import parse
from headstart.ui.transcript.prose import fill
from headstart.ui.transfer.documents import pdf_bytes

FONTS = ("Noto Color Emoji", "Apple Color Emoji", "Segoe UI Emoji")
TEXT = "A face 😀, a hand 👍🏽 and a flag 🇩🇪"


@pytest.fixture(autouse=True)
def coloured(qapp: QApplication) -> None:
    theme.load_fonts()
    if not set(FONTS).intersection(QFontDatabase.families()):
        pytest.skip("no font with coloured emoji")


def colours(image: QImage) -> int:
    """The pixels that are neither grey nor nearly so."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    count = 0
    for y in range(image.height()):
        for x in range(image.width()):
            one = QColor(image.pixel(x, y))
            parts = (one.red(), one.green(), one.blue())
            count += max(parts) - min(parts) > 60
    return count


def test_in_a_message() -> None:
    document = QTextDocument()
    fill(document, parse(TEXT)[0])
    document.setTextWidth(500)
    image = QImage(500, 40, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    document.drawContents(painter)
    painter.end()
    assert colours(image) > 100


def test_in_a_pdf() -> None:
    (page,) = pypdfium2.PdfDocument(pdf_bytes("Emoji", f"<p>{TEXT}</p>"))
    bitmap = page.render(scale=1)
    form = QImage.Format.Format_BGR888 if bitmap.n_channels == 3 else QImage.Format.Format_RGB32
    image = QImage(bytes(bitmap.buffer), bitmap.width, bitmap.height, bitmap.stride, form)
    assert colours(image) > 30

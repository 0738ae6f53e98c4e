"""Images of messages: decoded off the main thread, and no larger than displayed.

Accepts PNG, JPEG, GIF, WebP, BMP, TIFF and ICO; `decode` may be called on any thread.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QImage, QImageReader, QPainter

from headstart.core.chats.attachments import LARGEST
from headstart.core.chats.bounds import MOST
from headstart.core.files import read_regular
from headstart.core.rgb import LONGEST_SIDE, Rgb

# megabytes that one decoded image may take
_MOST_MB = 256
# pixels of one: scaling takes four bytes for each, whatever the file has. A JPEG is scaled while it
# is read, but a progressive one is kept whole as coefficients; telephones take 200 megapixels.
_MOST_PIXELS, _MOST_OF_JPEG = (_MOST_MB << 20) // 4, 256_000_000
# accepted formats; untrusted SVG and PDF, which Qt reads too, can keep a processor busy for ever
_FORMATS = {b"png", b"jpeg", b"jpg", b"gif", b"webp", b"bmp", b"tif", b"tiff", b"ico"}
_JPEG = (b"jpeg", b"jpg")
# formats that Qt reads and most programs for models do not
_CONVERTED = (".bmp", ".tif", ".tiff", ".ico", ".webp")


def decode(data: bytes, within: QSize | None = None) -> QImage | None:
    """The image, scaled down to fit into `within` pixels and rotated as it was taken; None if it
    cannot be read."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    QImageReader.setAllocationLimit(_MOST_MB)
    form = bytes(reader.format().data())
    if form not in _FORMATS:
        return None
    reader.setAutoTransform(True)
    size = reader.size()
    if size.width() * size.height() > (_MOST_OF_JPEG if form in _JPEG else _MOST_PIXELS):
        return None
    if within is not None and size.isValid() and not size.isEmpty():
        turned = reader.transformation().value & 4
        most = within.transposed() if turned else within
        if size.width() > most.width() or size.height() > most.height():
            scaled = size.scaled(most, Qt.AspectRatioMode.KeepAspectRatio)
            reader.setScaledSize(scaled.expandedTo(QSize(1, 1)))
    image = reader.read()
    return None if image.isNull() else image


def pixels(data: bytes) -> Rgb | None:
    """Pixels of an image file for a model."""
    image = decode(data, QSize(LONGEST_SIDE, LONGEST_SIDE))
    if image is None:
        return None
    # transparent parts become white, as in the window
    page = QImage(image.size(), QImage.Format.Format_RGB888)
    page.fill(Qt.GlobalColor.white)
    painter = QPainter(page)
    painter.drawImage(0, 0, image)
    painter.end()
    width, height, row = page.width(), page.height(), page.bytesPerLine()
    data = bytes(page.constBits())
    if row != 3 * width:
        # rows are padded to a multiple of four bytes
        data = b"".join(data[at : at + 3 * width] for at in range(0, height * row, row))
    return Rgb(width, height, data)


def converted(path: Path) -> bytes | None:
    """An image in a format that models do not read, as PNG; None for every other file."""
    if path.suffix.lower() not in _CONVERTED:
        return None
    try:
        image = decode(read_regular(path, LARGEST))
    except (OSError, ValueError):
        return None
    return None if image is None else as_png(image)


def as_png(image: QImage) -> bytes:
    """Encode as PNG an image without a file, or in a format that others do not read."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(data.data())


def fitted(width: int, height: int, within: QSize) -> QSize:
    """Displayed size of an image: never larger than its own; `within` if that is unknown (0)."""
    if width <= 0 or height <= 0:
        return QSize(within)
    # sizes of files and rows may exceed Qt's integers
    size = QSize(min(width, MOST), min(height, MOST))
    if size.width() > within.width() or size.height() > within.height():
        size.scale(within, Qt.AspectRatioMode.KeepAspectRatio)
    return size.expandedTo(QSize(1, 1))

"""Documents as people attach them, made here: PDF through Qt, Word as its zip of XML."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF
from PySide6.QtGui import QFont, QImage, QPageLayout, QPainter, QPdfWriter

_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
    'relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override '
    'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    'relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/'
    '2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def pdf(pages: Sequence[str], picture: bool = False) -> bytes:
    """A page for each text, set in lines; with `picture` a page without text comes last."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(72)
    writer.setPageMargins(QMarginsF(15, 15, 15, 15), QPageLayout.Unit.Millimeter)
    painter = QPainter(writer)
    font = QFont("Inter")
    font.setPixelSize(9)
    painter.setFont(font)
    for number, text in enumerate(pages):
        if number:
            writer.newPage()
        for line, words in enumerate(text.split("\n")):
            painter.drawText(0, 12 * (line + 1), words)
    if picture:
        writer.newPage()
        image = QImage(40, 40, QImage.Format.Format_RGB32)
        image.fill(0x336699)
        painter.drawImage(0, 0, image)
    painter.end()
    return bytes(buffer.data().data())


def docx(paragraphs: Sequence[str], heading: str = "", rows: Sequence[Sequence[str]] = ()) -> bytes:
    """A Word file with a heading, paragraphs and a table."""

    def paragraph(text: str, style: str = "") -> str:
        styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f'<w:p>{styled}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'

    body = [paragraph(heading, "Heading1")] if heading else []
    body += [paragraph(text) for text in paragraphs]
    if rows:
        cells = "".join(
            f"<w:tr>{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in row)}</w:tr>"
            for row in rows
        )
        body.append(f"<w:tbl>{cells}</w:tbl>")
    document = (
        f'<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="{_WORD}"><w:body>'
        f"{''.join(body)}</w:body></w:document>"
    )
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        archive.writestr("word/document.xml", document)
    return data.getvalue()


def png(width: int = 40, height: int = 30, colour: int = 0x336699) -> bytes:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(colour)
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())

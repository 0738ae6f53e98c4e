"""Formulas in text documents: drawn from paths at any size, each on the baseline of its line.

A formula is one character of the document (an object), which holds its LaTeX. Main thread, or the
thread that creates a document for a file.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from PySide6.QtCore import QByteArray, QPointF, QRect, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QImage,
    QPainter,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtSvg import QSvgRenderer

from headstart.core.markdown.formula import Formula, formula
from headstart.core.markdown.parser import CLOSING, named_formula

OBJECT = int(QTextFormat.ObjectTypes.UserObject) + 1
# properties of the character's format: the formula's left delimiter, and its LaTeX
_LEFT = int(QTextFormat.Property.UserProperty) + 1
_LATEX = _LEFT + 1
# the letters of the formulas' font are a little smaller than Inter's at the same size
SCALE = 1.08
# room between the lines, in em
_SLACK = 0.2
# image pixels per pixel of its displayed size
_SHARP = 4.0
# pixels of one image: 256 MB
_MOST_PIXELS = 64 << 20
# cached renderers of formulas, for both themes
_KEPT = 400


def is_display(left: str) -> bool:
    return left in ("", "$$", "\\[")


def source(form: QTextCharFormat) -> str:
    """The source text of the formula that a character stands for; "" for none."""
    if form.objectType() != OBJECT:
        return ""
    left = str(form.property(_LEFT))
    return f"{left}{form.property(_LATEX)}{CLOSING[left]}"


@functools.lru_cache(_KEPT)
def _renderer(svg: str, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(svg.replace("currentColor", colour).encode()))


def paint(painter: QPainter, drawn: Formula, area: QRectF, colour: str) -> None:
    """Paint a formula into `area`, which has its proportions."""
    _renderer(drawn.svg, colour).render(painter, area)


class FormulaObjects(QPyTextObject):
    """Draws the formulas of one document; `ink` returns the colour for text without one.
    `copied`: paint the LaTeX too, invisibly, so that readers can copy it."""

    def __init__(self, document: QTextDocument, ink: Callable[[], str], copied: bool) -> None:
        super().__init__(document)
        self._ink = ink
        self._copied = copied

    def intrinsicSize(self, document: QTextDocument, position: int, form: QTextFormat) -> QSizeF:
        measures = _measures(document, form)
        return QSizeF() if measures is None else QSizeF(measures[1], measures[2])

    def drawObject(
        self,
        painter: QPainter,
        rect: QRectF | QRect,
        document: QTextDocument,
        position: int,
        form: QTextFormat,
    ) -> None:
        area = QRectF(rect)
        measures = _measures(document, form)
        if measures is None:
            return
        drawn, width, _height, above, size = measures
        char = form.toCharFormat()
        has_colour = char.hasProperty(QTextFormat.Property.ForegroundBrush)
        colour = char.foreground().color().name() if has_colour else self._ink()
        height = (drawn.ascent + drawn.depth) * size
        if self._copied:
            # in an exported file the source lies under the drawing, invisible
            painter.setPen(QColor(0, 0, 0, 0))
            painter.setFont(char.font())
            painter.drawText(QPointF(area.x(), area.y() + above), source(char))
        top = area.y() + above - drawn.ascent * size
        paint(painter, drawn, QRectF(area.x(), top, width, height), colour)


def place_formulas(document: QTextDocument, ink: Callable[[], str], copied: bool = False) -> None:
    """Turn images whose names are formulas into formulas; those that cannot be drawn become their
    source text."""
    places = _named(document)
    if not places:
        return
    document.documentLayout().registerHandler(OBJECT, FormulaObjects(document, ink, copied))
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    for position, left, latex in reversed(places):
        _place(cursor, position, left, latex)
    cursor.endEditBlock()


def picture(latex: str, display: bool, em: float, ink: str, sharp: float) -> QImage | None:
    """A formula as an image, for documents that support only images: `em` in px, with `sharp`
    image pixels per px as the device pixel ratio."""
    drawn = formula(latex, display)
    if drawn is None:
        return None
    width = max(1, round(drawn.width * em * sharp))
    height = max(1, round((drawn.ascent + drawn.depth) * em * sharp))
    if width * height > _MOST_PIXELS:
        return None
    image = QImage(width, height, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    paint(painter, drawn, QRectF(image.rect()), ink)
    painter.end()
    image.setDevicePixelRatio(sharp)
    return image


def place_pictures(document: QTextDocument, em: float, ink: str) -> None:
    """Turn images whose names are formulas into images; those that cannot be drawn into text."""
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    for position, left, latex in reversed(_named(document)):
        image = picture(latex, is_display(left), em, ink, _SHARP)
        cursor.setPosition(position)
        cursor.setPosition(position + 1, QTextCursor.MoveMode.KeepAnchor)
        if image is None:
            cursor.insertText(f"{left}{latex}{CLOSING[left]}")
            continue
        name = cursor.charFormat().toImageFormat().name()
        document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), image)
        form = cursor.charFormat().toImageFormat()
        form.setWidth(image.width() / _SHARP)
        form.setHeight(image.height() / _SHARP)
        form.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
        cursor.setCharFormat(form)
    cursor.endEditBlock()


def _named(document: QTextDocument) -> list[tuple[int, str, str]]:
    """Formulas with their positions, delimiters and LaTeX."""
    places: list[tuple[int, str, str]] = []
    block = document.begin()
    while block.isValid():
        found = block.begin()
        while not found.atEnd():
            fragment = found.fragment()
            form = fragment.charFormat()
            if form.isImageFormat():
                wanted = named_formula(form.toImageFormat().name())
                if wanted is not None:
                    # adjacent equal formulas form one fragment
                    begin = fragment.position()
                    places += [(begin + n, *wanted) for n in range(fragment.length())]
            found += 1
        block = block.next()
    return places


def _place(cursor: QTextCursor, position: int, left: str, latex: str) -> None:
    cursor.setPosition(position)
    # the format of the text around it, which gives its font and colour
    before = cursor.blockCharFormat() if cursor.atBlockStart() else cursor.charFormat()
    cursor.setPosition(position + 1, QTextCursor.MoveMode.KeepAnchor)
    form = QTextCharFormat()
    form.setFont(
        before.font() if before.hasProperty(_FAMILIES) else cursor.document().defaultFont()
    )
    if before.hasProperty(QTextFormat.Property.ForegroundBrush):
        form.setForeground(before.foreground())
    if formula(latex, is_display(left)) is None:
        cursor.insertText(f"{left}{latex}{CLOSING[left]}", form)
        return
    form.setObjectType(OBJECT)
    form.setProperty(_LEFT, left)
    form.setProperty(_LATEX, latex)
    if _is_deep(cursor.document(), form):
        form.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
    cursor.setCharFormat(form)


_FAMILIES = QTextFormat.Property.FontFamilies


def _measures(
    document: QTextDocument, form: QTextFormat
) -> tuple[Formula, float, float, float, float] | None:
    """The formula, its width and height in the line, the distance from their top to its baseline,
    and the pixels of an em.

    Objects in Qt have no depth: they stand on the baseline, or in the middle of their line. A
    formula whose depth fits into the room below the baseline stands on it, and is painted beyond
    it. A deeper one gets the height that its line needs with the middle where Qt puts it: half of
    half an x-height above the baseline.
    """
    left, latex = str(form.property(_LEFT)), str(form.property(_LATEX))
    drawn = formula(latex, is_display(left))
    if drawn is None:
        return None
    size, metrics = _font(document, form)
    above, below = drawn.ascent * size, drawn.depth * size
    if not _is_deep(document, form):
        # alone in its line, it stands where text would
        above = max(above, metrics.ascent())
        return drawn, drawn.width * size, above, above, size
    # Qt rounds it down to whole pixels
    half = metrics.xHeight() // 1 / 2
    up, down = max(above, metrics.ascent()), max(below, metrics.descent())
    height = max(2 * up - half, 2 * down + half)
    return drawn, drawn.width * size, height, (height + half) / 2, size


def _is_deep(document: QTextDocument, form: QTextFormat) -> bool:
    """True if the formula would reach into the line below."""
    drawn = formula(str(form.property(_LATEX)), is_display(str(form.property(_LEFT))))
    size, metrics = _font(document, form)
    return drawn is not None and drawn.depth * size > metrics.descent() + _SLACK * size


def _font(document: QTextDocument, form: QTextFormat) -> tuple[float, QFontMetricsF]:
    """The pixels of a formula's em, and the font metrics of the text around it."""
    font = form.toCharFormat().font()
    device = document.documentLayout().paintDevice()
    if font.pixelSize() > 0:
        return font.pixelSize() * SCALE, QFontMetricsF(font)
    dpi = device.logicalDpiY() if device is not None else 96
    metrics = QFontMetricsF(font, device) if device is not None else QFontMetricsF(font)
    return font.pointSizeF() * dpi / 72 * SCALE, metrics

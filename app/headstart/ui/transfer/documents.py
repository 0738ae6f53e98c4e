"""Documents for print and for other programs, from a chat's body as HTML.

Called on any thread but the main one; a document is created on a QThread, because its layout
starts timers, which need a thread of Qt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QBuffer, QByteArray, QMarginsF, QRectF, QSizeF, Qt, QThread, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QPageLayout,
    QPageSize,
    QPainter,
    QPalette,
    QPdfWriter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextDocumentWriter,
    QTextFormat,
    QTextImageFormat,
)

from headstart.ui.kit.formulas import place_formulas, place_pictures
from headstart.ui.kit.pictures import decode

_TEXT, _CODE = "Inter", "JetBrains Mono"
_POINTS = 10
# margin of an A4 page and height of its foot, for the number, in millimetres
_MARGIN, _FOOT = 20.0, 12.0
_DPI = 300
# dots per inch of an OpenDocument text
_SCREEN_DPI = 96
# most passes that divide paragraphs where pages end
_DIVISIONS = 8
_INK, _QUIET = "#1f2321", "#5f6662"
_STYLE = f"""
body {{ color: {_INK}; }}
.title {{ font-size: 17pt; margin-bottom: 0; }}
table {{ border-collapse: collapse; border-style: solid; border-color: #c8ccc8; }}
.meta, .stats {{ color: {_QUIET}; font-size: 8pt; }}
.who {{ color: #0f766e; font-size: 8pt; font-weight: 600; margin-top: 14px; margin-bottom: 0; }}
.fold {{ color: {_QUIET}; margin-left: 16px; }}
pre, code {{ background-color: #f4f4f1; font-family: '{_CODE}'; font-size: 8.5pt; }}
pre {{ white-space: pre-wrap; }}
.math {{ font-family: '{_CODE}'; font-size: 8.5pt; }}
blockquote {{ color: {_QUIET}; }}
th, td {{ padding: 3px 6px; }}
a {{ color: #0f766e; }}
.k, .kc, .kd, .kn, .kr, .kt, .ow {{ color: #7c3aed; }}
.s, .s1, .s2, .sa, .sb, .sc, .sd, .se, .sh, .si, .sr, .ss {{ color: #0f6e4f; }}
.m, .mb, .mf, .mh, .mi, .mo, .il {{ color: #a1440b; }}
.c, .c1, .ch, .cm, .cp, .cpf, .cs {{ color: #626a66; }}
.nf, .nc, .nd, .nn, .nt, .fm, .nb {{ color: #1d5fbf; }}
"""


def pdf_bytes(title: str, body: str) -> bytes:
    """A PDF of numbered A4 pages; text can be selected, links work."""
    return _on_qt_thread(lambda: _pdf(title, body))


def odt_bytes(title: str, body: str) -> bytes:
    """An OpenDocument text, which LibreOffice and Word open; raises OSError."""
    return _on_qt_thread(lambda: _odt(title, body))


class _Thread(QThread):
    def __init__(self, work: Callable[[], bytes]) -> None:
        super().__init__()
        self._work = work
        self.data = b""
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.data = self._work()
        except Exception as error:
            self.error = error


def _on_qt_thread(work: Callable[[], bytes]) -> bytes:
    thread = _Thread(work)
    thread.start()
    thread.wait()
    if thread.error is not None:
        raise thread.error
    return thread.data


def _pdf(title: str, body: str) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setCreator("Headstart")
    writer.setResolution(_DPI)
    margins = QMarginsF(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
    writer.setPageLayout(
        QPageLayout(
            QPageSize(QPageSize.PageSizeId.A4),
            QPageLayout.Orientation.Portrait,
            margins,
            QPageLayout.Unit.Millimeter,
        )
    )
    document = _document(title, body)
    document.documentLayout().setPaintDevice(writer)
    room = QRectF(writer.pageLayout().paintRectPixels(_DPI))
    page = QSizeF(room.width(), room.height() - _FOOT * _DPI / 25.4)
    document.setPageSize(page)
    place_formulas(document, lambda: _INK, copied=True)
    _without_ligatures(document)
    for _ in range(_DIVISIONS):
        if not _divide_at_pages(document, page.height()):
            break
    painter = QPainter(writer)
    count = document.pageCount()
    for number in range(count):
        if number:
            writer.newPage()
        painter.save()
        painter.translate(0, -number * page.height())
        _paint(document, painter, QRectF(0, number * page.height(), page.width(), page.height()))
        painter.restore()
        painter.setPen(QColor(_QUIET))
        painter.setFont(QFont(_TEXT, 8))
        foot = QRectF(0, page.height(), page.width(), room.height() - page.height())
        place = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
        painter.drawText(foot, place, f"{number + 1} / {count}")
    painter.end()
    buffer.close()
    return bytes(data.data())


def _odt(title: str, body: str) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    writer = QTextDocumentWriter(buffer, QByteArray(b"ODF"))
    document = _document(title, body)
    place_pictures(document, _POINTS * _SCREEN_DPI / 72, _INK)
    _without_ligatures(document)
    if not writer.write(document):
        raise OSError("the document could not be written")
    buffer.close()
    return bytes(data.data())


def _document(title: str, body: str) -> QTextDocument:
    document = QTextDocument()
    document.setUndoRedoEnabled(False)
    document.setDefaultFont(QFont(_TEXT, _POINTS))
    document.setDefaultStyleSheet(_STYLE)
    document.setDocumentMargin(0)
    document.setMetaInformation(QTextDocument.MetaInformation.DocumentTitle, title)
    document.setHtml(f"<body>{body}</body>")
    _name_damaged_images(document)
    return document


def _name_damaged_images(document: QTextDocument) -> None:
    """Replace unreadable images with text: with one of them Qt paints nothing of a page."""
    found: list[tuple[int, str]] = []
    for position, form in _images(document):
        name = form.name()
        if not name.startswith("data:"):
            continue
        image = decode(bytes(QByteArray.fromBase64(name.partition(",")[2].encode()).data()))
        if image is None:
            words = str(form.property(QTextFormat.Property.ImageAltText.value) or "image")
            found.append((position, f"[{words}: the image is damaged]"))
        else:
            kind = QTextDocument.ResourceType.ImageResource.value
            document.addResource(kind, QUrl(name), image)
    cursor = QTextCursor(document)
    for position, words in reversed(found):
        cursor.setPosition(position)
        cursor.setPosition(position + 1, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(words, QTextCharFormat())


def _images(document: QTextDocument) -> Iterator[tuple[int, QTextImageFormat]]:
    block = document.begin()
    while block.isValid():
        each = block.begin()
        while not each.atEnd():
            fragment = each.fragment()
            if fragment.charFormat().isImageFormat():
                form = fragment.charFormat().toImageFormat()
                yield from ((fragment.position() + n, form) for n in range(fragment.length()))
            each += 1
        block = block.next()


def _divide_at_pages(document: QTextDocument, height: float) -> bool:
    """Let every page begin with its own paragraph, which looks like the rest of the one before;
    True if one was divided. In tables a division moves the content after it.

    Of a paragraph on two pages Qt paints a line of one page on the other, too: invisible, but
    copied text has it twice.
    """
    places = []
    layout = document.documentLayout()
    block = document.begin()
    while block.isValid():
        lines = block.layout()
        # position of the paragraph in the document, margins and frames included
        top = layout.blockBoundingRect(block).top() - lines.boundingRect().top()
        page = -1
        for number in range(lines.lineCount()):
            line = lines.lineAt(number)
            before, page = page, int((top + line.y() + 1) // height)
            if number and page != before:
                places.append(block.position() + line.textStart())
        block = block.next()
    if not places:
        return False
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    for position in reversed(places):
        cursor.setPosition(position)
        _divide(cursor)
    cursor.endEditBlock()
    return True


def _divide(cursor: QTextCursor) -> None:
    """Begin a paragraph that looks like the continuation of the same one."""
    first = cursor.blockFormat()
    second = QTextBlockFormat(first)
    first.setBottomMargin(0)
    second.setTopMargin(0)
    second.setTextIndent(0)
    # the number or box of a list item stands only before its first line
    items = cursor.currentList()
    if items is not None:
        second.setIndent(first.indent() + items.format().indent())
    second.setObjectIndex(-1)
    second.clearProperty(QTextFormat.Property.BlockMarker)
    cursor.setBlockFormat(first)
    cursor.insertBlock(second)


def _without_ligatures(document: QTextDocument) -> None:
    """Turn off ligatures: “!=” as one glyph, or a dash fitted between digits, cannot be copied."""
    cursor = QTextCursor(document)
    block = document.begin()
    while block.isValid():
        found = block.begin()
        while not found.atEnd():
            fragment = found.fragment()
            form = fragment.charFormat()
            font = QFont(form.font())
            for name in ("calt", "liga", "clig"):
                font.setFeature(QFont.Tag(name), 0)
            changed = QTextCharFormat(form)
            changed.setFont(font)
            cursor.setPosition(fragment.position())
            end = fragment.position() + fragment.length()
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(changed)
            found += 1
        block = block.next()


def _paint(document: QTextDocument, painter: QPainter, clip: QRectF) -> None:
    """Paint in ink, independent of the window's colours."""
    context = QAbstractTextDocumentLayout.PaintContext()
    palette = QPalette()
    palette.setColor(QPalette.ColorRole.Text, QColor(_INK))
    context.palette = palette
    # a line that only touches the page belongs to the next one
    context.clip = clip.adjusted(0, 1, 0, -1)
    painter.setClipRect(clip)
    document.documentLayout().draw(painter, context)

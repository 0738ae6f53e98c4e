"""Plain text of a shown document: lists keep their marks, tables their cells, formulas become
LaTeX. Main thread."""

from __future__ import annotations

from PySide6.QtGui import (
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextListFormat,
)

from headstart.ui.kit import formulas

# placeholder for a formula or another object
OBJECT = "\ufffc"
_BOXES = {
    QTextBlockFormat.MarkerType.Checked: "[x]",
    QTextBlockFormat.MarkerType.Unchecked: "[ ]",
}


def text_between(document: QTextDocument, begin: int, end: int) -> str:
    """Text between two positions, with list marks for items that begin there."""
    pieces: list[str] = []
    block = document.findBlock(begin)
    row: tuple[int, int] | None = None
    while block.isValid() and block.position() < end:
        at = block.position()
        here = _row_of(block)
        if pieces:
            pieces.append("\t" if here is not None and here == row else "\n")
        row = here
        if begin <= at:
            pieces.append(_mark(block))
        pieces.append(_words(block, max(begin, at), min(end, at + block.length() - 1)))
        block = block.next()
    return "".join(pieces)


def objects_of(document: QTextDocument) -> list[str]:
    """The sources of a document's objects, in order."""
    found = []
    block = document.begin()
    while block.isValid():
        each = block.begin()
        while not each.atEnd():
            fragment = each.fragment()
            if OBJECT in fragment.text():
                found += [formulas.source(fragment.charFormat())] * fragment.length()
            each += 1
        block = block.next()
    return found


def _words(block: QTextBlock, begin: int, end: int) -> str:
    if end <= begin:
        return ""
    text = block.text()
    if OBJECT not in text:
        # positions are UTF-16 units
        if text.isascii():
            return text[begin - block.position() : end - block.position()]
        cursor = QTextCursor(block)
        cursor.setPosition(begin)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText().replace("\u2028", "\n")
    pieces = []
    found = block.begin()
    while not found.atEnd():
        fragment = found.fragment()
        first, last = (
            max(begin, fragment.position()),
            min(end, fragment.position() + fragment.length()),
        )
        if first < last:
            source = formulas.source(fragment.charFormat())
            if source:
                pieces.append(source * (last - first))
            else:
                cursor = QTextCursor(block)
                cursor.setPosition(first)
                cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
                pieces.append(cursor.selectedText().replace("\u2028", "\n"))
        found += 1
    return "".join(pieces)


def _mark(block: QTextBlock) -> str:
    items = block.textList()
    if items is None:
        return ""
    form = items.format()
    indent = "  " * max(0, form.indent() - 1)
    sign = _BOXES.get(block.blockFormat().marker())
    if sign is not None:
        return f"{indent}- {sign} "
    ordered = form.style().value <= QTextListFormat.Style.ListDecimal.value
    return f"{indent}{items.itemText(block) if ordered else '-'} "


def _row_of(block: QTextBlock) -> tuple[int, int] | None:
    table = QTextCursor(block).currentTable()
    if table is None:
        return None
    cell = table.cellAt(block.position())
    return table.firstPosition(), cell.row()

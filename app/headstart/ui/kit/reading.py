"""Long texts other than chats: the guide and the changes, with space between paragraphs. Main
thread."""

from __future__ import annotations

from PySide6.QtGui import QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QTextBrowser

from headstart.ui.kit import theme

_MARGIN = 20
# space in px at 100 %: above a heading, below a paragraph, and below a list item
_HEADING, _PARAGRAPH, _ITEM = 14, 10, 3


def show_markdown(browser: QTextBrowser, text: str) -> None:
    """Have `browser` show a text in the font and colours of messages."""
    document = browser.document()
    document.setDocumentMargin(theme.px(_MARGIN))
    document.setDefaultFont(theme.text_font(theme.TEXT_SIZE + 1))
    document.setDefaultStyleSheet(f"a {{ color: {theme.current().accent_text}; }}")
    browser.setMarkdown(text)
    cursor = QTextCursor(document)
    # one edit: otherwise Qt lays everything out again for every line
    cursor.beginEditBlock()
    block = document.begin()
    while block.isValid():
        form = QTextBlockFormat()
        heading = block.blockFormat().headingLevel() > 0
        in_list = block.textList() is not None
        if QTextCursor(block).currentTable() is None:
            form.setLineHeight(132, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            form.setTopMargin(theme.px(_HEADING) if heading and block.blockNumber() else 0)
            form.setBottomMargin(theme.px(_ITEM if in_list else _PARAGRAPH))
            cursor.setPosition(block.position())
            cursor.mergeBlockFormat(form)
        block = block.next()
    cursor.endEditBlock()
    browser.moveCursor(QTextCursor.MoveOperation.Start)

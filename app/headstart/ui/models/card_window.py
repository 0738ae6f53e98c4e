"""A model card by the model's makers: safe Markdown, without fetching anything."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QTextBrowser, QWidget

from headstart.core.hub.catalog import Details
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say

# longest card in characters; longer ones, such as with a pasted log, are cut
_LONGEST = 200_000
# badges and logos, and the tags around them
_TAGS = re.compile(r"<!--.*?(?:-->|\Z)|</?[a-zA-Z][^<>]{0,2000}>", re.DOTALL)
_PICTURES = re.compile(r"!\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)")


class CardBrowser(QTextBrowser):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setOpenLinks(False)
        self.setAccessibleName(say("models.model-card"))
        self.anchorClicked.connect(_open)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Load nothing: pictures and styles are neither fetched nor read from the disk."""
        return None


class CardWindow(Sheet):
    def __init__(self, details: Details, html: str, parent: QWidget | None = None) -> None:
        super().__init__(details.repository.id, parent, (760, 640))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.browser = CardBrowser(self)
        self.browser.setHtml(html)
        self.column.addWidget(self.browser)


def html_of(markdown: str) -> str:
    """Convert Markdown to HTML without its raw HTML and pictures; links stay."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    text = _TAGS.sub("", markdown[:_LONGEST])
    return str(parser.render(_PICTURES.sub(r"\1", text)))


def _open(url: QUrl) -> None:
    if url.scheme() in ("http", "https"):
        QDesktopServices.openUrl(url)

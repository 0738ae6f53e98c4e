"""The guide inside the program: the list of its pages, and the text of one. Main thread."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QResizeEvent, QTextDocument
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QTextBrowser, QWidget

from headstart.core.resources import guide
from headstart.core.text.shown import isolated
from headstart.ui.kit import theme
from headstart.ui.kit.keys import in_mac_keys
from headstart.ui.kit.reading import show_markdown
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say

_LINK = re.compile(r"^\d+\. \[(?P<title>[^\]]+)\]\((?P<file>[\w-]+\.md)\)", re.MULTILINE)
_FILE = int(Qt.ItemDataRole.UserRole)
_NAMES = 200
# largest width of pictures beside the text, in pixels
_PICTURE = 640
GONE = "help.guide-not-here-belongs-to"


class GuideText(QTextBrowser):
    """Loads only the guide's own pictures, and fetches nothing."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setOpenLinks(False)
        self.setAccessibleName(say("help.guide"))

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        text = name.toString() if isinstance(name, QUrl) else name
        path = guide() / Path(text).name
        if kind != QTextDocument.ResourceType.ImageResource.value or not path.is_file():
            return None
        image = QImage(str(path))
        width = min(image.width(), _PICTURE, max(120, self.viewport().width() - 60))
        mode = Qt.TransformationMode.SmoothTransformation
        return image.scaled(QSize(width, 10_000), Qt.AspectRatioMode.KeepAspectRatio, mode)


class GuideSheet(Sheet):
    def __init__(self, parent: QWidget | None, page: str = "") -> None:
        super().__init__(say("help.guide"), parent, (1020, 720))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.names = QListWidget(self)
        self.names.setObjectName("settingsNames")
        self.names.setAccessibleName(say("help.pages-of-guide"))
        self.names.setFixedWidth(theme.px(_NAMES))
        self.names.setWordWrap(True)
        self.names.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.text = GuideText(self)
        self.text.anchorClicked.connect(self._follow)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.names)
        row.addWidget(self.text, 1)
        self.column.addLayout(row, 1)
        for title, name in pages():
            item = QListWidgetItem(isolated(title), self.names)
            item.setData(_FILE, name)
        self.names.currentItemChanged.connect(lambda *_: self._show())
        self.show_page(page)

    @property
    def page(self) -> str:
        """The file of the shown page."""
        item = self.names.currentItem()
        return str(item.data(_FILE)) if item is not None else ""

    def show_page(self, name: str) -> None:
        """Show a page by its file's name; "" shows the first one."""
        for row in range(self.names.count()):
            if self.names.item(row).data(_FILE) == name or (not name and row == 0):
                self.names.setCurrentRow(row)
                return
        if not self.names.count():
            self.text.setPlainText(say(GONE))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # the width of pictures follows that of the window
        self._show()

    def _show(self) -> None:
        try:
            words = (guide() / self.page).read_text(encoding="utf-8") if self.page else ""
        except OSError:
            words = say(GONE)
        if words:
            show_markdown(self.text, in_mac_keys(words) if sys.platform == "darwin" else words)

    def _follow(self, url: QUrl) -> None:
        name = Path(url.path()).name
        if url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)
        elif name.endswith(".md"):
            self.show_page(name)


def pages() -> list[tuple[str, str]]:
    """Titles and files of the pages, in the order of the guide's own list."""
    try:
        text = (guide() / "README.md").read_text(encoding="utf-8")
    except OSError:
        return []
    return [(match["title"], match["file"]) for match in _LINK.finditer(text)]

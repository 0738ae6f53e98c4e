"""News: the changes of each version, and a line about them after an update. Main thread."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QTextBrowser, QWidget

from headstart import __version__
from headstart.chat.preferences import Preferences
from headstart.core.events import NoticeKind
from headstart.core.resources import changelog
from headstart.core.told import told
from headstart.ui.kit.reading import show_markdown
from headstart.ui.kit.sheet import Sheet
from headstart.ui.shell.notices import Banner
from headstart.ui.wording import say


class NewsWindow(Sheet):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(say("shell.whats-new-in-headstart"), parent, (760, 600))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.text = QTextBrowser(self)
        self.text.setAccessibleName(say("shell.changes-newest-version-first"))
        # links do nothing, and nothing is fetched
        self.text.setOpenLinks(False)
        try:
            show_markdown(self.text, changelog().read_text(encoding="utf-8"))
        except OSError:
            self.text.setPlainText(say("shell.version-version", version=__version__))
        self.column.addWidget(self.text, 1)


class News:
    """Opens the window; points to it once after an update."""

    def __init__(self, parent: QWidget, banner: Banner, preferences: Preferences) -> None:
        self._parent = parent
        self._banner = banner
        self._preferences = preferences

    def open(self) -> None:
        NewsWindow(self._parent).show()

    def tell(self) -> None:
        before = self._preferences.state.current.told_version
        if before == __version__:
            return
        self._preferences.state.update(told_version=__version__)
        # not at the very first start, and not over a notice of a problem
        if before and not self._banner.isVisible():
            self._banner.show_text(NoticeKind.NEWS, told("updated", version=__version__).text)
            self._banner.offer(say("shell.whats-new-2"), self.open)

    def offer(self, version: str, page: str) -> None:
        """Tell that a newer version is available."""
        self._banner.show_text(NoticeKind.NEWS, told("newer-version", version=version).text)

        def open_page() -> None:
            QDesktopServices.openUrl(QUrl(page))

        self._banner.offer(say("shell.open-page"), open_page)

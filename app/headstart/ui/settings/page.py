"""Settings as a page in place of all else: a list on the left, and a search over all settings.

Changes apply at once; `Preferences` checks every value.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from headstart.core.settings.schema import Settings
from headstart.core.text.matching import score
from headstart.ui.kit import icons, theme
from headstart.ui.kit.entry import SideEntry
from headstart.ui.kit.fields import clearable, give_room, keep_wheel_away
from headstart.ui.kit.focus import focus_by_tab, stops_in, takes_tab
from headstart.ui.kit.hints import set_hint
from headstart.ui.kit.keys import key_text
from headstart.ui.kit.mirrored import back_arrow
from headstart.ui.kit.sheet import calm
from headstart.ui.settings.appearance_page import AppearancePage
from headstart.ui.settings.cache_page import CachePage
from headstart.ui.settings.drafting_page import DraftingPage
from headstart.ui.settings.expert_page import EngineRows, ExpertPage
from headstart.ui.settings.files_page import FilesPage
from headstart.ui.settings.form import Page, SettingEntry
from headstart.ui.settings.general_page import GeneralPage, SamplingRows
from headstart.ui.settings.knowledge_page import KnowledgePage
from headstart.ui.settings.models_page import ModelsSettingsPage
from headstart.ui.settings.privacy_page import PrivacyPage
from headstart.ui.settings.server_page import ServerPage
from headstart.ui.settings.servers_page import ServersPage
from headstart.ui.settings.shortcuts_page import Keys, ShortcutsPage
from headstart.ui.settings.tools_page import ToolsPage
from headstart.ui.wording import say

_ENTRY = int(Qt.ItemDataRole.UserRole)
# sorts after every setting with the words in its title
_NOT_IN_TITLE = 1_000_000
_ICONS = {
    "general": "settings",
    "appearance": "palette",
    "models": "box",
    "drafting": "zap",
    "cache": "database",
    "files": "folder-open",
    "servers": "globe",
    "server": "server",
    "tools": "wrench",
    "knowledge": "book-open",
    "privacy": "shield",
    "shortcuts": "keyboard",
    "expert": "sliders-horizontal",
}


class SettingsPage(QWidget):
    """Emits `changed` with the fields to replace, as a dict for `Preferences.update`."""

    changed = Signal(dict)
    closed = Signal()
    guide_wanted = Signal()
    about_wanted = Signal()
    shown = Signal(str)  # the name of a page

    def __init__(self, settings: Settings, keys: Keys, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.engine = EngineRows(settings.engine, self._tell)
        self.numbers = SamplingRows(settings.sampling, self._tell)
        self.general = GeneralPage(settings, self.numbers, self._tell, self)
        self.appearance = AppearancePage(settings, self._tell, self)
        self.models = ModelsSettingsPage(settings, self.engine, self._tell, self)
        self.drafting = DraftingPage(settings, self._tell, self)
        self.cache = CachePage(settings, self._tell, self)
        self.files = FilesPage(settings, self._tell, self)
        self.servers = ServersPage(settings, self)
        self.server = ServerPage(settings, self._tell, self)
        self.tools = ToolsPage(settings, self)
        self.knowledge = KnowledgePage(settings, self._tell, self)
        self.privacy = PrivacyPage(settings, self._tell, self)
        self.shortcuts = ShortcutsPage(settings, keys, self._tell, self)
        self.expert = ExpertPage(settings, self.engine, self.numbers, self)
        self.pages: dict[str, Page] = {name: getattr(self, name) for name in _ICONS}
        self._stack = QStackedWidget(self)
        for page in self.pages.values():
            self._stack.addWidget(page)
        self._build()
        keep_wheel_away(self)
        give_room(self)
        calm(self)
        theme.follow(self._measure)
        self.show_page("general")

    def _build(self) -> None:
        side = self._side = QFrame(self)
        side.setObjectName("settingsList")
        self.back = SideEntry(say("settings.back-to-chats"), back_arrow(), side)
        self.back.set_note(key_text("Esc"))
        self.back.clicked.connect(self.closed)
        self.search = QLineEdit(side)
        self.search.setObjectName("searchBox")
        set_hint(self.search, say("settings.search-settings"))
        self.search.setAccessibleName(say("settings.search-settings"))
        glass = QAction(icons.icon("search"), say("settings.search"), self.search)
        self.search.addAction(glass, QLineEdit.ActionPosition.LeadingPosition)
        clearable(self.search)
        self.search.textChanged.connect(self._find)
        self.search.installEventFilter(self)
        self.names = QListWidget(side)
        self.names.setObjectName("settingsNames")
        self.names.setAccessibleName(say("settings.settings"))
        self.names.setWordWrap(True)
        self.names.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.names.currentItemChanged.connect(lambda item, _before: self._open(item))
        self.nothing = QLabel(say("settings.no-settings-found"), side)
        self.nothing.setObjectName("quiet")
        self.nothing.setWordWrap(True)
        self.nothing.hide()
        self._help = SideEntry(say("settings.help"), "circle-help", side)
        self._show_help_key()
        self._help.clicked.connect(self.guide_wanted)
        self._about = SideEntry(say("settings.about-headstart"), "info", side)
        self._about.clicked.connect(self.about_wanted)
        column = QVBoxLayout(side)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(4)
        for widget in (self.back, self.search, self.nothing):
            column.addWidget(widget)
        column.addWidget(self.names, 1)
        for widget in (self._help, self._about):
            column.addWidget(widget)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(side)
        layout.addWidget(self._stack, 1)
        self._fill()

    # --- pages ---------------------------------------------------------------------------

    @property
    def page(self) -> str:
        """The name of the shown page."""
        shown = self._stack.currentWidget()
        return next(name for name, page in self.pages.items() if page is shown)

    def show_page(self, name: str) -> None:
        """Show one of the pages, and the list without a search."""
        self.search.clear()
        self._stack.setCurrentWidget(self.pages[name])
        for row in range(self.names.count()):
            item = self.names.item(row)
            if item.data(_ENTRY) == (name, None):
                self.names.setCurrentItem(item)
        self.shown.emit(name)

    def next_pane(self) -> None:
        """Move the keyboard focus from the list to the shown page, or back."""
        page, focus = self._stack.currentWidget(), self.window().focusWidget()
        inside = page is not None and focus is not None and page.isAncestorOf(focus)
        stops = [] if page is None or inside else [one for one in stops_in(page) if takes_tab(one)]
        focus_by_tab(stops[0] if stops else self.names, True)

    def entries(self) -> list[tuple[str, SettingEntry]]:
        """Every setting, with the name of its page."""
        return [(name, entry) for name, page in self.pages.items() for entry in page.entries]

    def show_entry(self, name: str, entry: SettingEntry) -> None:
        self._stack.setCurrentWidget(self.pages[name])
        self.pages[name].show_row(entry.row)
        self.shown.emit(name)

    def follow(self, settings: Settings) -> None:
        """Show changed settings, on which the next change builds."""
        self.engine.follow(settings)
        self.numbers.follow(settings)
        for page in self.pages.values():
            page.follow(settings)
        self._show_help_key()

    def _show_help_key(self) -> None:
        self._help.set_note(self.shortcuts.choices["help.guide"].field.text())

    def _measure(self) -> None:
        self._side.setFixedWidth(theme.sidebar_width())

    # --- the search ----------------------------------------------------------------------

    def _find(self, words: str) -> None:
        wanted = words.strip()
        if not wanted:
            self._fill()
            return
        found = []
        for number, (name, entry) in enumerate(self.entries()):
            page = self.pages[name].title
            # all words anywhere, the title first
            points = score(wanted, entry.title)
            if points is None and not _has_words(wanted, f"{entry.title} {entry.about} {page}"):
                continue
            found.append((_NOT_IN_TITLE if points is None else points, number, name, entry))
        found.sort(key=lambda one: one[:2])
        with QSignalBlocker(self.names):
            self.names.clear()
            for _points, _number, name, entry in found:
                item = QListWidgetItem(f"{entry.title}\n{self.pages[name].title}", self.names)
                item.setData(_ENTRY, (name, entry))
        self.nothing.setVisible(not found)

    def _fill(self) -> None:
        self.nothing.hide()
        with QSignalBlocker(self.names):
            self.names.clear()
            for name, page in self.pages.items():
                item = QListWidgetItem(icons.icon(_ICONS[name]), page.title, self.names)
                item.setData(_ENTRY, (name, None))
                if self._stack.currentWidget() is page:
                    self.names.setCurrentItem(item)

    def _open(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        name, entry = item.data(_ENTRY)
        if entry is None:
            self._stack.setCurrentWidget(self.pages[name])
            self.shown.emit(name)
        else:
            self.show_entry(name, entry)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.search and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Down:
                self.names.setFocus()
                return True
            if event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Return:
                if self.names.count():
                    self.names.setCurrentRow(0)
                    self._open(self.names.item(0))
                return True
        return super().eventFilter(watched, event)

    def _tell(self, **changes: object) -> None:
        self.changed.emit(changes)


def _has_words(wanted: str, text: str) -> bool:
    folded = text.casefold()
    return all(word in folded for word in wanted.casefold().split())

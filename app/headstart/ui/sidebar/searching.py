"""Search results in place of the list of chats. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QLabel, QListView, QWidget

from headstart.core.chats.parts import PassagePart
from headstart.core.chats.search import FoundChats, SearchHit
from headstart.ui.sidebar.search_box import SearchBox
from headstart.ui.sidebar.search_results import ResultsView
from headstart.ui.wording import say

_NOTHING = "sidebar.nothing-found-every-word-has"
_GOING_ON = "sidebar.going-through-older-messages"


class Searching:
    """`box`, `results` and `nothing` are children of `parent`; `chats` is hidden meanwhile.
    `wanted` is called with each query, `changed` after another list is shown."""

    def __init__(
        self,
        parent: QWidget,
        chats: QListView,
        wanted: Callable[[str], object],
        changed: Callable[[], object],
    ) -> None:
        self._chats, self._wanted, self._changed = chats, wanted, changed
        # Enter was pressed before the results came
        self._enter_wanted = False
        # results of the query so far: of chats, and whether files have any
        self._found: FoundChats | None = None
        self._whole, self._in_files = True, False
        self.box = SearchBox(parent)
        self.results = ResultsView(parent)
        self.results.hide()
        self.nothing = QLabel(say(_NOTHING), parent)
        self.nothing.setObjectName("quiet")
        self.nothing.setWordWrap(True)
        self.nothing.hide()
        self.box.looked_for.connect(self._on_search)
        self.box.entered.connect(self._enter)
        self.box.went_down.connect(self._go_down)
        self.results.left.connect(self.box.setFocus)
        self.results.typed.connect(self._type)

    @property
    def active(self) -> bool:
        return not self.results.isHidden()

    def set_found(self, query: str, found: FoundChats, whole: bool = True) -> None:
        """Show the results of a query, unless the query has changed. `whole`: False while some
        messages are not searched yet."""
        if query == self.box.text():
            self.results.set_found(found.chats)
            self._found, self._whole = found, whole
            self._tell()
            if self._enter_wanted and (found.chats or whole):
                self._enter_wanted = False
                self.results.choose_first()

    def add_places(self, query: str, chat_id: str, messages: Sequence[SearchHit]) -> None:
        """Show further messages of a chat."""
        if query == self.box.text():
            self.results.add_places(chat_id, messages)

    def set_passages(self, query: str, found: Sequence[tuple[PassagePart, str]]) -> None:
        """Show the best passages of files, each with its snippet."""
        if query == self.box.text():
            self.results.results.set_passages(found)
            self._in_files = bool(found)
            self._tell()

    def _tell(self) -> None:
        """Show the numbers of chats and messages, or that there are none."""
        found, words = self._found, ""
        if found is None or not self._whole:
            words = say(_GOING_ON) if found is not None else ""
        elif found.chats:
            code = "sidebar.found-chats" if found.messages else "sidebar.found-titles"
            words = say(code, chats=len(found.chats), messages=found.messages)
        elif not self._in_files:
            words = say(_NOTHING)
        self.nothing.setText(words)
        self.nothing.setVisible(bool(words))

    def leave(self) -> bool:
        """Leave the search and show the chats, if the search has the focus; True if it was left."""
        inside = self.box.hasFocus() or self.results.hasFocus()
        if inside and self.box.text():
            self.box.clear()
            self.box.setFocus()
            return True
        return False

    def _on_search(self, query: str) -> None:
        searching = bool(query.strip())
        self.results.setVisible(searching)
        self._chats.setVisible(not searching)
        self._found, self._in_files = None, False
        if searching:
            self._wanted(query)
        else:
            self.nothing.hide()
            self.results.set_found([])
            self.results.results.set_passages([])
        self._changed()

    def _enter(self) -> None:
        # the shown results may belong to the previous query
        self._enter_wanted = bool(self.box.text().strip())
        if self._enter_wanted:
            self._wanted(self.box.text())

    def _type(self, text: str) -> None:
        self.box.setFocus()
        self.box.insert(text)

    def _go_down(self) -> None:
        shown = self.results if self.active else self._chats
        if shown.model().rowCount():
            shown.setFocus()
            if not shown.currentIndex().isValid():
                shown.setCurrentIndex(shown.model().index(0, 0))

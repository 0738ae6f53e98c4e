"""Search results in place of the list of chats. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QLabel, QListView, QWidget

from headstart.core.chats.search import FoundChat
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

    def set_found(self, query: str, found: Sequence[FoundChat], whole: bool = True) -> None:
        """Show the results of a query, unless the query has changed. `whole`: False while some
        messages are not searched yet."""
        if query == self.box.text():
            self.results.set_found(found)
            self.nothing.setText(say(_NOTHING) if whole else say(_GOING_ON))
            self.nothing.setVisible(not found or not whole)
            if self._enter_wanted and (found or whole):
                self._enter_wanted = False
                self.results.choose_first()

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
        if searching:
            self._wanted(query)
        else:
            self.nothing.hide()
            self.results.set_found([])
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

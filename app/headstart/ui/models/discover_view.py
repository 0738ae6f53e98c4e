"""The page for finding models: those that suit this computer, the results of a search, and one
repository with everything to download from it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListView,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from headstart.core.hub.catalog import Repository
from headstart.core.models.recommended import Recommended
from headstart.ui.kit import icons
from headstart.ui.kit.mirrored import back_arrow
from headstart.ui.models.details_view import DetailsView
from headstart.ui.models.results import ITEM, ModelResults, ModelResultsDelegate
from headstart.ui.models.search_row import SearchRow
from headstart.ui.wording import say

# width in pixels below which either the list or the details are shown, not both
_BOTH = 700
# rows before the end at which further ones are requested
_AHEAD = 20

WELCOME = "models.for-computer"
HINT = "models.chosen-for-computers-memory-search"


class DiscoverView(QWidget):
    opened = Signal(str)  # a repository
    recommended_chosen = Signal(Recommended)  # get it
    more_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.row = SearchRow(self)
        self.results = ModelResults(self)
        self.list = QListView(self)
        self.list.setObjectName("cards")
        self.list.setAccessibleName(say("models.models-were-found"))
        self.list.setModel(self.results)
        self.list.setItemDelegate(ModelResultsDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.clicked.connect(self._on_chosen)
        self.list.activated.connect(self._on_chosen)
        self.list.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.heading = QLabel(say(WELCOME), self)
        self.heading.setObjectName("sectionTitle")
        self.again = QPushButton(say(WELCOME), self)
        self.again.setToolTip(say("models.clear-search"))
        self.again.clicked.connect(self.row.forget)
        self.again.hide()
        self.hint = QLabel(say(HINT), self)
        self.hint.setObjectName("quiet")
        self.hint.setWordWrap(True)
        # to search again after a failure
        self.retry = QPushButton(say("models.try-again"), self)
        self.retry.clicked.connect(self.row.search)
        self.retry.hide()
        self.details = DetailsView(self)
        self.details.retried.connect(self.opened)
        self.back = QPushButton(icons.icon(back_arrow()), say("models.back-to-list"), self)
        self.back.clicked.connect(self._on_back)
        self._recommended: list[Recommended] = []
        # True while the recommended models are shown
        self._suggesting = True
        self._showing_details = False
        self._build()

    def _build(self) -> None:
        self._left = QWidget(self)
        column = QVBoxLayout(self._left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        head = QHBoxLayout()
        head.addWidget(self.heading, 1)
        head.addWidget(self.again)
        column.addLayout(head)
        column.addWidget(self.hint)
        column.addWidget(self.retry, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.list, 1)
        self._right = QWidget(self)
        side = QVBoxLayout(self._right)
        side.setContentsMargins(0, 0, 0, 0)
        side.setSpacing(8)
        side.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        side.addWidget(self.details, 1)
        both = QHBoxLayout()
        both.setSpacing(18)
        both.addWidget(self._left, 2)
        both.addWidget(self._right, 3)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 12, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(self.row)
        layout.addLayout(both, 1)
        self.row.emptied.connect(self.show_recommended)
        self._arrange()

    # --- display -------------------------------------------------------------------------

    def set_recommended(self, models: list[Recommended]) -> None:
        self._recommended = models
        if self._suggesting:
            self.results.clear()
            self.results.add(models)

    def show_recommended(self) -> None:
        self._suggesting = True
        self.heading.setText(say(WELCOME))
        self.again.hide()
        self._set_hint(say(HINT))
        self.results.clear()
        self.results.add(self._recommended)

    def begin_search(self) -> None:
        self._suggesting = False
        self.results.clear()
        self.heading.setText(say("models.found"))
        self.again.show()
        self._set_hint(say("models.asking-hugging-face"))
        self.show_list()

    def add_results(self, found: list[Repository]) -> None:
        self.results.add(found)
        # if all of them are in view, no scrolling would load more
        QTimer.singleShot(0, self, lambda: self._on_scrolled(0))

    def end_search(self, problem: str) -> None:
        count = self.results.rowCount()
        if problem and not count:
            # parts that need no network are shown all the same
            self._suggesting = True
            self.heading.setText(say(WELCOME))
            self.again.hide()
            self.results.add(self._recommended)
            self._set_hint(say("models.problem-what-installed-works-without", problem=problem))
            self.retry.show()
        elif problem:
            self._set_hint(problem)
            self.retry.show()
        elif not count:
            self._set_hint(say("models.nothing-was-found-try-other"))
        else:
            self._set_hint("")

    def begin(self, repo: str) -> None:
        """Show that a repository is loading, with the facts known without the hub."""
        known = next((one for one in self._recommended if one.repo == repo), None)
        self.details.begin(repo, known)
        self.show_details()

    def show_details(self) -> None:
        self._showing_details = True
        self._arrange()

    def show_list(self) -> None:
        self._showing_details = False
        self._arrange()

    # --- actions -------------------------------------------------------------------------

    def _on_chosen(self, index: QModelIndex) -> None:
        row = index.data(ITEM)
        if isinstance(row, Repository):
            self.opened.emit(row.id)
        elif isinstance(row, Recommended):
            self.opened.emit(row.repo)

    def _on_back(self) -> None:
        self.show_list()
        self.list.setFocus()

    def _on_scrolled(self, _value: int) -> None:
        last = self.list.indexAt(self.list.viewport().rect().bottomLeft())
        row = last.row() if last.isValid() else self.results.rowCount()
        if row >= self.results.rowCount() - _AHEAD:
            self.more_wanted.emit()

    def _set_hint(self, text: str) -> None:
        self.hint.setText(text)
        self.hint.setVisible(bool(text))
        self.retry.hide()

    def _arrange(self) -> None:
        both = self.width() >= _BOTH
        self.row.set_narrow(not both)
        self.details.variants.set_narrow(not both)
        self._left.setVisible(both or not self._showing_details)
        self._right.setVisible(both or self._showing_details)
        self.back.setVisible(not both)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

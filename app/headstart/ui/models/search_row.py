"""Search of the hub: words or a link, format, size, order, and filters."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QLineEdit,
    QMenu,
    QPushButton,
    QWidget,
)

from headstart.core.hub.catalog import Search, SortBy
from headstart.core.models.ref import ModelFormat
from headstart.ui.kit import icons
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.fields import clearable
from headstart.ui.kit.flow import in_lines
from headstart.ui.kit.hints import set_hint
from headstart.ui.wording import say

_FORMATS: tuple[tuple[str, tuple[ModelFormat, ...]], ...] = (
    ("models.gguf", ("gguf",)),
    ("models.mlx", ("mlx",)),
    ("models.gguf-and-mlx", ("gguf", "mlx")),
)
_SORTED: tuple[tuple[str, SortBy], ...] = (
    ("models.trending", "trending"),
    ("models.most-liked", "likes"),
    ("models.most-downloaded", "downloads"),
    ("models.last-updated", "updated"),
)
_SIZES = (
    (0.0, "models.any-size"),
    (4.0, "models.up-to-4b"),
    (9.0, "models.up-to-9b"),
    (15.0, "models.up-to-15b"),
    (35.0, "models.up-to-35b"),
)
_LICENCES = ("apache-2.0", "mit")


class SearchRow(QWidget):
    """Emits `searched` with a search when the user presses Enter or chooses a filter: words are
    not sent while they are typed."""

    searched = Signal(Search)
    emptied = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.memory = 0
        self._made = False
        self.field = QLineEdit(self)
        set_hint(self.field, say("models.search-hugging-face-or-paste"))
        self.field.setAccessibleName(say("models.search-models-on-hugging-face"))
        self.field.returnPressed.connect(self.search)
        self.field.textChanged.connect(self._on_text)
        self._search = QAction(icons.icon("search"), say("models.search"), self.field)
        self.field.addAction(self._search, QLineEdit.ActionPosition.LeadingPosition)
        clearable(self.field)
        self._search.triggered.connect(self.search)
        self._format = self._box(say("models.format"), [title for title, _ in _FORMATS])
        self._size = self._box(say("models.size"), [title for _, title in _SIZES])
        self._sort = self._box(say("models.order"), [title for title, _ in _SORTED])
        self._filter = QPushButton(say("models.filter"), self)
        self._filter.setAccessibleName(say("models.filter-results"))
        self._filter.setObjectName("filter")
        menu = QMenu(self._filter)
        self._filter.setMenu(menu)
        self._fits = self._option(menu, say("models.fits-computer"), chosen=True)
        self._draft = self._option(menu, say("models.small-enough-to-draft"))
        self._own_draft = self._option(menu, say("models.includes-draft-head-or-mtp"))
        self._vision = self._option(menu, say("models.sees-pictures"))
        self._open = self._option(menu, say("models.not-gated"))
        self._free = self._option(menu, say("models.apache-or-mit-licence"))
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        self._layout.addWidget(self.field, 1)
        filters = self._format, self._size, self._sort, self._filter
        self._layout.addWidget(in_lines(self, *filters, wants_one=True))

    def set_preferred(self, form: ModelFormat) -> None:
        """Preselect the format that runs best on this computer, until the user searches."""
        if not self._made:
            self._format.setCurrentIndex(0 if form == "gguf" else 1)

    def set_narrow(self, narrow: bool) -> None:
        """Put the filters below the field (`narrow`) or beside it."""
        direction = QBoxLayout.Direction
        self._layout.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)

    def search(self) -> None:
        self._made = True
        self.searched.emit(self.wanted())

    def wanted(self) -> Search:
        return Search(
            text=self.field.text().strip(),
            formats=_FORMATS[self._format.currentIndex()][1],
            sort=_SORTED[self._sort.currentIndex()][1],
            fits=self.memory if self._fits.isChecked() else 0,
            largest=_SIZES[self._size.currentIndex()][0],
            licences=_LICENCES if self._free.isChecked() else (),
            open_only=self._open.isChecked(),
            can_draft=self._draft.isChecked(),
            has_vision=self._vision.isChecked(),
            has_own_draft=self._own_draft.isChecked(),
        )

    def _box(self, name: str, titles: list[str]) -> QComboBox:
        box = Choice(self)
        box.setAccessibleName(name)
        box.addItems([say(title) for title in titles])
        box.activated.connect(self.search)
        return box

    def _option(self, menu: QMenu, title: str, chosen: bool = False) -> QAction:
        action = menu.addAction(title)
        action.setCheckable(True)
        action.setChecked(chosen)
        action.triggered.connect(self.search)
        return action

    def forget(self) -> None:
        """Return to the recommended models."""
        self._made = False
        with QSignalBlocker(self.field):
            self.field.clear()
        self.emptied.emit()

    def _on_text(self, text: str) -> None:
        if not text:
            self._made = False
            self.emptied.emit()

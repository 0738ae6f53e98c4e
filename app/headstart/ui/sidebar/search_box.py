"""The search field for all chats, and the menu of filters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from headstart.ui.kit import icons
from headstart.ui.kit.fields import clearable
from headstart.ui.wording import say

# from the last key press to the search
_PAUSE_MS = 90


class SearchBox(QLineEdit):
    looked_for = Signal(str)
    # the user opens the first hit, or goes down the list
    entered = Signal()
    went_down = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("searchBox")
        self.setPlaceholderText(say("sidebar.search"))
        self.setAccessibleName(say("sidebar.search-all-chats"))
        # filters: names of models, folders and tags
        self.names: Callable[[], tuple[Sequence[str], Sequence[str], Sequence[str]]] = lambda: (
            (), (), ()
        )  # fmt: skip
        places = QLineEdit.ActionPosition
        self._search = QAction(icons.icon("search"), say("sidebar.search"), self)
        self.addAction(self._search, places.LeadingPosition)
        self._filter = QAction(icons.icon("sliders-horizontal"), say("sidebar.filters"), self)
        self._filter.triggered.connect(self._open_filters)
        self.addAction(self._filter, places.TrailingPosition)
        clearable(self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(lambda: self.looked_for.emit(self.text()))
        self.textChanged.connect(self._on_text)

    def add_filter(self, words: str) -> None:
        """Append a filter to the text."""
        before = self.text().rstrip()
        self.setText(f"{before} {words} ".lstrip())
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Escape if self.text():
                self.clear()
            case Qt.Key.Key_Down:
                self.went_down.emit()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                if self._timer.isActive():
                    self._timer.stop()
                    self.looked_for.emit(self.text())
                self.entered.emit()
            case _:
                super().keyPressEvent(event)

    def _on_text(self, text: str) -> None:
        if text.strip():
            self._timer.start()
        else:
            self._timer.stop()
            self.looked_for.emit("")

    def _open_filters(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        models, folders, tags = self.names()
        for title, word, names in (
            (say("sidebar.model"), "model", models),
            (say("sidebar.folder"), "folder", folders),
            (say("sidebar.tag"), "tag", tags),
        ):
            self._add_names(menu, title, word, names)
        for title, words in (
            (say("sidebar.today"), "on:today"),
            (say("sidebar.yesterday"), "on:yesterday"),
        ):
            menu.addAction(title, partial(self.add_filter, words))
        menu.addSeparator()
        for title, words in (
            (say("sidebar.has-code"), "has:code"),
            (say("sidebar.has-file"), "has:file"),
        ):
            menu.addAction(title, partial(self.add_filter, words))
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))

    def _add_names(self, menu: QMenu, title: str, word: str, names: Iterable[str]) -> None:
        inner = menu.addMenu(title)
        for name in names:
            quoted = f'"{name}"' if " " in name else name
            inner.addAction(name, partial(self.add_filter, f"{word}:{quoted}"))
        inner.setEnabled(not inner.isEmpty())

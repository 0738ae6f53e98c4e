"""Choosing pages or parts of an attached file: those that fit, or those with certain words.

Main thread; the window is created on demand.
"""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from headstart.core.chats.attachments import Extracted, about_tokens, numbers_of, ranges_text
from headstart.core.chats.parts import FilePart
from headstart.core.text.locale import locale
from headstart.ui.kit.fields import clearable
from headstart.ui.kit.hints import set_hint
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say

# characters shown of a page's beginning
_BEGINNING = 90
# share of the room that pages with estimated tokens may take; tokens that name the omitted pages
_SURE, _GAP = 0.98, 24


class PagesWindow(Sheet):
    """Emits `chosen` with the numbers; `room`: tokens left for the file, None if unknown."""

    chosen = Signal(tuple)

    def __init__(
        self,
        part: FilePart,
        found: Extracted,
        tokens: int,
        room: int | None,
        parent: QWidget | None,
    ) -> None:
        """`tokens`: those of the current choice, 0 if not counted."""
        unit = found.unit.value
        super().__init__(say("composer.choose-of", unit=unit, name=part.name), parent, (720, 560))
        self.setMinimumSize(460, 320)
        self._found, self._room, self._unit = found, room, unit
        about = about_tokens(part.text)
        share = tokens / about if tokens and about else 1.0
        count = len(found.pages)
        self.counts = [
            round(about_tokens(found.marked(number)) * share) + 1 for number in range(1, count + 1)
        ]
        self._all = set(range(1, count + 1))
        self._build(part, found)
        self.fitting.setVisible(room is not None)
        self._tick(numbers_of(part.chosen, count) if part.chosen else self._all)

    def _build(self, part: FilePart, found: Extracted) -> None:
        unit = self._unit
        self.search = QLineEdit(self)
        set_hint(self.search, say("composer.show-with-words", unit=unit))
        self.search.setAccessibleName(self.search.placeholderText())
        clearable(self.search)
        self.search.textChanged.connect(self._filter)
        self.list = QTreeWidget(self)
        self.list.setColumnCount(3)
        self.list.setHeaderLabels(
            [
                say("composer.one-of-them", unit=unit),
                say("composer.begins-with"),
                say("composer.tokens"),
            ]
        )
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setAccessibleName(say("composer.all-of", unit=unit, name=part.name))
        header = self.list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        for column in (0, 2):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self._items = [self._row(number, text) for number, text in enumerate(found.pages, 1)]
        self.list.addTopLevelItems(self._items)
        self.list.itemChanged.connect(self._on_ticked)
        self.numbers = QLineEdit(self)
        self.numbers.setAccessibleName(say("composer.numbers-of", unit=unit))
        self.numbers.setPlaceholderText("1–3, 7")
        self.numbers.textEdited.connect(self._on_numbers)
        self.fitting = QPushButton(say("composer.as-many-as-fit"), self)
        self.fitting.clicked.connect(lambda: self._tick(self._that_fit()))
        everything = QPushButton(say("composer.all"), self)
        everything.clicked.connect(lambda: self._tick(self._visible() or self._all))
        nothing = QPushButton(say("composer.none"), self)
        nothing.clicked.connect(lambda: self._tick(()))
        self.hint = QLabel(self)
        self.hint.setObjectName("quiet")
        self.hint.setWordWrap(True)
        self.use = QPushButton(say("composer.use-these"), self)
        self.use.setObjectName("primary")
        self.use.setDefault(True)
        self.use.clicked.connect(self._accept)
        cancel = QPushButton(say("composer.cancel"), self)
        cancel.clicked.connect(self.reject)
        for button in (self.fitting, everything, nothing, cancel):
            button.setAutoDefault(False)
        top = QHBoxLayout()
        top.addWidget(self.numbers, 1)
        for button in (self.fitting, everything, nothing):
            top.addWidget(button)
        below = QHBoxLayout()
        below.addWidget(self.hint, 1)
        below.addWidget(cancel)
        below.addWidget(self.use)
        self.column.addWidget(self.search)
        self.column.addLayout(top)
        self.column.addWidget(self.list, 1)
        self.column.addLayout(below)

    def _row(self, number: int, text: str) -> QTreeWidgetItem:
        begins = " ".join(text[: 4 * _BEGINNING].split())[:_BEGINNING] or say(
            "composer.no-text-only-picture"
        )
        item = QTreeWidgetItem([str(number), begins, locale().number(self.counts[number - 1])])
        item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
        item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight)
        item.setCheckState(0, Qt.CheckState.Unchecked)
        return item

    @property
    def ticked(self) -> list[int]:
        return [
            number
            for number, item in enumerate(self._items, 1)
            if item.checkState(0) is Qt.CheckState.Checked
        ]

    def _that_fit(self) -> list[int]:
        """The shown pages that fit, from the first one on."""
        left, fits = round((self._room or 0) * _SURE) - _GAP, []
        for number in sorted(self._visible() or self._all):
            left -= self.counts[number - 1]
            if left < 0:
                break
            fits.append(number)
        return fits

    def _visible(self) -> set[int]:
        return {number for number, item in enumerate(self._items, 1) if not item.isHidden()}

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        for item, page in zip(self._items, self._found.pages, strict=True):
            folded = page.casefold()
            item.setHidden(not all(word in folded for word in words))

    def _tick(self, numbers: Collection[int]) -> None:
        wanted = set(numbers)
        with QSignalBlocker(self.list):
            for number, item in enumerate(self._items, 1):
                on = Qt.CheckState.Checked if number in wanted else Qt.CheckState.Unchecked
                item.setCheckState(0, on)
        self.list.viewport().update()
        self.numbers.setText(ranges_text(wanted))
        self._show_sum()

    def _on_ticked(self) -> None:
        self.numbers.setText(ranges_text(self.ticked))
        self._show_sum()

    def _on_numbers(self, text: str) -> None:
        try:
            wanted = numbers_of(text, len(self._items)) if text.strip() else set()
        except ValueError:
            return
        with QSignalBlocker(self.list):
            for number, item in enumerate(self._items, 1):
                on = Qt.CheckState.Checked if number in wanted else Qt.CheckState.Unchecked
                item.setCheckState(0, on)
        self.list.viewport().update()
        self._show_sum()

    def _show_sum(self) -> None:
        numbers = self.ticked
        tokens = sum(self.counts[number - 1] for number in numbers)
        code = "composer.chosen-pages" if self._unit == "page" else "composer.chosen-parts"
        facts = {"chosen": say(code, count=len(numbers)), "tokens": tokens}
        if self._room is None:
            words = say("composer.chosen", **facts)
        else:
            words = say("composer.chosen-and-room", **facts, room=max(0, self._room))
        self.hint.setText(words)
        self.use.setEnabled(bool(numbers))

    def _accept(self) -> None:
        self.chosen.emit(tuple(self.ticked))
        self.accept()

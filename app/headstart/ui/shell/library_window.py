"""The user's prompts and presets: viewing, writing, renaming, deleting. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from headstart.core.settings.schema import Preset, SavedPrompt, changed
from headstart.ui.kit.focus import tabs_first
from headstart.ui.kit.sheet import Sheet
from headstart.ui.kit.wrapping import TextEdit
from headstart.ui.wording import say

_LONGEST_NAME = 80
_HELP = "shell.date-and-clipboard-filled-in"


class _Item(Struct, frozen=True):
    name: str
    text: str
    # the other options of a preset
    preset: Preset | None = None


class LibraryWindow(Sheet):
    """Emits all prompts or presets whenever one changes."""

    prompts_changed = Signal(tuple)
    presets_changed = Signal(tuple)

    def __init__(
        self,
        prompts: Sequence[SavedPrompt],
        presets: Sequence[Preset],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(say("shell.prompts-and-presets-2"), parent, (760, 540))
        self.setMinimumSize(480, 340)
        self.prompts = _Shelf("prompt", f"{say('shell.about-prompts')} {say(_HELP)}", self)
        self.prompts.show_items([_Item(one.name, one.text) for one in prompts])
        self.prompts.changed.connect(self._tell_prompts)
        self.presets = _Shelf(
            "preset",
            f"{say('shell.about-presets')} {say(_HELP)}",
            self,
        )
        self.presets.show_items([_Item(one.name, one.system_prompt or "", one) for one in presets])
        self.presets.changed.connect(self._tell_presets)
        self.tabs = QTabWidget(self)
        self.tabs.addTab(self.prompts, say("shell.prompts"))
        self.tabs.addTab(self.presets, say("shell.presets"))
        tabs_first(self.tabs)
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self.column.addWidget(self.tabs, 1)

    def follow(self, prompts: Sequence[SavedPrompt], presets: Sequence[Preset]) -> None:
        """Take over changes saved elsewhere, so as not to overwrite them."""
        if set(prompts) != set(_prompts(self.prompts.items)):
            self.prompts.show_items([_Item(one.name, one.text) for one in prompts])
        if list(presets) != list(_presets(self.presets.items)):
            self.presets.show_items(
                [_Item(one.name, one.system_prompt or "", one) for one in presets]
            )

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        for shelf in (self.prompts, self.presets):
            # the style sheet, which sets the rows' height, applies from now on
            shelf.list.doItemsLayout()

    def _tell_prompts(self, items: Sequence[_Item]) -> None:
        self.prompts_changed.emit(_prompts(items))

    def _tell_presets(self, items: Sequence[_Item]) -> None:
        self.presets_changed.emit(_presets(items))


def _prompts(items: Sequence[_Item]) -> tuple[SavedPrompt, ...]:
    return tuple(SavedPrompt(one.name, one.text) for one in items if one.text.strip())


def _presets(items: Sequence[_Item]) -> tuple[Preset, ...]:
    return tuple(
        changed(
            one.preset or Preset(name=one.name),
            name=one.name,
            system_prompt=one.text if one.text.strip() else None,
        )
        for one in items
    )


class _Shelf(QWidget):
    """A list, and the content of the chosen item. Names are unique."""

    changed = Signal(list)

    def __init__(self, what: str, about: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._what = what
        self._items: list[_Item] = []
        words = QLabel(about, self)
        words.setObjectName("quiet")
        words.setWordWrap(True)
        self.list = QListWidget(self)
        self.list.setAccessibleName(say("shell.names-of", what=what))
        self.list.setFixedWidth(200)
        self.list.currentRowChanged.connect(self._show)
        self.add = QPushButton(say("shell.new-what", what=what), self)
        self.add.clicked.connect(self._on_add)
        self.delete = QPushButton(say("shell.delete"), self)
        self.delete.clicked.connect(self._on_delete)
        for button in (self.add, self.delete):
            button.setAutoDefault(False)
        self.name = QLineEdit(self)
        self.name.setAccessibleName(say("shell.name-of", what=what))
        self.name.setMaxLength(_LONGEST_NAME)
        self.name.editingFinished.connect(self._on_name)
        self.text = TextEdit(self)
        self.text.setAccessibleName(say("shell.text"))
        self.text.setPlaceholderText(say("shell.text"))
        self.text.setTabChangesFocus(True)
        self.text.textChanged.connect(self._on_text)
        left = QVBoxLayout()
        left.addWidget(self.list, 1)
        row = QHBoxLayout()
        row.addWidget(self.add)
        row.addWidget(self.delete)
        left.addLayout(row)
        right = QVBoxLayout()
        right.addWidget(self.name)
        right.addWidget(self.text, 1)
        both = QHBoxLayout()
        both.addLayout(left)
        both.addLayout(right, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 12, 8, 8)
        layout.setSpacing(8)
        layout.addWidget(words)
        layout.addLayout(both, 1)

    def show_items(self, items: Sequence[_Item]) -> None:
        chosen = self._items[self._row].name if 0 <= self._row < len(self._items) else ""
        self._items = list(items)
        names = [one.name for one in items]
        with QSignalBlocker(self.list):
            self.list.clear()
            self.list.addItems(names)
        # a user writing in an item stays in it
        self._choose(names.index(chosen) if chosen in names else 0)

    @property
    def items(self) -> Sequence[_Item]:
        return self._items

    @property
    def _row(self) -> int:
        return self.list.currentRow()

    def _choose(self, row: int) -> None:
        with QSignalBlocker(self.list):
            self.list.setCurrentRow(min(row, len(self._items) - 1))
        self._show()

    def _show(self) -> None:
        there = 0 <= self._row < len(self._items)
        item = self._items[self._row] if there else _Item("", "")
        with QSignalBlocker(self.text), QSignalBlocker(self.name):
            self.name.setText(item.name)
            self.text.setPlainText(item.text)
        for widget in (self.name, self.text, self.delete):
            widget.setEnabled(there)

    def _on_add(self) -> None:
        self._items.append(_Item(self._free(say("shell.new-what", what=self._what)), ""))
        self.list.addItem(self._items[-1].name)
        self._choose(len(self._items) - 1)
        self.name.setFocus(Qt.FocusReason.OtherFocusReason)
        self.name.selectAll()
        self.changed.emit(list(self._items))

    def _on_delete(self) -> None:
        row = self._row
        if 0 <= row < len(self._items):
            del self._items[row]
            with QSignalBlocker(self.list):
                self.list.takeItem(row)
            self._choose(row)
            self.changed.emit(list(self._items))

    def _on_name(self) -> None:
        row, name = self._row, " ".join(self.name.text().split())
        if not 0 <= row < len(self._items) or name == self._items[row].name:
            return
        self._items[row] = replace(self._items[row], name=self._free(name, row))
        self.list.item(row).setText(self._items[row].name)
        self.name.setText(self._items[row].name)
        self.changed.emit(list(self._items))

    def _on_text(self) -> None:
        row = self._row
        if 0 <= row < len(self._items):
            self._items[row] = replace(self._items[row], text=self.text.toPlainText())
            self.changed.emit(list(self._items))

    def _free(self, name: str, but: int = -1) -> str:
        """The name, with a number if it is taken."""
        name = name or say("shell.new-what", what=self._what)
        taken = {one.name.casefold() for row, one in enumerate(self._items) if row != but}
        found, number = name, 2
        while found.casefold() in taken:
            found, number = f"{name[: _LONGEST_NAME - 5]} {number}", number + 1
        return found

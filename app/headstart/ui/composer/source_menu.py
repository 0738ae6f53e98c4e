"""Menu of folders and files, while a word that begins with # is typed in a message. Main thread."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QListWidgetItem, QPlainTextEdit

from headstart.core.knowledge.values import source_name
from headstart.core.text.matching import score
from headstart.core.text.units import from_units, units
from headstart.ui.composer.popup_list import PopupList
from headstart.ui.kit import icons
from headstart.ui.wording import say

# the word before the caret; a heading of Markdown has a space after its #
_WORD = re.compile(r"(?:^|(?<=\s))#([^\s#]{0,60})$")


class SourceMenu(PopupList):
    """Emits `chosen` with the path of a source, or of a file in one; the typed word is removed.
    Emits `typed` with a word whose files are wanted: `show_files` follows."""

    chosen = Signal(str)
    typed = Signal(str)

    def __init__(self, edit: QPlainTextEdit) -> None:
        self._sources: Callable[[], Sequence[str]] = tuple
        self._found: list[str] = []
        # the word whose files are known, and their paths
        self._files: tuple[str, list[str]] = ("", [])
        # the word for which the user has dismissed the menu
        self._left = ""
        super().__init__(edit, say("composer.folders-and-files"))

    def offer(self, sources: Callable[[], Sequence[str]]) -> None:
        """`sources` returns the paths to choose from."""
        self._sources = sources

    @property
    def titles(self) -> list[str]:
        return [self.list.item(row).text() for row in range(self.list.count())]

    def follow(self) -> None:
        word = self._word() if self.edit.hasFocus() else None
        if word is None:
            self._left = ""
            self.hide()
            return
        if self._left and f"#{word}".startswith(self._left):
            self.hide()
            return
        if word and word != self._files[0]:
            self.typed.emit(word)
        self._show(word)

    def show_files(self, word: str, paths: Sequence[str]) -> None:
        """Offer files inside folders, behind the sources."""
        self._files = word, list(paths)
        self.follow()

    def _show(self, word: str) -> None:
        scored = [(score(word, source_name(one)) if word else 0, one) for one in self._sources()]
        answers = [(points, one) for points, one in scored if points is not None]
        sources = [one for _points, one in sorted(answers, key=lambda it: it[0])]
        known, files = self._files
        # those of a shorter word are narrowed until the new ones come
        fits = bool(known) and word.startswith(known)
        inside = [one for one in files if fits and word.casefold() in one.casefold()]
        self._found = [*sources, *(one for one in inside if one not in sources)]
        icons_of = ["folder-open"] * len(sources) + ["file-text"] * len(inside)
        self.show_rows([_row(*one) for one in zip(self._found, icons_of, strict=False)])

    def dismissed(self) -> None:
        self._left = f"#{self._word() or ''}"

    def choose(self, row: int) -> None:
        word = self._word()
        if word is None:
            return
        cursor = self.edit.textCursor()
        moves = QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor
        cursor.movePosition(*moves, units(f"#{word}"))
        cursor.removeSelectedText()
        self.chosen.emit(self._found[row])

    def _word(self) -> str | None:
        """The word before the caret, without its #; None where there is none."""
        cursor = self.edit.textCursor()
        block = cursor.block()
        before = block.text()[: from_units(block.text(), cursor.position() - block.position())]
        found = _WORD.search(before)
        return None if found is None else found[1]


def _row(source: str, icon: str) -> QListWidgetItem:
    row = QListWidgetItem(icons.icon(icon), source_name(source))
    row.setToolTip(source)
    return row

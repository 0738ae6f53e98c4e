"""Menu of a message that begins with /: the user's prompts and the program's commands. Main
thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from PySide6.QtWidgets import QListWidgetItem, QPlainTextEdit

from headstart.core.text.matching import score
from headstart.ui.composer.popup_list import PopupList
from headstart.ui.kit import icons
from headstart.ui.wording import say

# the most rows, for servers with thousands of entries
_MOST = 200
# the longest text to search for
_LONGEST = 60


class SlashEntry(Struct, frozen=True):
    title: str
    run: Callable[[], object]
    icon: str = ""
    note: str = ""


def _nothing() -> Iterable[SlashEntry]:
    return ()


class SlashMenu(PopupList):
    """`entries` returns every entry, the likeliest first."""

    def __init__(self, edit: QPlainTextEdit) -> None:
        self.entries: Callable[[], Iterable[SlashEntry]] = _nothing
        # further entries, after those
        self._more: Callable[[], Iterable[SlashEntry]] = _nothing
        self._known: Sequence[SlashEntry] | None = None
        self._found: Sequence[SlashEntry] = ()
        # True once the user has dismissed the menu, until the text no longer begins with /
        self._left = False
        super().__init__(edit, say("composer.prompts-and-commands"))

    def add_entries(self, more: Callable[[], Iterable[SlashEntry]]) -> None:
        """Show these entries, too, after the program's own."""
        self._more = more

    @property
    def titles(self) -> list[str]:
        return [one.title for one in self._found]

    def follow(self) -> None:
        text = self.edit.toPlainText()
        if not text.startswith("/"):
            self._known, self._left = None, False
            self.hide()
            return
        wanted = text[1:]
        if self._left or "\n" in text or len(wanted) > _LONGEST or not self.edit.hasFocus():
            self.hide()
            return
        if self._known is None:
            self._known = (*self.entries(), *self._more())
        scored = [(score(wanted, one.title), one) for one in self._known]
        # a smaller score is better; without words all entries stay, in their own order
        answers = [(points, one) for points, one in scored if points is not None]
        found = [one for _points, one in sorted(answers, key=lambda it: it[0])]
        # the others are found by more words
        self._found = (found if wanted.strip() else self._known)[:_MOST]
        self.show_rows([_row(one) for one in self._found])

    def dismissed(self) -> None:
        self._left = True

    def choose(self, row: int) -> None:
        chosen = self._found[row]
        # the searched text is not a message
        self.edit.setPlainText("")
        chosen.run()


def _row(one: SlashEntry) -> QListWidgetItem:
    row = QListWidgetItem(f"{one.title}   {one.note}" if one.note else one.title)
    row.setIcon(icons.icon(one.icon or "slash"))
    return row

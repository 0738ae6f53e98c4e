"""The rows of the list of chats, kept up to date: a change of one chat touches only its own rows.
The item model is notified before and after each change."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from headstart.core.chats.values import ChatSummary, Folder
from headstart.ui.sidebar.rows import ChatRow, Sections, order, rows_of


class Shown(Protocol):
    """The item model."""

    def adding(self, first: int, last: int) -> None: ...

    def added(self) -> None: ...

    def removing(self, first: int, last: int) -> None: ...

    def removed(self) -> None: ...

    def changed(self, first: int, last: int) -> None: ...


class RowList:
    def __init__(self, shown: Shown, today: datetime.date) -> None:
        self._shown = shown
        self._sections = Sections(today)
        self.chats: dict[str, ChatSummary] = {}
        self.folders: tuple[Folder, ...] = ()
        self._paths: set[str] = set()
        self.rows: list[ChatRow] = []

    @property
    def today(self) -> datetime.date:
        """The day on which the headings are based."""
        return self._sections.today

    def made(self, today: datetime.date) -> list[ChatRow]:
        """All rows as of a day, on which the headings are based from now on."""
        self._sections = Sections(today)
        return self._made()

    def set_folders(self, folders: Sequence[Folder]) -> None:
        if tuple(folders) != self.folders:
            self.folders = tuple(folders)
            self._paths = {folder.path for folder in folders}
            self._take(self._made())

    def set_chat(self, chat_id: str, chat: ChatSummary | None) -> None:
        """Add or change one chat; None removes it."""
        old = self.chats.get(chat_id)
        if old == chat:
            return
        number = self.number_of(chat_id)
        self.keep(chat_id, chat)
        if number >= 0 and chat is not None and self._stays(number, chat):
            self.rows[number] = replace(self.rows[number], chat=chat)
            self._shown.changed(number, number)
            return
        if number >= 0:
            alone = (
                number
                and self.rows[number - 1].section
                and (number + 1 == len(self.rows) or self.rows[number + 1].chat is None)
            )
            self._remove(number - 1 if alone else number, number)
        if chat is not None and not chat.archived:
            self._insert(chat)
        for one in (old, chat):
            if one is not None and one.folder:
                self._count_again(one.folder)

    def _stays(self, number: int, chat: ChatSummary) -> bool:
        """True if a changed chat stays in its row."""
        row = self.rows[number]
        old = row.chat
        assert old is not None
        if chat.archived or self._group(old) != self._group(chat):
            return False
        above = self.rows[number - 1].chat if number else None
        below = self.rows[number + 1].chat if number + 1 < len(self.rows) else None
        return (above is None or order(above) <= order(chat)) and (
            below is None or order(chat) <= order(below)
        )

    def _group(self, chat: ChatSummary) -> str:
        """The heading, or the folder as “/path”, below which a chat stands."""
        if chat.folder in self._paths and not (chat.private or chat.pinned):
            return f"/{chat.folder}"
        return self._sections.of(chat)

    def _insert(self, chat: ChatSummary) -> None:
        group = self._group(chat)
        if group.startswith("/"):
            self._insert_in_folder(chat)
            return
        at = 0
        while at < len(self.rows):
            row = self.rows[at]
            in_folders = row.folder is not None or row.depth > 0
            if in_folders and (chat.private or chat.pinned):
                break
            if row.chat is not None and not in_folders and order(row.chat) > order(chat):
                break
            at += 1
        # a heading directly above belongs to the row after the new one
        if at and self.rows[at - 1].section and self.rows[at - 1].section != group:
            at -= 1
        new = [ChatRow(chat=chat)]
        if not any(row.section == group for row in self.rows[:at]):
            new.insert(0, ChatRow(section=group))
        self._add(at, new)

    def _insert_in_folder(self, chat: ChatSummary) -> None:
        number = self.number_of_folder(chat.folder)
        if number < 0:
            # inside a folded folder
            return
        row = self.rows[number]
        if row.folder is None or row.folder.folded:
            return
        at = number + 1
        while at < len(self.rows):
            other = self.rows[at].chat
            if other is None or self.rows[at].depth != row.depth + 1:
                break
            if order(other) > order(chat):
                break
            at += 1
        self._add(at, [ChatRow(chat=chat, depth=row.depth + 1)])

    def _count_again(self, path: str) -> None:
        """Update the count of a folder, and those of its parents."""
        while path:
            number = self.number_of_folder(path)
            if number >= 0:
                begin = f"{path}/"
                count = sum(
                    not (one.archived or one.private or one.pinned)
                    and (one.folder == path or one.folder.startswith(begin))
                    for one in self.chats.values()
                )
                self.rows[number] = replace(self.rows[number], count=count)
                self._shown.changed(number, number)
            path = path.rpartition("/")[0]

    def _add(self, at: int, new: list[ChatRow]) -> None:
        self._shown.adding(at, at + len(new) - 1)
        self.rows[at:at] = new
        self._shown.added()

    def _remove(self, first: int, last: int) -> None:
        self._shown.removing(first, last)
        del self.rows[first : last + 1]
        self._shown.removed()

    def _take(self, wanted: list[ChatRow]) -> None:
        """Take over new rows, without touching equal ones at both ends."""
        rows = self.rows
        shorter, first = min(len(rows), len(wanted)), 0
        while first < shorter and rows[first] == wanted[first]:
            first += 1
        last = 0
        while last < shorter - first and rows[-1 - last] == wanted[-1 - last]:
            last += 1
        old, new = len(rows) - last, len(wanted) - last
        if old - first == new - first:
            if new > first:
                self.rows = wanted
                self._shown.changed(first, new - 1)
            return
        if old > first:
            self._remove(first, old - 1)
        if new > first:
            self._add(first, wanted[first:new])

    def number_of(self, chat_id: str) -> int:
        """The row number of a chat; -1 for none."""
        for number, row in enumerate(self.rows):
            if row.chat is not None and row.chat.id == chat_id:
                return number
        return -1

    def number_of_folder(self, path: str) -> int:
        for number, row in enumerate(self.rows):
            if row.folder is not None and row.folder.path == path:
                return number
        return -1

    def keep(self, chat_id: str, chat: ChatSummary | None) -> None:
        if chat is None:
            self.chats.pop(chat_id, None)
        else:
            self.chats[chat_id] = chat

    def _made(self) -> list[ChatRow]:
        return rows_of(self.chats.values(), self.folders, self._sections)

"""The lines of the list of chats: headings, folders and chats in their order. Pure."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from headstart.core.chats.values import ChatSummary, Folder
from headstart.core.text.locale import locale
from headstart.ui.wording import say

PRIVATE, PINNED = "sidebar.private", "sidebar.pinned"


class ChatRow(Struct, frozen=True):
    """A heading, a folder with the number of its chats, or a chat; `depth`: number of parents."""

    section: str = ""
    chat: ChatSummary | None = None
    folder: Folder | None = None
    depth: int = 0
    count: int = 0


class Sections:
    """Headings of chats by their last use, as of one day."""

    def __init__(self, today: datetime.date) -> None:
        self.today = today
        # the beginning of each section in milliseconds
        self._ages = [
            (_midnight(today), say("sidebar.today")),
            (_midnight(today - datetime.timedelta(days=1)), say("sidebar.yesterday")),
            (_midnight(today - datetime.timedelta(days=7)), say("sidebar.previous-7-days")),
            (_midnight(today - datetime.timedelta(days=30)), say("sidebar.previous-30-days")),
        ]

    def of(self, chat: ChatSummary) -> str:
        if chat.private:
            return say(PRIVATE)
        if chat.pinned:
            return say(PINNED)
        for begin, title in self._ages:
            if chat.updated_at >= begin:
                return title
        month = locale().month(datetime.datetime.fromtimestamp(chat.updated_at / 1000).date())
        # a heading, as “Today” is
        return month[:1].upper() + month[1:]


def rows_of(
    chats: Iterable[ChatSummary], folders: Sequence[Folder], sections: Sections
) -> list[ChatRow]:
    """Rows of private chats, pinned ones, folders, and the others by last use; without archived
    ones."""
    ordered = sorted((chat for chat in chats if not chat.archived), key=order)
    inside: dict[str, list[ChatSummary]] = defaultdict(list)
    known = {folder.path for folder in folders}
    rows: list[ChatRow] = []
    loose: list[ChatSummary] = []
    section = ""
    for chat in ordered:
        if chat.private or chat.pinned:
            heading = sections.of(chat)
            if heading != section:
                section = heading
                rows.append(ChatRow(section=heading))
            rows.append(ChatRow(chat=chat))
        elif chat.folder in known:
            inside[chat.folder].append(chat)
        else:
            loose.append(chat)
    rows += _folder_rows(folders, inside)
    for chat in loose:
        heading = sections.of(chat)
        if heading != section:
            section = heading
            rows.append(ChatRow(section=heading))
        rows.append(ChatRow(chat=chat))
    return rows


def order(chat: ChatSummary) -> tuple[bool, bool, int]:
    """Sort key of a chat: smaller ones stand further up."""
    return not chat.private, not chat.pinned, -chat.updated_at


def _folder_rows(
    folders: Sequence[Folder], inside: dict[str, list[ChatSummary]]
) -> Iterable[ChatRow]:
    below: dict[str, list[Folder]] = defaultdict(list)
    for folder in folders:
        below[folder.path.rpartition("/")[0]].append(folder)
    left = [(folder, 0) for folder in reversed(below[""])]
    while left:
        folder, depth = left.pop()
        yield ChatRow(folder=folder, depth=depth, count=_count(folder.path, inside))
        if folder.folded:
            continue
        for chat in inside[folder.path]:
            yield ChatRow(chat=chat, depth=depth + 1)
        left += [(one, depth + 1) for one in reversed(below[folder.path])]


def _count(path: str, inside: dict[str, list[ChatSummary]]) -> int:
    begin = f"{path}/"
    return sum(len(chats) for one, chats in inside.items() if one == path or one.startswith(begin))


def _midnight(day: datetime.date) -> int:
    return int(datetime.datetime(day.year, day.month, day.day).timestamp() * 1000)

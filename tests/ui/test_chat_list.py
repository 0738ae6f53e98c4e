"""The list of chats changes by the row, and is what reading all of them again would give."""

from __future__ import annotations

import datetime

from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from headstart.core.chats.values import ChatSummary, Folder
from headstart.ui.sidebar.chat_list import SECTION, ChatListModel
from headstart.ui.sidebar.rows import ChatRow
from tests.support.plain import plain

NOW = datetime.datetime.now().timestamp() * 1000
DAY = 86_400_000

summaries = st.builds(
    ChatSummary,
    id=st.sampled_from([f"c{number}" for number in range(12)]),
    title=st.sampled_from(["Rivers", "Hills"]),
    updated_at=st.integers(0, 45).map(lambda days: int(NOW - days * DAY / 2)),
    pinned=st.booleans(),
    messages=st.integers(1, 5),
    private=st.booleans(),
    folder=st.sampled_from(["", "", "Travel", "Travel/Lisbon", "Work", "gone"]),
    archived=st.sampled_from([False, False, True]),
)
FOLDERS = [
    Folder("Work", position=1),
    Folder("Travel", position=2),
    Folder("Travel/Lisbon", position=3),
    Folder("Folded", position=4, folded=True),
]


def _rows(model: ChatListModel) -> list[tuple[object, object]]:
    return [
        (model.data(model.index(number), SECTION), model.data(model.index(number)))
        for number in range(model.rowCount())
    ]


def _whole_rows(model: ChatListModel) -> list[ChatRow | None]:
    return [model.row_at(model.index(number)) for number in range(model.rowCount())]


def _order(chat: ChatSummary) -> tuple[bool, bool, int]:
    return not chat.private, not chat.pinned, -chat.updated_at


@settings(max_examples=150, deadline=None)
@given(changes=st.lists(st.tuples(summaries, st.booleans()), max_size=25))
def test_changing_one_row_at_a_time_gives_the_same_list(
    qapp: QApplication, changes: list[tuple[ChatSummary, bool]]
) -> None:
    model, kept = ChatListModel(), dict[str, ChatSummary]()
    model.set_folders(FOLDERS)
    for chat, gone in changes:
        if any(_order(chat) == _order(other) for other in kept.values()):
            # which of two stands first is the database's to say
            continue
        if gone:
            kept.pop(chat.id, None)
        else:
            kept[chat.id] = chat
        model.set_chat(chat.id, None if gone else chat)
        whole = ChatListModel()
        whole.set_folders(FOLDERS)
        whole.set_chats(sorted(kept.values(), key=_order), {})
        assert _whole_rows(model) == _whole_rows(whole)


def test_the_end_of_a_reply_touches_one_row(qapp: QApplication) -> None:
    model = ChatListModel()
    chats = [ChatSummary(f"c{number}", "t", int(NOW - number), False, 1) for number in range(500)]
    model.set_chats(chats, {})
    touched: list[tuple[int, int]] = []
    model.dataChanged.connect(lambda first, last: touched.append((first.row(), last.row())))
    model.modelReset.connect(lambda: touched.append((0, 10_000)))
    model.rowsInserted.connect(lambda _parent, first, last: touched.append((first, last)))
    model.set_chat("c0", ChatSummary("c0", "t", int(NOW + 5), False, 2))
    assert touched == [(1, 1)]
    model.set_chat("c300", ChatSummary("c300", "t", int(NOW + 9), False, 2))
    assert touched[1:] == [(1, 1)]


def test_headings_follow_the_day(qapp: QApplication) -> None:
    day = [datetime.date.fromtimestamp(NOW / 1000)]
    model = ChatListModel(today=lambda: day[0])
    model.set_chats([ChatSummary("c", "Rivers", int(NOW), False, 1)], {})
    assert plain(str(_rows(model)[0][0])) == "Today"
    day[0] += datetime.timedelta(days=1)
    model.set_chat("d", ChatSummary("d", "Hills", int(NOW + DAY), False, 1))
    sections = [plain(str(section)) for section, _ in _rows(model) if section]
    assert sections == ["Today", "Yesterday"]

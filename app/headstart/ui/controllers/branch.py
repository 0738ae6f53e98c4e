"""Opening chats, and the messages shown of the open one. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import (
    BranchChanged,
    ChatChanged,
    ChatsChanged,
    FoldersChanged,
    ReplyEnded,
    What,
)
from headstart.chat.replies import Replies
from headstart.core.chats.values import PAGE, BranchPage, Chat, Folder, Message, MessageStatus
from headstart.core.errors import EnvironmentProblem
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat

# messages loaded before one that is opened directly
AROUND = 20
# changes of the open chat's row that are shown
_SHOWN = (What.TITLE, What.PINNED, What.MODEL, What.FOLDER)


class BranchController(QObject):
    chat_shown = Signal(Chat, BranchPage, bool)  # Chat, BranchPage, same chat as before
    shown = Signal(bool)  # after chat_shown: same chat as before
    reached = Signal(str)  # after shown: the id of the wanted message
    earlier_shown = Signal(BranchPage)  # messages before the shown ones
    message_changed = Signal(Message)
    message_shown = Signal()  # after message_changed
    chat_changed = Signal(Chat)  # the row of the open chat
    # which chat is open after the start
    known = Signal()
    stayed = Signal(str)  # id of the open chat, when the wanted one cannot be opened
    stats_shown = Signal(object)  # TurnStats of the last reply, or None

    def __init__(
        self,
        branches: Branches,
        replies: Replies,
        open_chat: OpenChat,
        tasks: Tasks,
        broadcast: Broadcast,
    ) -> None:
        super().__init__()
        self._branches = branches
        self._replies = replies
        self._open = open_chat
        self._tasks = tasks
        self._serial = 0
        # the chat that is being opened, or is open
        self._wanted = open_chat.id
        # the chat that was open when it was deleted
        self._left = ""
        # number of shown messages, and the id of the first if earlier ones exist
        self._count = 0
        self._first: str | None = None
        # a chat's id, the id of the message to show, and the number of messages needed for it
        self._reaching: tuple[str, str, int] | None = None
        # the last chat, while it is opened at the start
        self._last = ""
        broadcast.on(ChatChanged, self._on_chat)
        broadcast.on(BranchChanged, lambda change: self.refresh(change.chat_id))
        broadcast.on(ReplyEnded, self._on_reply_ended)
        broadcast.on(ChatsChanged, lambda _change: self._on_many())
        broadcast.on(FoldersChanged, lambda _change: self._on_folders())

    def new_chat(self, private: bool = False, folder: Folder | None = None) -> None:
        self._serial += 1
        self._open.begin(private, folder)
        self._wanted = self._open.id
        self._count, self._first = 0, None
        self.chat_shown.emit(self._open.chat, BranchPage([], 0), False)
        self.stats_shown.emit(None)
        self.shown.emit(False)
        if folder is not None:
            self._tasks.spawn(self._take_folders(self._open.id))

    def open_chat(self, chat_id: str) -> None:
        if chat_id != self._wanted:
            self._wanted = chat_id
            self._tasks.spawn(self._show(chat_id))

    def open_at(self, chat_id: str, message_id: str) -> None:
        """Open a chat at a message on any of its branches."""
        self._wanted = chat_id
        self._tasks.spawn(self._open_at(chat_id, message_id))

    async def _open_at(self, chat_id: str, message_id: str) -> None:
        if not await self._branches.is_shown(chat_id, message_id):
            self._check_switch(chat_id)
        count = await self._branches.reach(chat_id, message_id)
        if count is not None:
            # earlier messages are loaded too, so that the reader sees the context
            self._reaching = (chat_id, message_id, count + AROUND)
        await self._show(chat_id)

    def _check_switch(self, chat_id: str) -> None:
        """Refuse to leave the branch while a reply is being written: it would be out of sight."""
        if self._replies.reply_in(chat_id) is not None:
            raise EnvironmentProblem("reply-being-written")

    def open_last(self, chat_id: str, message_id: str = "") -> None:
        """Open the chat that was open when the program ended, if it still exists and the user has
        not begun anything else; at a message, if one was in view."""
        if chat_id:
            self._tasks.spawn(self._open_last(chat_id, message_id))
        else:
            self.known.emit()

    async def _open_last(self, chat_id: str, message_id: str) -> None:
        begun = self._open.id
        try:
            there = await self._branches.chat(chat_id) is not None
            shown = (
                there and bool(message_id) and await self._branches.is_shown(chat_id, message_id)
            )
            if not there or self._wanted != begun or not self._is_untouched(begun):
                return
            # what is typed until then keeps the new chat open
            self._wanted = self._last = chat_id
            if shown:
                await self._open_at(chat_id, message_id)
            else:
                await self._show(chat_id)
        finally:
            self._last = ""
            self.known.emit()

    def _is_untouched(self, begun: str) -> bool:
        """True while the new chat of the start is open, and nothing was written in it."""
        opened = self._open
        return opened.id == begun and not (opened.unsent or opened.parts or opened.stored)

    def leave(self, chat_ids: Sequence[str]) -> None:
        """Begin a new chat if the open one is among these deleted chats."""
        if self._wanted in chat_ids:
            self._left = self._wanted
            self.new_chat()

    def come_back(self, chat_ids: Sequence[str]) -> None:
        """Reopen a restored chat: the one that was open before, or the only one."""
        if len(chat_ids) == 1 or self._left in chat_ids:
            self.open_chat(self._left if self._left in chat_ids else chat_ids[0])
        self._left = ""

    def refresh(self, chat_id: str) -> None:
        """Show the current stored state of the open chat."""
        if chat_id == self._wanted == self._open.id:
            self._tasks.spawn(self._show(chat_id))

    def _on_many(self) -> None:
        """Refresh the open chat: it may have new messages, too."""
        if self._open.stored:
            self.refresh(self._open.id)
        elif self._open.chat.folder:
            self._tasks.spawn(self._take_folders(self._open.id))

    def _on_folders(self) -> None:
        if self._open.chat.folder:
            self._on_many()

    async def _take_folders(self, chat_id: str) -> None:
        """Show the options of its folders in a new chat."""
        chat = await self._branches.chat(chat_id)
        if chat is not None and chat_id == self._open.id and not self._open.stored:
            self._open.open(chat)
            self.chat_shown.emit(chat, BranchPage([], 0), True)

    def show_earlier(self) -> None:
        """Load earlier messages when the reader nears the first shown one."""
        if self._first is not None:
            self._tasks.spawn(self._show_earlier())

    async def _show(self, chat_id: str) -> None:
        """Load a chat and show it, unless the user has chosen another one meanwhile."""
        self._serial += 1
        serial = self._serial
        try:
            await self._read_and_show(chat_id, serial)
        finally:
            if serial == self._serial and self._wanted == chat_id != self._open.id:
                # it cannot be read, or is gone
                self._wanted = self._open.id
                self.stayed.emit(self._open.id)

    async def _read_and_show(self, chat_id: str, serial: int) -> None:
        chat = await self._branches.chat(chat_id)
        # the messages on show stay
        count = max(PAGE, self._count + 2 if chat_id == self._open.id else 0)
        if self._reaching is not None and self._reaching[0] == chat_id:
            count = max(count, self._reaching[2])
        page = await self._branches.page(chat_id, count=count)
        if serial != self._serial or chat is None or chat_id != self._wanted:
            return
        if chat_id == self._last and not self._is_untouched(self._open.id):
            # the words would be in two chats
            return
        same_chat = chat_id == self._open.id
        self._open.open(chat)
        self._count = len(page.messages)
        self._first = page.messages[0].id if page.earlier else None
        self.chat_shown.emit(chat, page, same_chat)
        if not same_chat or not _is_open(page):
            stats = [message.stats for message in page.messages if message.stats is not None]
            self.stats_shown.emit(stats[-1] if stats else None)
        self.shown.emit(same_chat)
        reaching, self._reaching = self._reaching, None
        if reaching is not None and reaching[0] == chat_id:
            self.reached.emit(reaching[1])

    async def _show_earlier(self) -> None:
        chat_id, before = self._open.id, self._first
        if before is None:
            return
        # no second request for the same messages
        self._first, serial = None, self._serial
        try:
            page = await self._branches.page(chat_id, before)
        except BaseException:
            if serial == self._serial:
                self._first = before
            raise
        if serial == self._serial and chat_id == self._open.id and page.messages:
            self._first = page.messages[0].id if page.earlier else None
            self._count += len(page.messages)
            self.earlier_shown.emit(page)

    def _on_reply_ended(self, change: ReplyEnded) -> None:
        if change.chat_id == self._open.id:
            self._tasks.spawn(self._show_message(change.chat_id, change.message_id))

    async def _show_message(self, chat_id: str, message_id: str) -> None:
        """Show the changed state of one message."""
        message = None
        try:
            message = await self._branches.message(chat_id, message_id)
        finally:
            if chat_id == self._open.id:
                if message is not None:
                    self.message_changed.emit(message)
                # also if it cannot be read: the reply is over
                self.message_shown.emit()
                if message is not None:
                    self.stats_shown.emit(message.stats)

    def _on_chat(self, change: ChatChanged) -> None:
        if change.what in _SHOWN and change.chat_id == self._open.id:
            self._tasks.spawn(self._take_over(change.chat_id))

    async def _take_over(self, chat_id: str) -> None:
        """Take over the changed row of the open chat."""
        chat = await self._branches.chat(chat_id)
        if chat is not None and chat_id == self._open.id:
            self._open.open(chat)
            self.chat_changed.emit(chat)


def _is_open(page: BranchPage) -> bool:
    """True if the last message is being written."""
    return bool(page.messages) and page.messages[-1].status is MessageStatus.OPEN

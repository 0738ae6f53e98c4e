"""Opening chats, and what the transcript shows of the open one. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import BranchChanged, ChatChanged, ChatsChanged, ReplyEnded, What
from headstart.chat.replies import Replies
from headstart.core.chats.values import PAGE, BranchPage, Chat, Folder, Message, MessageStatus
from headstart.core.errors import EnvironmentProblem
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat

# messages before one that is shown by itself
AROUND = 20
# parts of a chat's own row that are shown while it is open
_SHOWN = (What.TITLE, What.PINNED, What.MODEL)


class BranchController(QObject):
    chat_shown = Signal(Chat, BranchPage, bool)  # Chat, BranchPage, same chat as before
    shown = Signal(bool)  # after it: same chat as before
    reached = Signal(str)  # after it: the id of the message that was wanted
    earlier_shown = Signal(BranchPage)  # before what is shown
    message_changed = Signal(Message)
    message_shown = Signal()  # after it
    chat_changed = Signal(Chat)  # the own row of the open one
    stayed = Signal(str)  # id of the open chat, when the wanted one cannot be opened
    stats_shown = Signal(object)  # TurnFigures of the last reply, or None

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
        # the one that was open when it was deleted
        self._left = ""
        # how many messages are shown, and the first of them if others come before
        self._count = 0
        self._first: str | None = None
        # a chat, a message of it that is to be shown, and how many messages are needed for that
        self._reaching: tuple[str, str, int] | None = None
        broadcast.on(ChatChanged, self._on_chat)
        broadcast.on(BranchChanged, lambda change: self.refresh(change.chat_id))
        broadcast.on(ReplyEnded, self._on_reply_ended)
        broadcast.on(ChatsChanged, lambda _change: self._on_many())

    def new_chat(self, private: bool = False, folder: Folder | None = None) -> None:
        self._serial += 1
        self._open.begin(private, folder)
        self._wanted = self._open.id
        self._count, self._first = 0, None
        self.chat_shown.emit(self._open.chat, BranchPage([], 0), False)
        self.stats_shown.emit(None)
        self.shown.emit(False)

    def open_chat(self, chat_id: str) -> None:
        if chat_id != self._wanted:
            self._wanted = chat_id
            self._tasks.spawn(self._show(chat_id))

    def open_at(self, chat_id: str, message_id: str) -> None:
        """Open a chat at a message, on whatever branch it lies."""
        self._wanted = chat_id
        self._tasks.spawn(self._open_at(chat_id, message_id))

    async def _open_at(self, chat_id: str, message_id: str) -> None:
        if not await self._branches.is_shown(chat_id, message_id):
            self._check_switch(chat_id)
        count = await self._branches.reach(chat_id, message_id)
        if count is not None:
            # earlier messages are read too, so that the reader sees where they are
            self._reaching = (chat_id, message_id, count + AROUND)
        await self._show(chat_id)

    def _check_switch(self, chat_id: str) -> None:
        """Not while a reply is written: it would be out of sight."""
        if self._replies.reply_in(chat_id) is not None:
            raise EnvironmentProblem("reply-being-written")

    def open_last(self, chat_id: str, message_id: str = "") -> None:
        """Open the chat that was open when the program ended, if it is still there, and the user
        has not begun anything else; at a message, if that was being read."""
        if chat_id:
            self._tasks.spawn(self._open_last(chat_id, message_id))

    async def _open_last(self, chat_id: str, message_id: str) -> None:
        begun, there = self._open.id, await self._branches.chat(chat_id) is not None
        untouched = self._wanted == self._open.id == begun and not self._open.unsent
        if there and untouched and not self._open.stored:
            if message_id and await self._branches.is_shown(chat_id, message_id):
                self.open_at(chat_id, message_id)
            else:
                self.open_chat(chat_id)

    def leave(self, chat_ids: Sequence[str]) -> None:
        """These chats are deleted: another one is open then."""
        if self._wanted in chat_ids:
            self._left = self._wanted
            self.new_chat()

    def come_back(self, chat_ids: Sequence[str]) -> None:
        """These chats were brought back: the one that was open is open again."""
        if len(chat_ids) == 1 or self._left in chat_ids:
            self.open_chat(self._left if self._left in chat_ids else chat_ids[0])
        self._left = ""

    def refresh(self, chat_id: str) -> None:
        """Show the open chat as it is stored now."""
        if chat_id == self._wanted == self._open.id:
            self._tasks.spawn(self._show(chat_id))

    def _on_many(self) -> None:
        """Messages may have come to the open chat too."""
        if self._open.stored:
            self.refresh(self._open.id)

    def show_earlier(self) -> None:
        """The reader comes near the first message that is shown."""
        if self._first is not None:
            self._tasks.spawn(self._show_earlier())

    async def _show(self, chat_id: str) -> None:
        """Read a chat and show it, unless the user wants another one by then."""
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
        # the shown page stays
        count = max(PAGE, self._count + 2 if chat_id == self._open.id else 0)
        if self._reaching is not None and self._reaching[0] == chat_id:
            count = max(count, self._reaching[2])
        page = await self._branches.page(chat_id, count=count)
        if serial != self._serial or chat is None or chat_id != self._wanted:
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
        # nobody asks for the same ones twice
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
        """One message is other than it was."""
        message = None
        try:
            message = await self._branches.message(chat_id, message_id)
        finally:
            if chat_id == self._open.id:
                if message is not None:
                    self.message_changed.emit(message)
                # also where it cannot be read: the reply is over
                self.message_shown.emit()
                if message is not None:
                    self.stats_shown.emit(message.stats)

    def _on_chat(self, change: ChatChanged) -> None:
        if change.what in _SHOWN and change.chat_id == self._open.id:
            self._tasks.spawn(self._take_over(change.chat_id))

    async def _take_over(self, chat_id: str) -> None:
        """The open chat's own row changed."""
        chat = await self._branches.chat(chat_id)
        if chat is not None and chat_id == self._open.id:
            self._open.open(chat)
            self.chat_changed.emit(chat)


def _is_open(page: BranchPage) -> bool:
    """True if the last message is being written."""
    return bool(page.messages) and page.messages[-1].status is MessageStatus.OPEN

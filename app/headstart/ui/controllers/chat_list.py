"""The list of chats: its lines, renaming, pinning, deleting and restoring. Main thread."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import (
    BranchChanged,
    ChatChanged,
    ChatsChanged,
    ReplyEnded,
    ReplyEvent,
    What,
)
from headstart.chat.chat_list import ChatList
from headstart.chat.replies import Replies
from headstart.core.events import (
    DocumentsRead,
    Loading,
    Prefilling,
    TextAdded,
    ToolAsked,
    ToolDone,
    ToolStarted,
    Waiting,
)
from headstart.ui.kit.tasks import Tasks
from headstart.ui.wording import say

# interval at which the list updates the speed of a reply
SPEED_SECONDS = 0.5
WRITING, WAITING = "controllers.writing", "controllers.waiting-for-another-chat"
FOR_YOU = "controllers.waiting-for-you"
# delays of the check for changes by other programs, which takes microseconds in another thread
SOON_MS, WATCH_MS = 500, 60_000
# changes that a line of the list does not show
_HIDDEN = (What.MODEL, What.OPTIONS)


class ChatListController(QObject):
    listed = Signal(list, dict)  # of ChatSummary; status texts of chats with a reply in progress
    line_changed = Signal(str, object)  # chat id, ChatSummary or None if deleted
    status_changed = Signal(str, object)  # chat id, text or None
    deleted = Signal(list, str)  # chat ids, and the title of the first
    closed = Signal(list)  # ids of private chats, deleted for good
    restored = Signal(list)  # chat ids
    left_trash = Signal(list)  # chat ids: restored, or deleted for good
    trashed = Signal(list)  # of TrashedChat

    def __init__(
        self,
        chat_list: ChatList,
        replies: Replies,
        tasks: Tasks,
        broadcast: Broadcast,
    ) -> None:
        super().__init__()
        self._chat_list = chat_list
        self._replies = replies
        self._tasks = tasks
        self._titles: dict[str, str] = {}
        # status texts of chats with a reply in progress
        self._statuses: dict[str, str] = {}
        self._speed_shown = 0.0
        self._files = QFileSystemWatcher(self)
        self._files.fileChanged.connect(self._on_file)
        # many writes lead to one check
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SOON_MS)
        self._soon.timeout.connect(self._look)
        # some disks do not report the writes of other computers
        self._watch = QTimer(self)
        self._watch.setInterval(WATCH_MS)
        self._watch.timeout.connect(self._look)
        broadcast.on(ChatChanged, self._on_chat)
        broadcast.on(BranchChanged, lambda change: tasks.spawn(self._list_one(change.chat_id)))
        broadcast.on(ReplyEnded, lambda change: tasks.spawn(self._list_one(change.chat_id)))
        broadcast.on(ReplyEvent, self._on_reply)
        broadcast.on(ChatsChanged, lambda _change: self.list())

    def watch(self) -> None:
        """Start watching for changes of the chats by other programs."""
        self._look()
        self._watch.start()

    def close(self) -> None:
        self._watch.stop()
        self._soon.stop()
        self._files.removePaths(self._files.files())

    def _look(self) -> None:
        # a recreated file must be added to the watcher again
        watched = {*self._files.files()}
        missing = [path for path in self._chat_list.elsewhere.files() if str(path) not in watched]
        if there := [str(path) for path in missing if path.exists()]:
            self._files.addPaths(there)
        self._tasks.spawn(self._chat_list.elsewhere.look())

    def _on_file(self, _path: str) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def list(self) -> None:
        self._tasks.spawn(self._list())

    def rename(self, chat_id: str, title: str) -> None:
        self._tasks.spawn(self._chat_list.rename(chat_id, title))

    def pin(self, chat_id: str, pinned: bool) -> None:
        self._tasks.spawn(self._chat_list.pin(chat_id, pinned))

    def delete(self, chat_ids: Sequence[str]) -> None:
        self._tasks.spawn(self._delete(chat_ids))

    def close_private(self, chat_ids: Sequence[str]) -> None:
        """Delete private chats for good, with everything kept for them."""
        self._tasks.spawn(self._close_private(chat_ids))

    def restore(self, chat_ids: Sequence[str]) -> None:
        """Restore deleted chats."""
        self._tasks.spawn(self._restore(chat_ids))

    def sweep_trash(self) -> None:
        """Remove chats that have been in the trash long enough: once now, and again every hour."""
        self._tasks.spawn(self._chat_list.sweep())

    def list_trash(self) -> None:
        self._tasks.spawn(self._list_trash())

    def delete_for_good(self, chat_ids: Sequence[str]) -> None:
        """Delete chats in the trash for good."""
        self._tasks.spawn(self._delete_for_good(chat_ids))

    async def _list_trash(self) -> None:
        self.trashed.emit(await self._chat_list.trash())

    async def _delete_for_good(self, chat_ids: Sequence[str]) -> None:
        try:
            await self._chat_list.delete_for_good(chat_ids)
        finally:
            self.left_trash.emit(chat_ids)
            await self._list_trash()

    async def _list(self) -> None:
        summaries = await self._chat_list.summaries()
        self._titles = {chat.id: chat.title for chat in summaries}
        writing = self._replies.writing_chats()
        self.listed.emit(summaries, {one: self._statuses.get(one, say(WRITING)) for one in writing})

    async def _list_one(self, chat_id: str) -> None:
        summary = await self._chat_list.summary(chat_id)
        if summary is not None:
            self._titles[chat_id] = summary.title
        writing = self._replies.reply_in(chat_id) is not None
        self.line_changed.emit(chat_id, summary)
        self._say(chat_id, self._statuses.get(chat_id, say(WRITING)) if writing else None)

    def _say(self, chat_id: str, status: str | None) -> None:
        if status is None:
            self._statuses.pop(chat_id, None)
        else:
            self._statuses[chat_id] = status
        self.status_changed.emit(chat_id, status)

    async def _delete(self, chat_ids: Sequence[str]) -> None:
        gone = []
        try:
            for chat_id in chat_ids:
                await self._chat_list.delete(chat_id)
                gone.append(chat_id)
        finally:
            if gone:
                self.deleted.emit(gone, self._titles.get(gone[0], ""))
            await self._list_trash()

    async def _close_private(self, chat_ids: Sequence[str]) -> None:
        self.closed.emit(list(chat_ids))
        for chat_id in chat_ids:
            await self._chat_list.delete(chat_id)
        await self._chat_list.delete_for_good(chat_ids)

    async def _restore(self, chat_ids: Sequence[str]) -> None:
        try:
            for chat_id in chat_ids:
                await self._chat_list.undo_delete(chat_id)
        finally:
            self.left_trash.emit(chat_ids)
            await self._list_trash()
        self.restored.emit(list(chat_ids))

    def _on_chat(self, change: ChatChanged) -> None:
        if change.what not in _HIDDEN:
            self._tasks.spawn(self._list_one(change.chat_id))

    def _on_reply(self, change: ReplyEvent) -> None:
        event, now = change.event, time.monotonic()
        if isinstance(event, ToolAsked | ToolStarted | ToolDone):
            asked = isinstance(event, ToolAsked)
            self._say(change.chat_id, say(FOR_YOU if asked else WRITING))
            return
        if isinstance(event, Waiting | Loading | Prefilling | DocumentsRead):
            waiting = isinstance(event, Waiting)
            self._say(change.chat_id, say(WAITING if waiting else WRITING))
            return
        if not isinstance(event, TextAdded) or now - self._speed_shown < SPEED_SECONDS:
            return
        if event.tokens > 1 and event.seconds > 0:
            self._speed_shown = now
            speed = (event.tokens - 1) / event.seconds
            self._say(change.chat_id, say("controllers.writing-speed", speed=speed))

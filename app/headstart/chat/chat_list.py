"""The list of chats: begin, rename, pin, delete and restore; the trash. Event loop's thread."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from headstart.chat.background import Background, Timer
from headstart.chat.changes import What
from headstart.chat.databases import Databases
from headstart.chat.elsewhere import Elsewhere
from headstart.chat.preferences import Preferences
from headstart.chat.prefixes import Prefixes
from headstart.chat.replies import Replies
from headstart.chat.titles import NEW_CHAT
from headstart.core.chats.values import ChatDraft, ChatSummary, Folder, TrashedChat
from headstart.core.errors import EnvironmentProblem

log = logging.getLogger(__name__)

# how long a chat deleted without trash can be restored; the window offers it for a bit less
UNDO_SECONDS = 10.0
# seconds between two sweeps of the trash, and the milliseconds of a day
SWEEP_SECONDS, DAY_MS = 3600.0, 86_400_000


class ChatList:
    def __init__(
        self,
        databases: Databases,
        replies: Replies,
        prefixes: Prefixes,
        preferences: Preferences,
        background: Background,
    ) -> None:
        self._databases = databases
        self.elsewhere = Elsewhere(databases)
        self._replies = replies
        self._prefixes = prefixes
        self._preferences = preferences
        self._background = background
        # deleted chats about to be purged
        self._undo: dict[str, Timer] = {}

    async def summaries(self) -> list[ChatSummary]:
        """All lines of the list, private chats first."""
        return await self._databases.summaries()

    async def summary(self, chat_id: str) -> ChatSummary | None:
        """A chat's line in the list; None if it is not listed."""
        return await self._databases.summary(chat_id)

    def begin(self, private: bool = False, folder: Folder | None = None) -> ChatDraft:
        """A new chat, stored with its first message; a private one is never written to disk. In a
        folder it takes the folder's model."""
        return self._databases.begin(private, folder)

    def abandon(self, chat_id: str) -> None:
        """Drop a chat that has no message yet."""
        self._databases.end_begun(chat_id)

    def is_begun(self, chat_id: str) -> bool:
        """True if the chat has no message yet and is not stored."""
        return self._databases.begun(chat_id) is not None

    async def rename(self, chat_id: str, title: str) -> None:
        title = " ".join(title.split()) or NEW_CHAT
        await self._databases.change(
            chat_id, What.TITLE, lambda store: store.chats.rename(chat_id, title, by_user=True)
        )

    async def pin(self, chat_id: str, pinned: bool) -> None:
        await self._databases.change(
            chat_id, What.PINNED, lambda store: store.chats.pin(chat_id, pinned)
        )

    async def move(self, chat_ids: Sequence[str], folder: str) -> None:
        """Move chats into a folder; "" for none."""

        async def write() -> None:
            await self._databases.on_disk.run(lambda store: store.chats.move(chat_ids, folder))
            self._tell_all(chat_ids, What.FOLDER)

        await self._databases.outbox.save((What.FOLDER.value, *chat_ids), write)

    async def set_tags(self, chat_id: str, tags: Sequence[str]) -> None:
        clean = dict.fromkeys(" ".join(tag.split()) for tag in tags)
        await self._databases.change(
            chat_id, What.TAGS, lambda store: store.chats.set_tags(chat_id, [*filter(None, clean)])
        )

    async def add_tag(self, chat_ids: Sequence[str], tag: str) -> None:
        """Add a tag to those of these chats that lack it."""
        for summary in await self.summaries():
            if summary.id in chat_ids and tag not in summary.tags:
                await self.set_tags(summary.id, (*summary.tags, tag))

    async def archive(self, chat_ids: Sequence[str], archived: bool) -> None:
        """Take chats off the list, to be found by search and in the archive; or put them back."""

        async def write() -> None:
            for storage in self._databases.all():
                await storage.run(lambda store: store.chats.archive(chat_ids, archived))
            self._tell_all(chat_ids, What.ARCHIVED)

        await self._databases.outbox.save((What.ARCHIVED.value, *chat_ids), write)

    async def set_unseen(self, chat_id: str, unseen: bool) -> None:
        """Mark a chat whose reply the user has not seen yet, or clear the mark."""
        await self._databases.change(
            chat_id, What.UNSEEN, lambda store: store.chats.set_unseen(chat_id, unseen)
        )

    def _tell_all(self, chat_ids: Sequence[str], what: What) -> None:
        for chat_id in chat_ids:
            self._databases.tell(chat_id, what)

    async def delete(self, chat_id: str) -> None:
        """Move the chat to the trash, from where it can be restored for the number of days in the
        settings. A private chat, or any chat if that is 0, is purged after `UNDO_SECONDS`."""
        async with self._replies.starting:
            self._replies.stop(chat_id)
            await self._databases.change(
                chat_id, What.DELETED, lambda store: store.chats.delete(chat_id)
            )
        self._end_undo(chat_id)
        if self._databases.is_private(chat_id) or not self._days:
            self._undo[chat_id] = self._background.later(
                UNDO_SECONDS, lambda: self._background.run(self._end_of_undo(chat_id))
            )

    async def undo_delete(self, chat_id: str) -> None:
        """Restore a deleted chat; raise EnvironmentProblem if it is gone."""
        self._end_undo(chat_id)
        # one that waits for the disk would delete the chat later
        waits = self._databases.outbox.forget((What.DELETED.value, chat_id))
        if not waits and not await self._databases.run(
            chat_id, lambda store: store.chats.restore(chat_id)
        ):
            raise EnvironmentProblem("deleted-chat-gone")
        self._databases.tell(chat_id, What.RESTORED)

    # --- the trash -----------------------------------------------------------------------

    async def trash(self) -> list[TrashedChat]:
        """Deleted chats that can be restored, the last one first."""
        return await self._databases.trashed()

    async def delete_for_good(self, chat_ids: Sequence[str]) -> None:
        """Purge these chats from the trash. Raises EnvironmentProblem."""
        for chat_id in chat_ids:
            self._end_undo(chat_id)
            await self._purge(chat_id)

    async def sweep(self) -> None:
        """Purge chats whose days in the trash are over. Called at the start; repeats itself every
        hour."""
        before = self._background.now() - self._days * DAY_MS
        try:
            for chat in await self.trash():
                if chat.deleted_at < before and chat.id not in self._undo:
                    await self._purge(chat.id)
        except EnvironmentProblem as problem:
            log.warning("the trash is swept later: %s", problem)
        finally:
            self._background.later(SWEEP_SECONDS, lambda: self._background.run(self.sweep()))

    async def end_undo(self) -> None:
        """Finish deletions waiting for an undo: the program ends."""
        for chat_id in list(self._undo):
            self._undo[chat_id].cancel()
            await self._end_of_undo(chat_id)

    @property
    def _days(self) -> int:
        return self._preferences.current.trash_days

    def _end_undo(self, chat_id: str) -> None:
        timer = self._undo.pop(chat_id, None)
        if timer is not None:
            timer.cancel()

    async def _end_of_undo(self, chat_id: str) -> None:
        if self._undo.pop(chat_id, None) is None:
            return
        try:
            await self._purge(chat_id)
        except EnvironmentProblem as problem:
            log.warning("a deleted chat is removed later: %s", problem)

    async def _purge(self, chat_id: str) -> None:
        """Remove every trace of the chat. Raises EnvironmentProblem."""
        # before the purge, so that none of its text is written meanwhile; after it, for text
        # that was already on its way
        private = self._databases.is_private(chat_id)
        if not private:
            self._prefixes.forget_words()
        gone = await self._databases.of(chat_id).purge(chat_id)
        if chat_id in gone:
            if not private:
                self._prefixes.forget_words()
            # skipped for a chat restored meanwhile
            await self._prefixes.forget(chat_id, for_good=True)
            self._databases.tell(chat_id, What.PURGED)

"""Versions and branches of the open chat: edit, insert, copy, remove, retry. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from headstart.chat.conversation import Conversation
from headstart.chat.replies import Replies
from headstart.chat.versions import Versions
from headstart.core.chats.tree import RemovedBranch
from headstart.core.chats.values import FinishReason, Message, Role
from headstart.ui.controllers.consent import Consent
from headstart.ui.open_chat import OpenChat


class VersionsController(QObject):
    branched_off = Signal(str)  # the new chat's id
    removed = Signal(RemovedBranch, int)  # RemovedBranch, number of messages
    mapped = Signal(list)  # of TreeNode
    compared = Signal(list, str)  # versions of a message, and the id of the shown one

    def __init__(
        self,
        versions: Versions,
        conversation: Conversation,
        replies: Replies,
        open_chat: OpenChat,
        consent: Consent,
    ) -> None:
        super().__init__()
        self._versions = versions
        self._conversation = conversation
        self._replies = replies
        self._open = open_chat
        self._consent = consent

    def submit_edit(self, message_id: str, text: str, after: str) -> None:
        """Save an edited text; `after`: "answer" has it answered, "more" continued."""
        chat_id = self._open.id
        if after == "answer":
            self._ask(lambda: self._conversation.edit(chat_id, message_id, text))
        elif after == "more":
            self._ask(lambda: self._save_and_continue(chat_id, message_id, text))
        else:
            self._ask(lambda: self._save(chat_id, message_id, text))

    def insert(self, after: str | None, role: Role, text: str) -> None:
        """Insert a message without having it answered."""
        chat_id = self._open.id
        self._ask(lambda: self._insert(chat_id, after, role, text))

    def answer(self, message_id: str) -> None:
        chat_id = self._open.id
        self._ask(lambda: self._conversation.answer(chat_id, message_id))

    def branch_off(self, message_id: str) -> None:
        chat_id = self._open.id
        self._ask(lambda: self._branch_off(chat_id, message_id))

    def remove(self, message_id: str) -> None:
        chat_id = self._open.id
        self._ask(lambda: self._remove(chat_id, message_id))

    def put_back(self, removed: RemovedBranch) -> None:
        self._ask(lambda: self._versions.put_back(removed))

    def map(self) -> None:
        chat_id = self._open.id
        self._ask(lambda: self._map(chat_id))

    def compare(self, message_id: str) -> None:
        """Emit all versions of a message, for a view side by side."""
        chat_id = self._open.id
        self._ask(lambda: self._compare(chat_id, message_id))

    def try_several(self, message_id: str, count: int) -> None:
        """Write several new versions of a reply in turn; stopping one stops the rest."""
        chat_id = self._open.id
        self._ask(lambda: self._try_several(chat_id, message_id, count))

    def _ask(self, verb: object) -> None:
        self._consent.asking(verb)  # type: ignore[arg-type]

    async def _save(self, chat_id: str, message_id: str, text: str) -> None:
        await self._versions.save(chat_id, message_id, text)

    async def _save_and_continue(self, chat_id: str, message_id: str, text: str) -> None:
        new = await self._versions.save(chat_id, message_id, text)
        await self._conversation.continue_reply(chat_id, new)

    async def _insert(self, chat_id: str, after: str | None, role: Role, text: str) -> None:
        await self._versions.insert(chat_id, after, role, text)

    async def _branch_off(self, chat_id: str, message_id: str) -> None:
        self.branched_off.emit(await self._versions.branch_off(chat_id, message_id))

    async def _remove(self, chat_id: str, message_id: str) -> None:
        removed = await self._versions.remove(chat_id, message_id)
        self.removed.emit(removed, len(removed.tree.messages))

    async def _map(self, chat_id: str) -> None:
        nodes = await self._versions.map(chat_id)
        if chat_id == self._open.id:
            self.mapped.emit(nodes)

    async def _compare(self, chat_id: str, message_id: str) -> None:
        self.compared.emit(await self._versions.siblings(chat_id, message_id), message_id)

    async def _try_several(self, chat_id: str, message_id: str, count: int) -> None:
        at = message_id
        for _ in range(count):
            await self._conversation.regenerate(chat_id, at, None, _VARIED)
            await self._replies.ended(chat_id)
            written = await self._last(chat_id, at)
            if written is None or written.stats is None:
                return
            if written.stats.finish is FinishReason.CANCELLED:
                return
            at = written.id

    async def _last(self, chat_id: str, message_id: str) -> Message | None:
        versions = await self._versions.siblings(chat_id, message_id)
        return versions[-1] if versions else None


# temperature without which all versions in a greedily decoded chat would be the same
_VARIED = 0.8

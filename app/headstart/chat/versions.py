"""Actions on versions and branches that need no model: save, insert, copy, remove, list. On the
event loop's thread."""

from __future__ import annotations

from msgspec.structs import replace

from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import BranchChanged, ChatChanged, What
from headstart.chat.databases import Databases
from headstart.chat.replies import Replies
from headstart.core.chats.edited import with_text
from headstart.core.chats.parts import Part, ReasoningPart, TextPart, ToolPart, text_part
from headstart.core.chats.tree import ChatTree, RemovedBranch, TreeNode
from headstart.core.chats.values import Chat, Message, MessageStatus, Role, new_id, now_ms
from headstart.core.errors import EnvironmentProblem
from headstart.storage.worker import Store


class Versions:
    """Every action that changes the chat raises EnvironmentProblem while a reply is written."""

    def __init__(
        self, databases: Databases, branches: Branches, replies: Replies, broadcast: Broadcast
    ) -> None:
        self._databases = databases
        self._branches = branches
        self._replies = replies
        self._broadcast = broadcast

    async def save(self, chat_id: str, message_id: str, text: str) -> str:
        """Add a version of a message with another text; return its id. Reasoning and attachments
        are kept."""
        async with self._replies.starting:
            before = await self._message(chat_id, message_id)
            new = replace(
                before,
                id=new_id(),
                parts=_with_text(before.parts, text),
                status=MessageStatus.COMPLETE,
                created_at=now_ms(),
                error=None,
                stats=None,
            )
            await self._add(new)
        return new.id

    async def insert(self, chat_id: str, after: str | None, role: Role, text: str) -> str:
        """Insert a message after another one (None: as the first), without an answer; return its
        id. The messages that followed stay, as another version."""
        async with self._replies.starting:
            self._replies.check_free(chat_id)
            status = MessageStatus.COMPLETE
            new = Message(new_id(), chat_id, after, role, status, text_part(text), now_ms())
            await self._add(new)
        return new.id

    async def branch_off(self, chat_id: str, message_id: str) -> str:
        """Copy a branch up to a message into a new chat; return its id."""
        chat = await self._chat(chat_id)

        def copy(store: Store) -> Chat:
            tree = store.transfers.read(chat_id)
            if tree is None:
                raise EnvironmentProblem("chat-gone")
            path = _path_to(tree, message_id)
            new = _copied(chat, path)
            store.transfers.add([new])
            return new.chat

        new = await self._databases.run(chat_id, copy)
        if self._databases.is_private(chat_id):
            self._databases.keep_private(new.id)
        self._broadcast.tell(ChatChanged(new.id, What.ADDED))
        return new.id

    async def remove(self, chat_id: str, message_id: str) -> RemovedBranch:
        """Remove a message and all messages below it, on all branches; `put_back` undoes it."""
        async with self._replies.starting:
            self._replies.check_free(chat_id)

            def remove(store: Store) -> RemovedBranch | None:
                if len(store.branches.below(chat_id, message_id)) == len(
                    store.branches.map(chat_id)
                ):
                    raise EnvironmentProblem("branch-is-all")
                return store.branches.remove(chat_id, message_id)

            removed = await self._databases.run(chat_id, remove)
        if removed is None:
            raise EnvironmentProblem("message-gone")
        self._broadcast.tell(BranchChanged(chat_id))
        return removed

    async def put_back(self, removed: RemovedBranch) -> None:
        chat_id = removed.tree.chat.id
        async with self._replies.starting:
            self._replies.check_free(chat_id)
            await self._databases.run(chat_id, lambda store: store.branches.put_back(removed))
        self._broadcast.tell(BranchChanged(chat_id))

    async def map(self, chat_id: str) -> list[TreeNode]:
        """All messages of a chat, each after its parent."""
        if self._databases.begun(chat_id) is not None:
            return []
        return await self._databases.run(chat_id, lambda store: store.branches.map(chat_id))

    async def siblings(self, chat_id: str, message_id: str) -> list[Message]:
        """All versions of a message, including itself."""
        return await self._databases.run(
            chat_id, lambda store: store.branches.siblings(chat_id, message_id)
        )

    # --- inside --------------------------------------------------------------------------

    async def _chat(self, chat_id: str) -> Chat:
        chat = await self._branches.chat(chat_id)
        if chat is None:
            raise EnvironmentProblem("chat-gone")
        return chat

    async def _message(self, chat_id: str, message_id: str) -> Message:
        self._replies.check_free(chat_id)
        found = await self._branches.message(chat_id, message_id)
        if found is None:
            raise EnvironmentProblem("message-gone")
        return found

    async def _add(self, message: Message) -> None:
        await self._databases.run(message.chat_id, lambda store: store.messages.add([message]))
        self._broadcast.tell(BranchChanged(message.chat_id))


def _with_text(parts: tuple[Part, ...], text: str) -> tuple[Part, ...]:
    if any(isinstance(part, ToolPart) for part in parts):
        return with_text(parts, text)
    kept = [part for part in parts if not isinstance(part, TextPart)]
    thought = [part for part in kept if isinstance(part, ReasoningPart)]
    others = [part for part in kept if not isinstance(part, ReasoningPart)]
    return (*thought, *others, *text_part(text))


def _path_to(tree: ChatTree, message_id: str) -> list[Message]:
    """The messages from the first to this one."""
    by_id = {message.id: message for message in tree.messages}
    path: list[Message] = []
    at = by_id.get(message_id)
    if at is None:
        raise EnvironmentProblem("message-gone")
    while at is not None:
        path.append(at)
        at = by_id.get(at.parent_id) if at.parent_id is not None else None
    return path[::-1]


def _copied(chat: Chat, path: list[Message]) -> ChatTree:
    """A copy of the chat with this path only, with new ids."""
    now = now_ms()
    title = f"{chat.title} (branch)"
    new = replace(chat, id=new_id(), title=title, created_at=now, updated_at=now, pinned=False)
    values: list[Message] = []
    active: dict[str | None, str] = {}
    for message in path:
        parent = values[-1].id if values else None
        status = MessageStatus.STOPPED if message.status is MessageStatus.OPEN else message.status
        copy = replace(message, id=new_id(), chat_id=new.id, parent_id=parent, status=status)
        active[parent] = copy.id
        values.append(copy)
    return ChatTree(new, tuple(values), active)

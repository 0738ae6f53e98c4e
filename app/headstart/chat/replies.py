"""The replies being written: begun, stopped, stored when they end.

On the event loop's thread. At most one reply per chat.
"""

from __future__ import annotations

import asyncio
import logging

from msgspec.structs import replace

from headstart.chat.background import Background
from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import BranchChanged, ReplyEnded, ReplyEvent, Trouble
from headstart.chat.databases import Databases
from headstart.chat.reply import Reply, ReplyStream
from headstart.core.chats.values import Message
from headstart.core.errors import EnvironmentProblem, NotWritten
from headstart.core.told import about

log = logging.getLogger(__name__)


class Replies:
    def __init__(
        self, databases: Databases, branches: Branches, broadcast: Broadcast, background: Background
    ) -> None:
        self._databases = databases
        self._branches = branches
        self._broadcast = broadcast
        self._background = background
        self._running: dict[str, Reply] = {}
        # callers of `ended`
        self._waiting: list[asyncio.Future[None]] = []
        # a second Enter waits for this lock and then finds that a reply is being written
        self.starting = asyncio.Lock()

    def reply_in(self, chat_id: str) -> Reply | None:
        """The reply being written in this chat."""
        return self._running.get(chat_id)

    def writing_chats(self) -> frozenset[str]:
        return frozenset(self._running)

    def check_free(self, chat_id: str) -> None:
        """Raise EnvironmentProblem if no reply can begin."""
        if chat_id in self._running:
            raise EnvironmentProblem("reply-being-written")
        if self._background.closing:
            raise EnvironmentProblem("closing")

    def begin(self, answer: Message, stream: ReplyStream) -> None:
        """Begin to follow a reply: broadcast its events, and store it when it ends."""
        chat_id, message_id = answer.chat_id, answer.id
        reply = self._running[chat_id] = Reply(
            self._databases.of(chat_id),
            answer,
            stream,
            lambda event: self._broadcast.tell(ReplyEvent(chat_id, message_id, event)),
        )
        self._background.run(self._drive(reply))

    async def ended(self, chat_id: str) -> None:
        """Wait until no reply is being written in a chat."""
        while chat_id in self._running:
            ended = asyncio.get_running_loop().create_future()
            self._waiting.append(ended)
            await ended

    def stop(self, chat_id: str) -> None:
        reply = self._running.get(chat_id)
        if reply is not None:
            reply.stop()

    async def stop_all(self) -> None:
        """Stop all replies, including those being started."""
        async with self.starting:
            for reply in list(self._running.values()):
                reply.stop()

    async def _drive(self, reply: Reply) -> None:
        try:
            await reply.run()
        except NotWritten as problem:
            log.warning("a reply is stored later: %s", problem)
            await self._show_unsaved(reply, problem)
            self._keep(reply, problem)
        except EnvironmentProblem as problem:
            log.error("a reply could not be stored: %s", problem)
            self._broadcast.tell(Trouble(about("reply-not-saved", problem.told)))
            await self._show_unsaved(reply, problem)
        except Exception as error:
            # our bug: the reply still ends, and reports it
            log.exception("a reply could not be stored")
            fault = EnvironmentProblem("text-not-storable", kind=type(error).__name__)
            self._broadcast.tell(Trouble(about("reply-not-saved", fault.told)))
            await self._show_unsaved(reply, fault)
        finally:
            self._running.pop(reply.chat_id, None)
            waiting, self._waiting = self._waiting, []
            for one in waiting:
                if not one.done():
                    one.set_result(None)
            self._broadcast.tell(ReplyEnded(reply.chat_id, reply.message_id))

    def _keep(self, reply: Reply, problem: EnvironmentProblem) -> None:
        """Store a reply once the disk takes it."""

        async def write() -> None:
            await reply.store()
            self._branches.end_unsaved(reply.message_id)
            self._broadcast.tell(BranchChanged(reply.chat_id))

        self._databases.outbox.keep(("reply", reply.message_id), write, problem)

    async def _show_unsaved(self, reply: Reply, problem: EnvironmentProblem) -> None:
        """Keep an unstored reply on the screen, to be copied; the journal lacks only its end."""
        message = await self._branches.message(reply.chat_id, reply.message_id)
        if message is not None:
            self._branches.show_unsaved(
                replace(
                    message,
                    parts=reply.parts,
                    status=reply.status,
                    error=about("not-saved-yet", problem.told).text,
                )
            )

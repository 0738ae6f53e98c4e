"""Answers from a queue instead of a model, for the verbs of `chat`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from headstart.chat.agent.permissions import Permissions
from headstart.chat.agent.running import RunningCalls
from headstart.chat.agent.shortening import Shortening
from headstart.chat.agent.stream import ToolDesk
from headstart.chat.agent.toolbox import Toolbox
from headstart.chat.answering.answerer import Answering
from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import Change
from headstart.chat.chat_list import ChatList
from headstart.chat.choices import Choices
from headstart.chat.conversation import Conversation
from headstart.chat.databases import Databases
from headstart.chat.finding import Finding
from headstart.chat.knowledge.asking import PassageFinder
from headstart.chat.knowledge.searching import KnowledgeSearching
from headstart.chat.knowledge.tools import FileTools
from headstart.chat.preferences import Preferences
from headstart.chat.prefixes import Prefixes
from headstart.chat.replies import Replies
from headstart.chat.requests import Asked
from headstart.chat.tool_servers.entries import ToolEntries
from headstart.chat.tool_servers.making import make_tool_servers
from headstart.chat.transfer.export_request import ExportJobRun
from headstart.chat.transfer.exporting import Exporting
from headstart.core.chats.parts import Origin, PartKind
from headstart.core.chats.values import Chat, FinishReason, TurnStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import Failed, Finished, GenerationEvent, TextAdded, TextPiece
from headstart.core.knowledge.pinned import DocumentText
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.core.told import Told, told
from headstart.storage.adapters.keychain import Keychain
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.knowledge.index import KnowledgeIndex
from headstart.storage.worker import Storage
from headstart.tools.session import ToolSession
from tests.support.manual_time import ManualBackground


class MemoryKeychain(Keychain):
    """The edge: no keychain of the system is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, str] = {}

    def get(self, account: str) -> str | None:
        return self.kept.get(account)

    def set(self, account: str, key: str) -> Told | None:
        self.kept[account] = key
        return None

    def forget(self, account: str) -> None:
        self.kept.pop(account, None)


MODEL = ModelRef(Path("/models/harbour.gguf"), "harbour", 1)


def stats(finish: FinishReason = FinishReason.END) -> TurnStats:
    return TurnStats(finish, 10, 0, 0.1, 0.2, 5, 0.5)


class Answer:
    """A reply that is written piece by piece; `hold` keeps its end back until it is stopped.
    `calls`: tools that it calls at its end, with their arguments; `ends`: another end than
    usual."""

    def __init__(
        self,
        pieces: Sequence[str] = ("Yes.",),
        hold: bool = False,
        fails: str = "",
        calls: Sequence[tuple[str, str]] = (),
        ends: FinishReason | Told | None = None,
    ) -> None:
        self._ends = ends
        self._pieces = pieces
        self._calls = calls
        self._fails = fails
        self._stopped = asyncio.Event()
        if not hold:
            self._stopped.set()
        self._finish = FinishReason.CANCELLED if hold else FinishReason.END

    def cancel(self) -> None:
        self._stopped.set()

    async def __aiter__(self) -> AsyncIterator[GenerationEvent]:
        for number, text in enumerate(self._pieces, 1):
            piece = TextPiece(PartKind.TEXT, text, Origin.TARGET)
            yield TextAdded((piece,), number, 0.1 * number)
        for number, (name, arguments) in enumerate(self._calls, 1):
            call = TextPiece(PartKind.TOOL_CALL, arguments, Origin.TARGET, name, number)
            yield TextAdded((call,), 1, 0.1)
        await self._stopped.wait()
        if isinstance(self._ends, Told):
            yield Failed(self._ends)
            return
        yield (
            Failed(told("as-written", message=self._fails, remedy=""))
            if self._fails
            else Finished(stats(self._ends or self._finish))
        )


class FakeAnswerer:
    """`answers` are given in their order; `asked` is what was to be answered."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[Asked] = []
        self.refuses = False

    def check(self, model: ModelRef) -> None:
        if self.refuses:
            raise EnvironmentProblem(
                "as-written", message="This model may not be asked.", remedy=""
            )

    async def answer(self, model: ModelRef, asked: Asked) -> Answer:
        self.asked.append(asked)
        return self.answers.pop(0) if self.answers else Answer()

    async def count(self, model: ModelRef, texts: Sequence[str]) -> Sequence[int]:
        """Every four characters are a token."""
        return [-(-len(text) // 4) for text in texts]


class Clock:
    """Shows the seconds that a test wants."""

    now = 0.0


class Passages(NamedTuple):
    """No whole documents."""

    passages: PassageFinder
    surveying: Any = None

    async def documents(self, _chat: Chat) -> tuple[DocumentText, ...]:
        return ()

    def lost(self, *_given: object) -> list[str]:
        return []

    async def name_state(self, *_given: object) -> None:
        """Nothing is computed."""


class OneModel:
    """Every chat is answered by `MODEL`."""

    async def of_chat(self, chat: Chat) -> AnyModel:
        return MODEL


class Talk:
    """The verbs of a conversation over a real database, and what was told."""

    def __init__(self, folder: Path, tools: ToolSession | None = None) -> None:
        """`tools`: in place of the child process that speaks with tool servers."""
        self.storage = Storage(folder / "headstart.db", folder / "backups")
        self.broadcast, self.background = Broadcast(), ManualBackground()
        self.databases = Databases(self.storage, self.broadcast)
        self.branches = Branches(self.databases, self.broadcast)
        self.replies = Replies(self.databases, self.branches, self.broadcast, self.background)
        self.answerer = FakeAnswerer()
        file = SettingsFile(folder / "settings.json")
        self.preferences = Preferences(file.load()[0], file)
        self.permissions = Permissions(self.preferences)
        self.finding = Finding(self.databases, self.background, self.broadcast)
        self.running, self.clock = RunningCalls(), Clock()
        self.searching = KnowledgeSearching(KnowledgeIndex(None), None, tuple)  # type: ignore[arg-type]
        self.toolbox = Toolbox(self.databases, self.finding, FileTools(self.searching))
        self.keychain = MemoryKeychain()
        self.servers = make_tool_servers(
            self.preferences,
            ToolEntries(self.preferences, self.keychain, self.background.beginnings),
            self.broadcast,
            self.databases,
            folder / "tools",
            tools,
        )
        self.desk = ToolDesk(
            self.toolbox,
            self.servers.lending,
            self.permissions,
            self.running,
            Shortening(self.databases),
            lambda: self.clock.now,
        )
        self.passages = PassageFinder(
            self.searching,
            self.preferences,
            lambda _model: 0,
        )
        answering = Answering(
            OneModel(),  # type: ignore[arg-type]
            self.answerer,
            self.answerer,  # type: ignore[arg-type]
            self.desk,
            Passages(self.passages),
        )
        self.answering = answering
        self.conversation = Conversation(
            self.databases, self.branches, self.replies, answering, self.broadcast
        )
        self.prefixes = Prefixes(None, self.preferences, self.broadcast)
        self.chat_list = ChatList(
            self.databases, self.replies, self.prefixes, self.preferences, self.background
        )
        self.choices = Choices(self.databases, answering, self.preferences, self.prefixes)
        self.exporting = Exporting(self.databases, self.replies.reply_in, None, self.preferences)
        self.told: list[Change] = []

    def listen(self, *kinds: type) -> None:
        for kind in kinds:
            self.broadcast.on(kind, self.told.append)

    async def say(self, chat_id: str, text: str) -> None:
        await self.conversation.send(chat_id, text)
        await self.written(chat_id)

    async def export(self, chat_id: str, path: Path, form: str = "markdown") -> None:
        wanted = self.exporting.wanted([chat_id], form, reasoning=True, stats=False, branches=False)
        await self.exporting.write(wanted, path, ExportJobRun())

    async def written(self, chat_id: str) -> None:
        """Wait for the reply to be stored."""
        while self.replies.reply_in(chat_id) is not None:
            await asyncio.sleep(0.005)

    async def texts(self, chat_id: str) -> list[str]:
        return [message.text for message in await self.branches.whole(chat_id)]

    async def close(self) -> None:
        await self.replies.stop_all()
        await self.servers.running.close()
        await self.background.close(3)
        await self.databases.close()
        self.storage.close()
        self.preferences.close()

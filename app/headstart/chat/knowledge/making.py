"""Makes all that answers questions from files. On the event loop's thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from headstart.chat.background import Background
from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatChanged, KnowledgeChanged, What
from headstart.chat.databases import Databases
from headstart.chat.knowledge.asking import PassageFinder
from headstart.chat.knowledge.chat_files import ChatFiles
from headstart.chat.knowledge.costs import PromptCosts
from headstart.chat.knowledge.indexing import Indexing
from headstart.chat.knowledge.knowledge import Knowledge
from headstart.chat.knowledge.meaning import Beside, Meaning
from headstart.chat.knowledge.pictures import PagePictures
from headstart.chat.knowledge.pinning import Pinning
from headstart.chat.knowledge.searching import KnowledgeSearching
from headstart.chat.knowledge.survey import Surveying
from headstart.chat.knowledge.tools import FileTools
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.prefixes import Prefixes
from headstart.core.chats.values import Chat
from headstart.core.knowledge.pinned import DocumentText
from headstart.core.models.ref import AnyModel
from headstart.engine.runner import Runner
from headstart.storage.knowledge.index import KnowledgeIndex


class KnowledgeWork(Struct, frozen=True):
    """`passages` for questions, `pinning` for whole documents, `surveying` for questions to all of
    them, `pictures` of pages."""

    knowledge: Knowledge
    passages: PassageFinder
    tools: FileTools
    pinning: Pinning
    surveying: Surveying
    pictures: PagePictures

    async def documents(self, chat: Chat) -> tuple[DocumentText, ...]:
        """The whole documents that stand first in a chat's prompts."""
        return await self.pinning.texts(chat)

    def lost(self, chat: Chat, documents: Sequence[DocumentText]) -> list[str]:
        """The names of a chat's documents whose text is gone."""
        there = {one.digest for one in documents}
        return [one.name for one in self.pinning.documents(chat) if one.digest not in there]

    async def name_state(
        self, chat: Chat, documents: Sequence[DocumentText], model: AnyModel
    ) -> None:
        """Name the owners of what the model computes for the documents."""
        await self.surveying.name_state(chat, documents, model)

    async def close(self) -> None:
        """End the threads and children."""
        self.pictures.close()
        await self.knowledge.close()


def make_knowledge(
    path: Path | None,
    models: Models,
    chats: tuple[Databases, Branches],
    parts: tuple[Preferences, Broadcast, Background],
    engine: tuple[Runner, Callable[[], dict[str, int]], Prefixes],
) -> KnowledgeWork:
    """`engine`: it, tokens of context of each loaded model by key, and stored prefixes."""
    preferences, broadcast, background = parts
    databases, branches = chats
    runner, contexts, prefixes = engine
    beside = Beside(background, broadcast, lambda: runner.working)
    index = KnowledgeIndex(path)
    meaning = Meaning(index, models, preferences, beside)
    indexing = Indexing(index, broadcast, background)
    searching = KnowledgeSearching(index, meaning, lambda: preferences.current.knowledge.sources)

    def on_change(change: KnowledgeChanged) -> None:
        # passages that are new have no vector yet
        state = indexing.states.get(change.source)
        if state is not None and not state.waiting:
            meaning.go_on()

    broadcast.on(KnowledgeChanged, on_change)
    knowledge = Knowledge(index, indexing, meaning, searching, (preferences, background))
    facts = PromptCosts(models, branches, (preferences, broadcast), contexts)
    pinning = Pinning(knowledge, broadcast, facts)

    passages = PassageFinder(searching, preferences, lambda model: contexts().get(model.key, 0))
    files = searching, pinning, passages
    surveying = Surveying(files, databases, parts[:2], contexts, (facts, prefixes))

    def on_settled(_change: KnowledgeChanged) -> None:
        # an index that is being made has no text of what comes
        if indexing.is_whole(preferences.current.knowledge.sources):
            background.run(surveying.tidy())

    broadcast.on(KnowledgeChanged, on_settled)

    async def forget(chat_id: str) -> None:
        await knowledge.unpin(chat_id)
        on_settled(KnowledgeChanged(""))

    def on_chat(change: ChatChanged) -> None:
        if change.what is What.PURGED:
            background.run(forget(change.chat_id))

    broadcast.on(ChatChanged, on_chat)
    pictures = PagePictures(background)
    tools = FileTools(searching, ChatFiles(passages, pinning, branches))
    return KnowledgeWork(knowledge, passages, tools, pinning, surveying, pictures)

"""Folders and files that questions are answered from, and searches of them. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QObject, QTimer, Signal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatChanged, KnowledgeChanged, What
from headstart.chat.knowledge.knowledge import LOOK_SECONDS, FolderSize
from headstart.chat.knowledge.making import KnowledgeWork
from headstart.chat.knowledge.searching import KnowledgeFound
from headstart.chat.knowledge.survey import SurveyPlan
from headstart.core.chats.search import parsed
from headstart.core.chats.values import Chat
from headstart.core.knowledge.values import SourceState
from headstart.ui.controllers.passages import PassagesController
from headstart.ui.controllers.pinning import PinningController
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat
from headstart.ui.source_words import part_of, snippet_of

# progress is shown at most this often, and typing is looked up after a pause of this length
_SHOWN_MS, _TYPED_MS = 400, 120
# hits of a search without a model
MOST_HITS = 40
# passages beside chats in their search
MOST_GLANCED = 5


class KnowledgeState(Struct, frozen=True):
    """All sources; `embedder`: the name of the model that compares meanings, "" without one;
    `size`: bytes of the index."""

    sources: tuple[SourceState, ...] = ()
    embedder: str = ""
    size: int = 0


class KnowledgeController(QObject):
    listed = Signal(KnowledgeState)
    # the folder is large: the user is asked before it is read
    large_found = Signal(FolderSize)
    # the query and what was found
    found = Signal(str, KnowledgeFound)
    # a query of the search of chats, and the best passages of files for it with their snippets
    glanced = Signal(str, list)
    # the cost of a question to every document of the open chat
    survey_planned = Signal(SurveyPlan)
    # the sources that the open chat's questions are answered from
    chosen = Signal(tuple)

    def __init__(
        self, work: KnowledgeWork, open_chat: OpenChat, tasks: Tasks, broadcast: Broadcast
    ) -> None:
        super().__init__()
        self._knowledge, self._passages = work.knowledge, work.passages
        self._surveying = work.surveying
        self.passages = PassagesController(work, tasks)
        self.pinning = PinningController(work.pinning, open_chat, tasks)
        self._open = open_chat
        self._tasks = tasks
        self._serial = self._glances = 0
        self._query = ""
        self._due = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._due.timeout.connect(self.list)
        self._typing = QTimer(self, singleShot=True, interval=_TYPED_MS)
        self._typing.timeout.connect(lambda: self._tasks.spawn(self._find(self._query)))
        # other programs change files while the chat is open
        self._watching = QTimer(self, interval=int(LOOK_SECONDS * 1000))
        self._watching.timeout.connect(self.look)
        broadcast.on(KnowledgeChanged, lambda _change: self._soon())
        broadcast.on(ChatChanged, self._on_chat)
        open_chat.opened.connect(self.show_chosen)
        open_chat.changed.connect(self.show_chosen)

    @property
    def sources(self) -> tuple[str, ...]:
        return self._knowledge.sources

    def list(self) -> None:
        """Emit `listed`."""
        self._tasks.spawn(self._list())

    def add(self, path: str, asked: bool = False) -> None:
        """Add a folder or a file; a large one emits `large_found` unless the user was `asked`."""
        self._tasks.spawn(self._add(path, asked))

    def make_source(self, path: str) -> None:
        """Make a path a source, unless it is one."""
        if path not in self._knowledge.sources:
            self._knowledge.add(path)

    def remove(self, path: str) -> None:
        self._tasks.spawn(self._remove(path))

    def begin_again(self, path: str) -> None:
        """Look at a source that was held."""
        self._knowledge.begin_again(path)

    def rebuild(self) -> None:
        """Delete the index, and read all files again."""
        self._tasks.spawn(self._rebuild())

    def look(self) -> None:
        """Look for changed files in the folders of the open chat."""
        self._knowledge.look(self._of_open_chat())

    def look_everywhere(self) -> None:
        """Look for changed files in all folders: the window is in front again."""
        if self._knowledge.sources:
            self._knowledge.look()

    def settings_changed(self) -> None:
        """Another model compares meanings now, or none."""
        self._knowledge.meaning.look_again()
        self.list()

    def find(self, query: str) -> None:
        """Search all files for a query that is typed; `found` follows."""
        self._query = query
        self._typing.start()

    def glance(self, query: str) -> None:
        """Search the files for what is looked for in the chats; `glanced` follows."""
        self._glances += 1
        if self._knowledge.sources and query.strip() and not parsed(query)[1].any:
            self._tasks.spawn(self._glance(query, self._glances))
        else:
            self.glanced.emit(query, [])

    def plan_survey(self) -> None:
        """Find the documents of the open chat; `survey_planned` follows."""
        self._tasks.spawn(self._plan_survey(self._open.chat))

    def show_chosen(self) -> None:
        self.pinning.show_pinned()
        sources = self._of_open_chat()
        self.chosen.emit(sources)
        if sources:
            self._watching.start()
        else:
            self._watching.stop()

    # --- inside --------------------------------------------------------------------------

    def _of_open_chat(self) -> tuple[str, ...]:
        chat = self._open.chat
        return self._passages.sources(chat, chat.model or "")

    def _soon(self) -> None:
        if not self._due.isActive():
            self._due.start()

    async def _list(self) -> None:
        states = await self._knowledge.states()
        model = await self._knowledge.meaning.model() if states else None
        name = "" if model is None else model.ref.name
        self.listed.emit(KnowledgeState(tuple(states), name, self._knowledge.size))

    async def _add(self, path: str, asked: bool) -> None:
        size = await self._knowledge.measure(path)
        if size.many and not asked:
            self.large_found.emit(size)
            return
        self._knowledge.add(path)
        await self._list()

    async def _remove(self, path: str) -> None:
        await self._knowledge.remove(path)
        self.show_chosen()
        await self._list()

    async def _rebuild(self) -> None:
        await self._knowledge.rebuild()
        await self._list()

    async def _find(self, query: str) -> None:
        self._serial += 1
        serial = self._serial
        for by_meaning in (False, True):
            # words answer at once, meanings a moment later
            found = await self._knowledge.searching.find(
                query, limit=MOST_HITS, by_meaning=by_meaning
            )
            if serial != self._serial:
                return
            if not by_meaning or found.meant:
                self.found.emit(query, found)

    async def _glance(self, query: str, serial: int) -> None:
        found = await self._knowledge.searching.find(query, limit=MOST_GLANCED, by_meaning=False)
        if serial == self._glances:
            shown = [(part_of(hit), snippet_of(query, hit.text)) for hit in found.hits]
            self.glanced.emit(query, shown)

    async def _plan_survey(self, chat: Chat) -> None:
        self.survey_planned.emit(await self._surveying.plan(chat))

    def _on_chat(self, change: ChatChanged) -> None:
        if change.chat_id == self._open.id and change.what in (What.OPTIONS, What.FOLDER):
            self.show_chosen()
            self.pinning.keep_only()


def with_source(chosen: Sequence[str], source: str, on: bool) -> tuple[str, ...]:
    """The chosen sources with one switched on or off."""
    others = tuple(one for one in chosen if one != source)
    return (*others, source) if on else others

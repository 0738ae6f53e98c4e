"""Files in: a dry run that says what would come in, and the import itself.

Reading and decoding run on a worker thread, in batches that the storage thread writes one after
another, so that the window and a reply that is being written never wait long. A chat comes in whole
or not at all; whatever ends an import, the next one goes on with what is missing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatsChanged
from headstart.chat.preferences import Preferences
from headstart.chat.transfer.trees import ModelNames, to_tree
from headstart.core.chat_tree import ChatTree, Known
from headstart.core.errors import EnvironmentProblem
from headstart.exchange import detect
from headstart.exchange.ids import MARKDOWN
from headstart.exchange.material import open_material
from headstart.exchange.report import Report
from headstart.exchange.tree import Conversation
from headstart.hub.shelf import Shelf
from headstart.storage.worker import Storage, Store

log = logging.getLogger(__name__)

# messages and chats that are written at once: about 20 ms of the storage thread
_MESSAGES, _CHATS = 300, 40

# seconds
_OLD = 86_400
# new; there with fewer messages; there as it is; in the trash
State = Literal["new", "more", "here", "trash"]


@dataclass(frozen=True, slots=True)
class Planned:
    """A chat that a file has: what it is called, where it comes from, and what is here of it."""

    id: str
    title: str
    source: str
    messages: int
    branches: int
    state: State


@dataclass(slots=True)
class Plan:
    chats: list[Planned] = field(default_factory=list)
    report: Report = field(default_factory=Report)
    # it was stopped before its end
    stopped: bool = False

    def count(self, *states: State) -> int:
        return sum(chat.state in states for chat in self.chats)


@dataclass(slots=True)
class Result:
    """What came in: chats that are new, that got messages, that came back from the trash."""

    new: int = 0
    more: int = 0
    restored: int = 0
    here: int = 0
    messages: int = 0
    report: Report = field(default_factory=Report)
    stopped: bool = False


@dataclass(slots=True)
class Run:
    """One dry run or import: `stop` from any thread ends it soon, `count` is how many chats it has
    dealt with."""

    stop: threading.Event = field(default_factory=threading.Event)
    count: int = 0


class Importing:
    def __init__(
        self,
        storage: Storage,
        shelf: Shelf | None,
        preferences: Preferences,
        broadcast: Broadcast,
        scratch: Path | None = None,
    ) -> None:
        """`scratch`: a folder for what has to be unpacked."""
        self._storage = storage
        self._shelf = shelf
        self._preferences = preferences
        self._broadcast = broadcast
        self._scratch = scratch

    async def plan(self, paths: Sequence[Path], run: Run) -> Plan:
        """What would come in, and what would not; nothing is changed."""
        return await asyncio.to_thread(self._plan, paths, run)

    async def run(self, paths: Sequence[Path], run: Run) -> Result:
        """Take the chats in; raises EnvironmentProblem where the database cannot be written."""
        try:
            return await asyncio.to_thread(self._import, paths, run)
        finally:
            self._broadcast.tell(ChatsChanged())

    # --- on a worker thread --------------------------------------------------------------

    def _plan(self, paths: Sequence[Path], run: Run) -> Plan:
        plan, models = Plan(), ModelNames()
        seen: set[str] = set()
        for batch in self._batches(paths, models, plan.report, run):
            known = self._known(batch)
            for conversation, tree in batch:
                twice = tree.chat.id in seen
                seen.add(tree.chat.id)
                if twice:
                    plan.report.skip(tree.chat.title, "import-twice")
                    continue
                plan.chats.append(
                    Planned(
                        tree.chat.id,
                        tree.chat.title,
                        detect.title_of_source(conversation.source),
                        len(tree.messages),
                        conversation.branches(),
                        _state(known.get(tree.chat.id), conversation, tree),
                    )
                )
            run.count = len(plan.chats)
        plan.stopped = run.stop.is_set()
        return plan

    def _import(self, paths: Sequence[Path], run: Run) -> Result:
        result, models = Result(), self._models()
        for batch in self._batches(paths, models, result.report, run):
            known = self._known(batch)
            trees = []
            for conversation, tree in batch:
                before = known.get(tree.chat.id)
                state = _state(before, conversation, tree)
                result.new += state == "new"
                result.more += state == "more"
                result.restored += state == "trash"
                result.here += state == "here"
                if state != "here":
                    result.messages += len(tree.messages) - (before.messages if before else 0)
                    trees.append(_without_messages(tree, conversation, state))
            if trees:
                self._storage.submit(partial(_store, trees=trees)).result()
            run.count += len(batch)
        result.stopped = run.stop.is_set()
        log.info("imported %d new chats, %d messages", result.new, result.messages)
        return result

    def _known(self, batch: Sequence[tuple[Conversation, ChatTree]]) -> dict[str, Known]:
        wanted = [(tree.chat.id, [one.id for one in tree.messages]) for _, tree in batch]
        return self._storage.submit(lambda store: store.transfers.known(wanted)).result()

    def _models(self) -> ModelNames:
        if self._shelf is None:
            return ModelNames()
        return ModelNames(self._shelf.look(self._preferences.current.model_files))

    def _batches(
        self, paths: Sequence[Path], models: ModelNames, report: Report, run: Run
    ) -> Iterator[list[tuple[Conversation, ChatTree]]]:
        batch: list[tuple[Conversation, ChatTree]] = []
        weight = 0
        for conversation in self._conversations(paths, report):
            if run.stop.is_set():
                return
            tree = to_tree(conversation, models)
            if not tree.messages:
                report.skip(conversation.title, "import-empty")
                continue
            batch.append((conversation, tree))
            weight += len(tree.messages)
            if weight >= _MESSAGES or len(batch) >= _CHATS:
                yield batch
                batch, weight = [], 0
        if batch:
            yield batch

    def _conversations(self, paths: Sequence[Path], report: Report) -> Iterator[Conversation]:
        if self._scratch is not None:
            self._scratch.mkdir(parents=True, exist_ok=True)
            _sweep(self._scratch)
        with tempfile.TemporaryDirectory(dir=self._scratch, ignore_cleanup_errors=True) as folder:
            for path in paths:
                try:
                    material = open_material(path, Path(folder))
                except EnvironmentProblem as problem:
                    report.problem(path.name, problem.told)
                    continue
                try:
                    for kind in detect.recognise(material, report):
                        yield from kind.format.read(material, kind.members, report)
                except EnvironmentProblem as problem:
                    report.problem(path.name, problem.told)
                finally:
                    material.close()


def _state(known: Known | None, conversation: Conversation, tree: ChatTree) -> State:
    if known is None:
        return "new"
    if known.in_trash:
        return "trash"
    # messages in Markdown have no ids: they would come in once more
    more = known.messages < len(tree.messages) and conversation.source != MARKDOWN
    return "more" if more else "here"


def _without_messages(tree: ChatTree, conversation: Conversation, state: State) -> ChatTree:
    """A chat in Markdown comes back from the trash as it was."""
    again = state == "trash" and conversation.source == MARKDOWN
    return replace(tree, messages=()) if again else tree


def _sweep(folder: Path) -> None:
    """What an import left there that was killed; one that is running is not a day old."""
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _OLD:
                shutil.rmtree(path)


def _store(store: Store, trees: Sequence[ChatTree]) -> None:
    """Files first: a message never names bytes that are not there."""
    digests = set()
    for tree in trees:
        for digest, data in tree.blobs.items():
            if store.blobs.put(data, "").digest == digest:
                digests.add(digest)
    store.transfers.add(trees)
    store.blobs.settle(digests)

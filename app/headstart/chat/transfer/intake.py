"""Taking chats into the database, wherever they come from: a dry run, and the real one.

Reading runs on a worker thread, in batches that the storage thread writes one after another, so
that the window and a reply that is being written never wait long. A chat comes in whole or not at
all; whatever ends it, the next time goes on with what is missing. Any thread but the storage's own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from headstart.core.chats.tree import ChatTree, KnownChat
from headstart.exchange.report import Report
from headstart.storage.worker import Storage, Store

# messages and chats that are written at once: about 20 ms of the storage thread
_MESSAGES, _CHATS = 300, 40
# of files and images that count as much as a message
_BYTES = 20_000

# new; there with fewer messages; there as it is; in the trash
State = Literal["new", "more", "here", "trash"]


class IncomingChat(Struct, frozen=True):
    """A chat on its way in. `source`: the program or file, as people call it. `linear`: its
    messages have no ids of their own, so that it is here already where the chat is."""

    tree: ChatTree
    source: str
    linear: bool = False
    # the id of the chat of ours that it says it is
    also: str = ""

    @property
    def branches(self) -> int:
        inner = {message.parent_id for message in self.tree.messages}
        return sum(message.id not in inner for message in self.tree.messages)


class Planned(Struct, frozen=True):
    """A chat that a file has: what it is called, where it comes from, and what is here of it."""

    id: str
    title: str
    source: str
    messages: int
    branches: int
    state: State


class ImportPlan(Struct):
    chats: list[Planned] = field(default_factory=list)
    report: Report = field(default_factory=Report)
    # it was stopped before its end
    stopped: bool = False
    # it is a backup that has settings too
    has_settings: bool = False

    def count(self, *states: State) -> int:
        return sum(chat.state in states for chat in self.chats)


class Result(Struct):
    """Result of an import: chats that are new, that got messages, that came back from the trash."""

    new: int = 0
    more: int = 0
    restored: int = 0
    here: int = 0
    messages: int = 0
    report: Report = field(default_factory=Report)
    stopped: bool = False
    # the id of the first that came in or came back; "" for none
    first: str = ""


class ImportJobRun(Struct):
    """One dry run or import: `stop` from any thread ends it soon, `count` is how many chats it has
    dealt with. `without`: the ids of chats that the user does not want."""

    stop: threading.Event = field(default_factory=threading.Event)
    count: int = 0
    without: frozenset[str] = frozenset()


def plan(
    storage: Storage, incoming: Iterable[IncomingChat], report: Report, run: ImportJobRun
) -> ImportPlan:
    """Plan the import of a material; nothing is changed."""
    found = ImportPlan(report=report)
    seen: set[str] = set()
    for batch in _batches(incoming, report, run):
        known = _known(storage, batch)
        for one in batch:
            chat = one.tree.chat
            if chat.id in seen:
                report.skip(chat.title, "import-twice")
                continue
            seen.add(chat.id)
            state = _state(known.get(one.also) or known.get(chat.id), one)
            count = len(one.tree.messages)
            found.chats.append(Planned(chat.id, chat.title, one.source, count, one.branches, state))
        run.count = len(found.chats)
    found.stopped = run.stop.is_set()
    return found


def take(
    storage: Storage, incoming: Iterable[IncomingChat], report: Report, run: ImportJobRun
) -> Result:
    """Take chats in; raises EnvironmentProblem where the database cannot be written."""
    result = Result(report=report)
    for batch in _batches(incoming, report, run):
        run.count += len(batch)
        batch = [one for one in batch if one.tree.chat.id not in run.without]
        known = _known(storage, batch)
        trees = []
        for one in batch:
            before = known.get(one.also) or known.get(one.tree.chat.id)
            state = _state(before, one)
            result.new += state == "new"
            result.more += state == "more"
            result.restored += state == "trash"
            result.here += state == "here"
            tree = one.tree
            if state == "trash" and one.linear:
                # it comes back as it was
                chat_id = one.also if one.also in known else tree.chat.id
                tree = replace(tree, chat=replace(tree.chat, id=chat_id), messages=())
            if state != "here":
                result.messages += max(0, len(tree.messages) - (before.messages if before else 0))
                trees.append(tree)
            if not result.first and state in ("new", "trash"):
                result.first = tree.chat.id
        if trees:
            storage.submit(partial(_store, trees=trees)).result()
    result.stopped = run.stop.is_set()
    return result


def _batches(
    incoming: Iterable[IncomingChat], report: Report, run: ImportJobRun
) -> Iterator[list[IncomingChat]]:
    batch: dict[str, IncomingChat] = {}
    weight = 0
    for one in incoming:
        if run.stop.is_set():
            return
        if not one.tree.messages:
            report.skip(one.tree.chat.title, "import-empty")
            continue
        if one.tree.chat.id in batch:
            # a second time: it is seen what the first one left
            yield list(batch.values())
            batch, weight = {}, 0
        batch[one.tree.chat.id] = one
        weight += len(one.tree.messages)
        weight += sum(map(len, one.tree.blobs.values())) // _BYTES
        if weight >= _MESSAGES or len(batch) >= _CHATS:
            yield list(batch.values())
            batch, weight = {}, 0
    if batch:
        yield list(batch.values())


def _known(storage: Storage, batch: Sequence[IncomingChat]) -> dict[str, KnownChat]:
    wanted = [(one.tree.chat.id, [each.id for each in one.tree.messages]) for one in batch]
    wanted += [(one.also, []) for one in batch if one.also]
    return storage.submit(lambda store: store.transfers.known(wanted)).result()


def _state(known: KnownChat | None, one: IncomingChat) -> State:
    if known is None:
        return "new"
    if known.in_trash:
        return "trash"
    more = known.messages < len(one.tree.messages) and not one.linear
    return "more" if more else "here"


def _store(store: Store, trees: Sequence[ChatTree]) -> None:
    """Files first: a message never names bytes that are not there."""
    digests = set()
    for tree in trees:
        for digest, data in tree.blobs.items():
            if store.blobs.put(data, "").digest == digest:
                digests.add(digest)
    store.transfers.add(trees)
    store.blobs.settle(digests)

"""Takes chats from any source into the database: a dry run, and the real import.

A worker thread reads batches, which the storage thread writes one by one, so that the window and a
reply being written never wait long. A chat is imported whole or not at all; after an interruption,
the next import adds the missing ones. Any thread but the storage's own.
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

# messages and chats per batch: about 20 ms of the storage thread
_MESSAGES, _CHATS = 300, 40
# bytes of files and images that count as one message
_BYTES = 20_000

# not stored yet; stored with fewer messages; stored with all messages; in the trash
State = Literal["new", "more", "here", "trash"]


class IncomingChat(Struct, frozen=True):
    """A chat to import. `source`: name of the program or file it is from. `linear`: its messages
    have no ids, so that it counts as present if the chat exists."""

    tree: ChatTree
    source: str
    linear: bool = False
    # the id of the chat of ours it claims to be
    also: str = ""

    @property
    def branches(self) -> int:
        inner = {message.parent_id for message in self.tree.messages}
        return sum(message.id not in inner for message in self.tree.messages)


class Planned(Struct, frozen=True):
    """A chat in a file: its title, its source, and its state in our database."""

    id: str
    title: str
    source: str
    messages: int
    branches: int
    state: State


class ImportPlan(Struct):
    chats: list[Planned] = field(default_factory=list)
    report: Report = field(default_factory=Report)
    # the dry run was stopped early
    stopped: bool = False
    # the source is a backup that includes settings
    has_settings: bool = False

    def count(self, *states: State) -> int:
        return sum(chat.state in states for chat in self.chats)


class Result(Struct):
    """Result of an import: counts of chats that are new, gained messages, left the trash, or were
    complete already."""

    new: int = 0
    more: int = 0
    restored: int = 0
    here: int = 0
    messages: int = 0
    report: Report = field(default_factory=Report)
    stopped: bool = False
    # the id of the first chat added or restored; "" for none
    first: str = ""


class ImportJobRun(Struct):
    """One dry run or import: `stop` from any thread ends it soon; `count`: chats processed so far;
    `without`: ids of chats the user left out."""

    stop: threading.Event = field(default_factory=threading.Event)
    count: int = 0
    without: frozenset[str] = frozenset()


def plan(
    storage: Storage, incoming: Iterable[IncomingChat], report: Report, run: ImportJobRun
) -> ImportPlan:
    """Plan an import; nothing is changed."""
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
    """Import chats; raises EnvironmentProblem if the database cannot be written."""
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
                # restored unchanged
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
            # a duplicate: the first one must be stored before this one is compared
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
    """Store files first, so that a message never refers to missing bytes."""
    digests = set()
    for tree in trees:
        for digest, data in tree.blobs.items():
            if store.blobs.put(data, "").digest == digest:
                digests.add(digest)
    store.transfers.add(trees)
    store.blobs.settle(digests)

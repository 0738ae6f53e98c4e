"""The records' transitions: whatever happens in whatever order, sizes add up, and the effects are
those that the disk needs."""

from __future__ import annotations

import random

import numpy as np
import pytest

from headstart.core.prefixes import IndexState, RecordInfo, RecordKind
from headstart.engine.prefix import keys
from headstart.engine.prefix.catalogue import PrefixEntry
from headstart.engine.prefix.record_file import Payload
from headstart.engine.prefix.records import (
    Effects,
    ForgetChat,
    Records,
    ReleaseRecord,
    Remove,
    Touch,
    Use,
    Write,
)

FAMILY = b"f" * 32
CHUNK, CHATS = 4, ("one", "two", "three")


def _infos(random_: random.Random) -> list[RecordInfo]:
    """Records of texts that share beginnings: whole chunks, tails of two lengths, snapshots."""
    found: dict[bytes, RecordInfo] = {}
    for _ in range(4):
        text = [random_.randrange(2) for _ in range(random_.randrange(1, 15))]
        parent = keys.root(FAMILY)
        for start in range(0, len(text), CHUNK):
            piece = text[start : start + CHUNK]
            for kind, tokens in (
                (RecordKind.RANGE, piece),
                (RecordKind.RANGE, piece[:-1]),
                (RecordKind.SNAPSHOT, piece),
            ):
                if tokens:
                    packed = keys.pack(tokens)
                    key = keys.record_key(kind, parent, packed)
                    size = random_.randrange(50, 200)
                    found[key] = RecordInfo(key, parent, FAMILY, kind, start, packed, size)
            parent = keys.record_key(RecordKind.RANGE, parent, keys.pack(piece))
    return list(found.values())


def _payload(size: int) -> Payload:
    return Payload((np.zeros(size, np.uint8),), CHUNK)


class Disk:
    """The writer's part, with files and rows that are sets; some writes fail."""

    def __init__(self, records: Records, random_: random.Random) -> None:
        self.records, self._random = records, random_
        self.files: dict[bytes, RecordInfo] = {}
        self.rows: dict[bytes, set[str]] = {}
        self.jobs: Effects = []
        self.limit = 1500

    def work(self, count: int) -> None:
        for _ in range(min(count, len(self.jobs))):
            self._do(self.jobs.pop(0))

    def _do(self, job: object) -> None:
        match job:
            case Write(entry):
                self._write(entry)
            case Remove(info):
                again = self.records.catalogue.get(info.key)
                if again is None or not again.on_disk:
                    self.files.pop(info.key, None)
                    self.rows.pop(info.key, None)
            case Use(chat, key):
                self.rows[key].add(chat)
            case ReleaseRecord(chat, key):
                self.rows.get(key, set()).discard(chat)
            case ForgetChat(chat):
                for chats in self.rows.values():
                    chats.discard(chat)
            case Touch():
                pass

    def _write(self, entry: PrefixEntry) -> None:
        info, records = entry.info, self.records
        if records.to_write(entry) is not None:
            fits, effects = records.make_room(info, self.limit)
            self.jobs += effects
            if fits:
                self.files[info.key] = info
                row = records.written(entry)
                if row is None:
                    del self.files[info.key]
                elif self._random.random() < 0.1:
                    records.not_indexed(entry)
                    del self.files[info.key]
                else:
                    self.rows[info.key] = set(row[1])
                    self.jobs += records.indexed(entry)
        records.let_go(entry)


def _check(records: Records, disk: Disk) -> None:
    entries = list(records.catalogue)
    assert records.memory_size == sum(one.payload.size for one in entries if one.payload)
    assert records.disk_size == sum(one.info.size for one in entries if one.on_disk)
    assert all(one.there for one in entries)
    waiting = {one.entry.info.key for one in disk.jobs if isinstance(one, Write)}
    # what waits for the writer, and what comes before it, stays
    assert waiting or records.memory_size <= records.most_memory
    assert all(one.payload is not None for one in entries if one.queued)
    assert {one.info.key for one in entries if one.queued} <= waiting


def _settled(records: Records, disk: Disk) -> None:
    """Nothing is left to do: the disk is what the records say."""
    while disk.jobs:
        disk.work(1)
    on_disk = {one.info.key: one for one in records.catalogue if one.on_disk}
    assert set(disk.files) == set(disk.rows) == set(on_disk)
    for key, entry in on_disk.items():
        assert disk.rows[key] == entry.chats
        assert entry.chats
    assert records.disk_size <= disk.limit


@pytest.mark.parametrize("seed", range(40))
def test_the_disk_becomes_what_the_records_say(seed: int) -> None:
    random_ = random.Random(seed)
    records, infos = Records(), _infos(random_)
    records.limit_memory(1200)
    disk = Disk(records, random_)
    for _ in range(250):
        known, chat = list(records.catalogue), random_.choice(CHATS)
        one = random_.choice(known) if known else None
        action = random_.randrange(12)
        if action < 4 or one is None:
            info = random_.choice(infos)
            owner = None if random_.random() < 0.3 else chat
            payload = _payload(info.size - 40)
            disk.jobs += records.put(info, payload, owner)[1]
        elif action == 4:
            disk.jobs += records.use(one, chat)
        elif action == 5:
            disk.jobs += records.touch(random_.sample(known, min(3, len(known))), persist=True)
        elif action == 6:
            disk.jobs += records.release(one, chat)
        elif action == 7 and random_.random() < 0.3:
            disk.jobs += records.forget(one)
        elif action == 8 and random_.random() < 0.2:
            disk.jobs += records.clear() if random_.random() < 0.3 else records.forget_chat(chat)
        elif action == 9:
            records.permits.begin(chat)
        elif action == 10 and one.on_disk and one.payload is None:
            keep = _payload(one.info.size - 40)
            records.was_read(one, keep if random_.random() < 0.5 else None)
        disk.work(random_.randrange(4))
        _check(records, disk)
    _settled(records, disk)
    # a restart lists the same
    again = Records()
    state = IndexState(
        [one.info for one in records.catalogue if one.on_disk],
        [(chat, key) for key, chats in disk.rows.items() for chat in chats],
    )
    lost = again.load(state, lambda info: info.key in disk.files)
    assert {one.info.key for one in again.catalogue} | set(lost) == set(disk.files)
    for key in lost:
        # a record whose parent was evicted or never written
        assert disk.files[key].start
    if not lost:
        assert again.disk_size == records.disk_size


def test_nothing_is_queued_for_a_chat_that_was_cleared() -> None:
    records, random_ = Records(), random.Random(1)
    info = _infos(random_)[0]
    records.put(info, _payload(1), "one")
    effects = records.forget_chat("one")
    assert effects == [ForgetChat("one")]
    assert list(records.catalogue) == []
    entry, effects = records.put(info, _payload(1), "one")
    assert effects == []
    assert entry.chats == set()
    records.permits.begin("one")
    assert records.use(entry, "one") == [Write(entry)]

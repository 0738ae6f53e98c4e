"""The prefix cache over fake decoders: whatever happens, tokens are what the KV state holds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from headstart.core.prefixes import IndexState, RecordInfo
from headstart.engine.prefix import keys
from headstart.engine.prefix.prefix_cache import PrefixCache
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.stop import StopSignal
from tests.support.fake_decoder import FakeDecoder, table

FAMILY = b"f" * 32
LOGITS = table(4, 0)
CHUNK = 8


class MemoryIndex:
    """An index that forgets with the test."""

    def __init__(self) -> None:
        self.records: dict[bytes, RecordInfo] = {}
        self.uses: set[tuple[str, bytes]] = set()

    def load(self) -> IndexState:
        return IndexState(list(self.records.values()), list(self.uses))

    def add(self, record: RecordInfo, chats: Iterator[str], day: str) -> None:
        self.records[record.key] = record
        self.uses |= {(chat, record.key) for chat in chats}

    def use(self, chat_id: str, used: Iterator[bytes]) -> None:
        self.uses |= {(chat_id, key) for key in used}

    def touch(self, stamps: Mapping[bytes, int]) -> None: ...

    def remove(self, gone: Iterator[bytes]) -> None:
        for key in gone:
            self.records.pop(key, None)

    def forget_chat(self, chat_id: str) -> None:
        self.uses = {use for use in self.uses if use[0] != chat_id}

    def release(self, chat_id: str, key: bytes) -> None:
        self.uses.discard((chat_id, key))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PrefixStore]:
    store = PrefixStore(tmp_path / "prefixes", MemoryIndex())  # type: ignore[arg-type]
    store.wait_until_ready()
    yield store
    store.close(5)


def _prefix_cache(store: PrefixStore, kind: str) -> tuple[FakeDecoder, PrefixCache]:
    decoder = FakeDecoder(
        LOGITS,
        checkpoints=kind != "exact",
        chunk=0 if kind == "recurrent" else CHUNK,
    )
    # reading is dear here, so that whatever is kept comes back
    speeds = PrefixSpeeds(token_seconds=10.0)
    return decoder, PrefixCache(decoder, store, FAMILY, speeds)


def _kept(
    store: PrefixStore, kind: str, length: int
) -> tuple[FakeDecoder, PrefixCache, list[int], list[int]]:
    """A decoder that has read a text of so many tokens, all of which was kept."""
    decoder, prefix_cache = _prefix_cache(store, kind)
    text = [index % 4 for index in range(length)]
    decoder.forward(text, [])
    held = list(text)
    for _ in prefix_cache.save(held, "c"):
        pass
    return decoder, prefix_cache, text, held


KINDS = ("exact", "hybrid", "recurrent")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_tokens_are_what_the_kv_state_holds_whatever_happens(
    store: PrefixStore, kind: str, seed: int
) -> None:
    """Random texts that share beginnings: restored, read, kept, left, and lost in between."""
    random_ = random.Random(seed)
    decoder, prefix_cache = _prefix_cache(store, kind)
    texts = [[random_.randrange(4) for _ in range(random_.randrange(60))]]
    held: list[int] = []
    for _ in range(120):
        text = random_.choice(texts)
        cut = random_.randrange(len(text) + 1)
        wanted = [*text[:cut], *(random_.randrange(4) for _ in range(random_.randrange(30)))]
        texts = [*texts[-6:], wanted]
        prefix_cache.restore(held, wanted[:-1])
        assert held == decoder.tokens == wanted[: len(held)]
        if kind == "exact":
            assert len(held) >= min(len(wanted) - 1, 0)
        rest = wanted[len(held) :]
        if rest:
            decoder.forward(rest, [])
            held.extend(rest)
        if random_.random() < 0.3:
            prefix_cache.mark(held)
        action = random_.randrange(5)
        if action == 0:
            for _ in prefix_cache.save_tail(held, "c"):
                pass
        elif action < 4:
            for number, _ in enumerate(prefix_cache.save(held, "c" if action == 1 else None)):
                if number > 3 and random_.random() < 0.2:
                    break
        if random_.random() < 0.1:
            _lose_something(store, random_)
        if random_.random() < 0.1:
            assert store.flush(5)
            for entry in store.records.catalogue:
                if entry.on_disk and not entry.queued:
                    store.records.drop_payload(entry)


def _lose_something(store: PrefixStore, random_: random.Random) -> None:
    entries = list(store.records.catalogue)
    if entries:
        store.drop(random_.choice(entries))


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_kept_comes_back_whole(store: PrefixStore, kind: str) -> None:
    decoder, prefix_cache, text, held = _kept(store, kind, 29)
    decoder.truncate(0)
    held.clear()
    restored = prefix_cache.restore(held, [*text, 1, 2])
    assert held == text
    assert restored.from_memory == 29
    assert restored.from_disk == 0


def test_a_branch_that_differs_within_a_chunk_uses_the_part_that_is_the_same(
    store: PrefixStore,
) -> None:
    decoder, prefix_cache, text, held = _kept(store, "exact", 16)
    decoder.truncate(0)
    held.clear()
    prefix_cache.restore(held, [*text[:13], 3, 3, 3])
    assert held == text[:13]


def test_a_tail_is_replaced_when_it_grows_and_shared_chunks_are_kept_once(
    store: PrefixStore,
) -> None:
    decoder, prefix_cache = _prefix_cache(store, "exact")
    held: list[int] = []
    for turn in range(10):
        more = [(turn + index) % 4 for index in range(5)]
        decoder.forward(more, [])
        held += more
        for _ in prefix_cache.save_tail(held, "c"):
            pass
    assert store.flush(5)
    lengths = sorted(entry.info.length for entry in store.records.catalogue)
    assert lengths == [2, *[CHUNK] * 6]
    # another branch beside it
    decoder.truncate(44)
    del held[44:]
    decoder.forward([3, 3, 3], [])
    held += [3, 3, 3]
    for _ in prefix_cache.save_tail(held, "d"):
        pass
    assert store.flush(5)
    assert sorted(entry.info.length for entry in store.records.catalogue) == [2, 7, *[CHUNK] * 6]
    files = [path for path in store.writer.folder.glob("*/*") if path.is_file()]
    assert len(files) == 8


@pytest.mark.logs("a stored prefix does not fit")
def test_a_record_that_does_not_fit_is_a_miss_and_is_forgotten(
    store: PrefixStore, caplog: pytest.LogCaptureFixture
) -> None:
    decoder, prefix_cache, text, held = _kept(store, "exact", 24)
    second = store.steps((FAMILY,), keys.pack(text), CHUNK)[1].entry
    assert second.payload is not None
    damaged = tuple(part[:-4] for part in second.payload.parts)
    second.payload = type(second.payload)(damaged, second.payload.tokens_each)
    decoder.truncate(0)
    held.clear()
    prefix_cache.restore(held, text)
    assert held == decoder.tokens == text[:8]
    assert store.get(second.info.key) is None
    assert "does not fit" in caplog.text


def test_restoring_stops_when_it_is_cancelled(store: PrefixStore) -> None:
    decoder, prefix_cache, text, held = _kept(store, "exact", 24)
    decoder.truncate(0)
    held.clear()
    prefix_cache.restore(held, text, StopSignal(-1))
    assert held == decoder.tokens == []

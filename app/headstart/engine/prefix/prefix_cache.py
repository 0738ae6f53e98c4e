"""Keeps what one decoder has read, and finds it again. Engine thread.

`tokens` is always the list of what the decoder's live sequence holds; `restore` changes both
together. Whole chunks are kept after each reply; the tail, and snapshots of models that cannot be
cut, stay in memory until the chat is left. Nothing here can make a reply wrong: what does not
fit is a miss, and is read.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from headstart.core.prefixes import TOKEN_BYTES, RecordKind
from headstart.engine.prefix import planner
from headstart.engine.prefix.catalogue import Entry, Step
from headstart.engine.prefix.kept_decoder import KeptDecoder
from headstart.engine.prefix.keys import chain, namespace, pack, record_key, unpack
from headstart.engine.prefix.record_file import Payload
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.engine.prefix.store import AHEAD, PrefixStore, make_info
from headstart.engine.prompt import common_prefix
from headstart.engine.stop import NEVER, StopSignal

log = logging.getLogger(__name__)

# exported in some 18 ms: a request may come behind one piece, and wait for another one that
# keeps what it is about to overwrite, in less than 50
_MOST_PART = 8 << 20
_LEAST_TOKENS = 32
# snapshots of a chat on disk: its end, and before its last questions
_KEPT_SNAPSHOTS = 4
# chunk keys of models whose state has no ranges
_NO_RANGES = 256


class Restored(Struct, frozen=True):
    """Tokens that came back, by where they came from."""

    from_memory: int = 0
    from_disk: int = 0


class PrefixCache:
    """`name`, the namespace, says what the records of this decoder are good for."""

    def __init__(
        self, decoder: KeptDecoder, store: PrefixStore, name: bytes, speeds: PrefixSpeeds
    ) -> None:
        self._decoder = decoder
        self._store = store
        self.namespace = name
        self._speeds = speeds
        self._ranges = decoder.facts.chunk > 0
        self._chunk = decoder.facts.chunk or _NO_RANGES
        # models that cannot be cut need a snapshot for each place they are to come back to
        self.needs_snapshots = decoder.facts.snapshots
        self._token_size = 0.0
        self._context = decoder.facts.context_length
        # of the chat at hand, the latest last
        self._snapshots: list[Entry] = []
        # ends of branches that are in memory only, and whose they are
        self._tails: list[tuple[Entry, str]] = []
        # whether only what was prefilled in whole slices is kept; see `Prefiller`
        self.whole_slices = False
        self._broken = False
        self._expected: Callable[[], None] = _nothing

    def keep_whole_slices(self) -> None:
        """Before anything was kept: the same tokens have other bytes then."""
        self.whole_slices = True
        self.namespace = namespace(self.namespace, "whole slices", self._chunk)

    # --- finding again -------------------------------------------------------------------

    def restore(
        self,
        tokens: list[int],
        wanted: Sequence[int],
        stop: StopSignal = NEVER,
        persist: bool = True,
    ) -> Restored:
        """Make `tokens` the longest beginning of `wanted` that is worth it; cuts what differs."""
        common = common_prefix(tokens, wanted)
        have = self._decoder.reach(common)
        restored = Restored()
        if have < len(wanted) and not self._broken:
            packed = pack(wanted)
            if self.needs_snapshots:
                restored = self._restore_snapshot(tokens, wanted, packed, common, have, stop)
            else:
                restored = self._restore_ranges(tokens, packed, have, stop, persist)
        self._cut(tokens, common_prefix(tokens, wanted))
        self._expected()
        self._expected = _nothing
        return restored

    def seconds(self, tokens: Sequence[int], wanted: Sequence[int]) -> float:
        """About what `restore` would take, for models without snapshots."""
        if self._broken or self.needs_snapshots:
            return 0.0
        have = self._decoder.reach(common_prefix(tokens, wanted))
        steps = self._store.steps(self.namespace, pack(wanted), self._chunk)
        count = planner.worth(have, steps, self._speeds)
        needed = steps[have // self._chunk : count]
        return sum(planner.seconds(step.entry, self._speeds) for step in needed)

    def expect(self, chat_id: str) -> None:
        """A prompt of this chat comes next."""
        self._expected()
        self._expected = self._store.expect(self.namespace, chat_id)

    def _restore_ranges(
        self,
        tokens: list[int],
        packed: bytes,
        have: int,
        stop: StopSignal,
        persist: bool,
    ) -> Restored:
        steps = self._store.steps(self.namespace, packed, self._chunk)
        count = planner.worth(have, steps, self._speeds)
        first = have // self._chunk
        if count <= first:
            return Restored()
        self._cut(tokens, first * self._chunk)
        if len(tokens) != first * self._chunk:
            return Restored()
        steps = steps[first:count]
        memory, disk = self._import(tokens, steps, stop)
        self._store.touch([step.entry for step in steps], persist)
        # what lay within the resident part was there already
        lost = max(0, have - first * self._chunk)
        return Restored(max(0, memory - lost), disk) if memory else Restored(0, max(0, disk - lost))

    def _import(
        self,
        tokens: list[int],
        steps: Sequence[Step],
        stop: StopSignal = NEVER,
    ) -> tuple[int, int]:
        """Append the records of `steps`; returns the tokens that came from memory and disk."""
        came = {False: 0, True: 0}
        # asked now: what is fetched early looks as if it had been in memory
        on_disk = [step.entry.payload is None for step in steps]
        # the next ones are read from the disk while one goes into the context
        waiting = deque(self._store.fetch(step.entry) for step in steps[:AHEAD])
        for index, step in enumerate(steps):
            began = time.perf_counter()
            if stop.stopped or step.entry.info.end > self._context:
                break
            payload = waiting.popleft().result()
            if payload is None:
                break
            if index + AHEAD < len(steps):
                waiting.append(self._store.fetch(steps[index + AHEAD].entry))
            length = step.entry.info.length
            stored = unpack(step.entry.info.tokens)
            self._decoder.lay_out([*tokens, *stored])
            if not self._append(step.start, length, payload, stop):
                self._cut(tokens, len(tokens))
                if not stop.stopped:
                    log.warning("a stored prefix does not fit the model")
                    self._store.drop(step.entry)
                break
            tokens.extend(stored)
            came[on_disk[index]] += step.use
            size = step.entry.info.size
            self._speeds.see_restoring(on_disk[index], size, time.perf_counter() - began)
        for left in waiting:
            left.cancel()
        return came[False], came[True]

    def _append(
        self,
        start: int,
        length: int,
        payload: Payload,
        stop: StopSignal,
    ) -> bool:
        at, end = start, start + length
        for part in payload.parts:
            if stop.stopped:
                return False
            upto = min(at + payload.tokens_each, end)
            if not self._decoder.restore(part, at, upto):
                return False
            at = upto
        return at == end

    def _restore_snapshot(
        self,
        tokens: list[int],
        wanted: Sequence[int],
        packed: bytes,
        common: int,
        have: int,
        stop: StopSignal,
    ) -> Restored:
        steps = self._store.steps(self.namespace, packed, self._chunk) if self._ranges else []
        held = have
        for entry in self._store.snapshots(self.namespace, packed, self._chunk):
            position = entry.info.end
            if position <= have:
                break
            needed = [step for step in steps if step.start < position] if position > common else []
            if self._ranges and position > common and (not needed or needed[-1].end < position):
                continue
            if not planner.snapshot_pays(have, common, entry, needed, self._speeds):
                continue
            on_disk = entry.payload is None
            payload = self._store.fetch(entry).result()
            if payload is None:
                continue
            if position > common:
                self._decoder.truncate(0)
                tokens.clear()
                common = have = 0
                self._import(tokens, needed, stop)
                if needed and len(tokens) < position:
                    # stopped, or one of the records is gone: there may be another way
                    self._clear(tokens)
                    if stop.stopped:
                        return Restored()
                    steps = self._store.steps(self.namespace, packed, self._chunk)
                    continue
            self._decoder.lay_out(wanted[:position])
            there = self._decoder.back(payload.parts[0], position)
            if there:
                tokens[:] = wanted[:position]
                self._remember(entry)
                return Restored(0, position - held) if on_disk else Restored(position - held, 0)
            log.warning("a stored snapshot does not fit the model")
            self._store.drop(entry)
            self._clear(tokens)
            common = have = 0
        return Restored()

    def _clear(self, tokens: list[int]) -> None:
        self._decoder.truncate(0)
        tokens.clear()

    def _cut(self, tokens: list[int], length: int) -> None:
        left = self._decoder.truncate(length)
        del tokens[left:]

    # --- keeping -------------------------------------------------------------------------

    def mark(self, tokens: Sequence[int]) -> None:
        """Remember this place, where the model could otherwise not come back to it."""
        if not self.needs_snapshots or not tokens:
            return
        packed = pack(tokens)
        parent, rest, start = self._locate(packed)
        known = self._store.get(record_key(RecordKind.SNAPSHOT, parent, rest))
        if known is not None:
            self._remember(known)
            return
        try:
            blob = self._decoder.snapshot()
        except RuntimeError as problem:
            log.warning("this place cannot be remembered: %s", problem)
            return
        payload = Payload((blob,), max(1, len(rest) // TOKEN_BYTES))
        info = make_info(self.namespace, parent, RecordKind.SNAPSHOT, start, rest, payload)
        self._remember(self._store.put(info, payload))

    def _remember(self, snapshot: Entry) -> None:
        if snapshot in self._snapshots:
            self._snapshots.remove(snapshot)
        self._snapshots.append(snapshot)

    def save(self, tokens: Sequence[int], owner: str | None) -> Iterator[None]:
        """Keep whole chunks, and the tail in memory; yields after each short piece of work.

        `owner` is the chat that has them on disk, None where they may be in memory only. The
        caller stops when something else is to be done, and begins again later.
        """
        if self._broken:
            return
        if not self.whole_slices:
            # else only places that were marked while they were prefilled
            self.mark(tokens)
        if self.needs_snapshots:
            yield
        if not self._ranges:
            return
        packed = pack(tokens)
        keys = chain(self.namespace, packed, self._chunk)
        step = self._chunk * TOKEN_BYTES
        for index in range(len(keys) - 1):
            entry = self._store.get(keys[index + 1])
            if entry is None:
                piece = packed[index * step : (index + 1) * step]
                start = index * self._chunk
                yield from self._export(keys[index], start, piece, owner)
            elif owner is not None:
                self._store.use(entry, owner)
        rest, on_disk = packed[(len(keys) - 1) * step :], owner is not None
        if rest and self._store.covering(keys[-1], rest, on_disk) is None:
            start = (len(keys) - 1) * self._chunk
            yield from self._export(keys[-1], start, rest, None)
        tail = self._store.covering(keys[-1], rest, on_disk) if rest and on_disk else None
        way = [self._store.get(key) for key in keys[1:]]
        # the first one is needed by all after it: it goes last
        self._store.touch([entry for entry in (*way, tail) if entry is not None], persist=False)
        if tail is not None and owner is not None:
            self._tails = [(entry, chat) for entry, chat in self._tails if entry.there]
            self._tails.append((tail, owner))

    def leave(self, tokens: Sequence[int], owner: str) -> Iterator[None]:
        """Have the tails of the chat's branches on disk too, and the last snapshots."""
        if self._broken or not tokens:
            return
        yield from self.save(tokens, owner)
        for tail, chat in self._tails:
            # one that grew is not needed any more
            if self._store.get(tail.info.key) is tail:
                self._store.use(tail, chat)
        self._tails.clear()
        for entry in self._snapshots[:-_KEPT_SNAPSHOTS]:
            self._store.release(entry, owner)
        del self._snapshots[:-_KEPT_SNAPSHOTS]
        for entry in self._snapshots:
            if entry.there:
                self._store.use(entry, owner)

    def begin_chat(self) -> None:
        """What was remembered for the chat before is not this one's."""
        self._snapshots.clear()
        self._tails.clear()

    def _locate(self, packed: bytes) -> tuple[bytes, bytes, int]:
        """The parent of what is beyond the last whole chunk, these tokens, and where they begin."""
        keys = chain(self.namespace, packed, self._chunk)
        start = (len(keys) - 1) * self._chunk
        return keys[-1], packed[start * TOKEN_BYTES :], start

    def _export(
        self, parent: bytes, start: int, tokens: bytes, owner: str | None
    ) -> Iterator[None]:
        length = len(tokens) // TOKEN_BYTES
        each = self._part_tokens(length)
        parts = []
        try:
            for at in range(start, start + length, each):
                end = min(at + each, start + length)
                blob = self._decoder.export(at, end)
                self._token_size = len(blob) / (end - at)
                parts.append(blob)
                if end < start + length:
                    yield
        except RuntimeError as problem:
            # a kind of state that this version does not know: replies go on without keeping it
            log.warning("what this model reads cannot be kept: %s", problem)
            self._broken = True
            return
        payload = Payload(tuple(parts), each)
        info = make_info(self.namespace, parent, RecordKind.RANGE, start, tokens, payload)
        self._store.put(info, payload, owner)
        yield

    def _part_tokens(self, length: int) -> int:
        """Tokens that are exported at once, so that none of it takes long."""
        each = length if self._token_size else _LEAST_TOKENS
        while each > _LEAST_TOKENS and each * self._token_size > _MOST_PART:
            each = (each + 1) // 2
        return max(1, each)


def _nothing() -> None: ...

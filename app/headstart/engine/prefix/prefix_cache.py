"""Saves the KV state of one decoder, and restores it. Engine thread.

`tokens` always lists the tokens of the decoder's live sequence; `restore` changes both together.
Whole chunks are saved after each reply; the tail, and snapshots of models that cannot be cut, stay
in memory until the chat is closed. The cache cannot make a reply wrong: a record that does not fit
is a miss, and its tokens are prefilled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence

from headstart.core.audiences import WINDOW, Audience
from headstart.core.prefixes import TOKEN_BYTES, RecordKind
from headstart.engine.prefix.catalogue import PrefixEntry
from headstart.engine.prefix.kept_decoder import KeptDecoder
from headstart.engine.prefix.keys import chain, namespace, of_audience, pack, record_key
from headstart.engine.prefix.record_file import Payload
from headstart.engine.prefix.records import Holder
from headstart.engine.prefix.restore_plan import (
    Held,
    RestorePlan,
    plan_ranges,
    plan_snapshot,
    seconds,
)
from headstart.engine.prefix.restoring import Restored, Restoring
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.engine.prefix.store import PrefixStore, make_info
from headstart.engine.prompt import common_prefix
from headstart.engine.stop import NEVER, StopSignal

log = logging.getLogger(__name__)

# exported in some 18 ms: a request may have to wait for one piece, and then for another of the
# state that it is about to overwrite, in less than 50 ms
_MOST_PART = 8 << 20
_LEAST_TOKENS = 32
# snapshots per chat on disk: at its end, and before its last questions
_KEPT_SNAPSHOTS = 4
# chunk size of keys for models whose state has no ranges
_NO_RANGES = 256


class PrefixCache:
    """The prefix cache of one decoder. `name`: the namespace of the window's records, from which
    those of other audiences derive."""

    def __init__(
        self, decoder: KeptDecoder, store: PrefixStore, name: bytes, speeds: PrefixSpeeds
    ) -> None:
        self._decoder = decoder
        self._store = store
        self.namespace = name
        # the namespaces that the present audience may reuse, its own first
        self._names: tuple[bytes, ...] = ()
        self._holder = Holder()
        self._audience = WINDOW
        self._speeds = speeds
        self._ranges = decoder.facts.chunk > 0
        self._chunk = decoder.facts.chunk or _NO_RANGES
        # models that cannot be cut need a snapshot for each position to return to
        self.needs_snapshots = decoder.facts.snapshots
        self._token_size = 0.0
        self._restoring = Restoring(decoder, store, speeds)
        # snapshots of the present chat, the latest last
        self._snapshots: list[PrefixEntry] = []
        # ends of branches that are in memory only, and their chats
        self._tails: list[tuple[PrefixEntry, str]] = []
        # true if only tokens prefilled in whole slices are saved; see `Prefiller`
        self.whole_slices = False
        # owners of the beginning of the present chat, and the tokens up to their ends
        self._shares: tuple[tuple[str, int], ...] = ()
        self._broken = False
        self._expected: Callable[[], None] = _nothing
        self.enter(WINDOW, None)

    def keep_whole_slices(self) -> None:
        """Save only whole slices, in a separate namespace, as their bytes differ; call before any
        save."""
        self.whole_slices = True
        self.namespace = namespace(self.namespace, "whole slices", self._chunk)
        self.enter(self._audience, self._holder.chat_id)

    def enter(self, audience: Audience, chat_id: str | None) -> None:
        """Save for this chat, None for none, and restore what its audience may reuse; the previous
        chat's snapshots and tails are forgotten."""
        self._audience = audience
        self._holder = Holder(chat_id, audience.name)
        self._names = tuple(of_audience(self.namespace, one) for one in audience.sees)
        self._restoring.read_for(self._names[0])
        self._snapshots.clear()
        self._tails.clear()
        self._shares = ()

    # --- restoring -----------------------------------------------------------------------

    def restore(
        self,
        tokens: list[int],
        wanted: Sequence[int],
        stop: StopSignal = NEVER,
        persist: bool = True,
    ) -> Restored:
        """Make `tokens` the longest prefix of `wanted` that pays to restore; cuts different
        tokens."""
        common = common_prefix(tokens, wanted)
        reach = self._decoder.reach(common)
        restored = Restored()
        if reach < len(wanted) and not self._broken:
            restore = self._restore_snapshot if self.needs_snapshots else self._restore_ranges
            restored = restore(tokens, wanted, stop, persist)
        self._restoring.cut(tokens, common_prefix(tokens, wanted))
        self._expected()
        self._expected = _nothing
        return restored

    def seconds(self, tokens: Sequence[int], wanted: Sequence[int]) -> float:
        """Estimated seconds of `restore`, for models without snapshots."""
        if self._broken or self.needs_snapshots:
            return 0.0
        plan = self._plan_ranges(tokens, wanted)
        if plan is None:
            return 0.0
        return sum(seconds(step.entry, self._speeds) for step in plan.steps)

    def expect(self, chat_id: str) -> None:
        """Start fetching this chat's records, as its prompt comes next."""
        self._expected()
        self._expected = self._store.expect(self._names[0], chat_id)

    def _plan_ranges(self, tokens: Sequence[int], wanted: Sequence[int]) -> RestorePlan | None:
        reach = self._decoder.reach(common_prefix(tokens, wanted))
        steps = self._store.steps(self._names, pack(wanted), self._chunk)
        return plan_ranges(reach, steps, self._chunk, self._speeds)

    def _restore_ranges(
        self, tokens: list[int], wanted: Sequence[int], stop: StopSignal, persist: bool
    ) -> Restored:
        plan = self._plan_ranges(tokens, wanted)
        if plan is None:
            return Restored()
        reach = self._decoder.reach(common_prefix(tokens, wanted))
        restored = self._restoring.append(tokens, plan, reach, stop)
        if len(tokens) > plan.cut:
            own = [step.entry for step in plan.steps if self._is_own(step.entry)]
            self._store.touch(own, persist)
        return restored

    def _restore_snapshot(
        self, tokens: list[int], wanted: Sequence[int], stop: StopSignal, _persist: bool
    ) -> Restored:
        """Return to the planned snapshot; if that fails, plan again without it."""
        packed = pack(wanted)
        held = self._decoder.reach(common_prefix(tokens, wanted))
        snapshots = self._store.snapshots(self._names, packed, self._chunk)
        while not stop.stopped:
            steps = None
            if self._ranges:
                steps = self._store.steps(self._names, packed, self._chunk)
            common = common_prefix(tokens, wanted)
            now = Held(common, self._decoder.reach(common))
            plan = plan_snapshot(now, steps, snapshots, self._speeds)
            if plan is None or plan.snapshot is None:
                break
            on_disk = self._restoring.go_back(tokens, wanted, plan, stop)
            if on_disk is not None:
                if self._is_own(plan.snapshot):
                    self._remember(plan.snapshot)
                came = plan.snapshot.info.end - held
                return Restored(0, came) if on_disk else Restored(came, 0)
            snapshots.remove(plan.snapshot)
        return Restored()

    # --- saving --------------------------------------------------------------------------

    def mark(self, tokens: Sequence[int]) -> None:
        """Take a snapshot at this position, if the model could not return to it otherwise."""
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
        info = make_info(self._names[0], parent, RecordKind.SNAPSHOT, start, rest, payload)
        self._remember(self._store.put(info, payload, holder=self._holder))

    def _remember(self, snapshot: PrefixEntry) -> None:
        if snapshot in self._snapshots:
            self._snapshots.remove(snapshot)
        self._snapshots.append(snapshot)

    def save(self, tokens: Sequence[int], owner: str | None, marks: bool = True) -> Iterator[None]:
        """Save whole chunks, and the tail in memory; yields after each short piece of work.

        `owner` is the chat that stores them on disk, None if they may be in memory only. `marks`:
        the sequence ends with them. The caller stops for more urgent work, and calls again later.
        """
        if self._broken:
            return
        if marks and not self.whole_slices:
            # otherwise only positions marked during prefill count
            self.mark(tokens)
        if self.needs_snapshots:
            yield
        if not self._ranges:
            return
        packed = pack(tokens)
        keys, *others = (chain(name, packed, self._chunk) for name in self._names)
        # what it may read is not kept twice, unless it must be found after a restart
        others = others if owner is None else []
        step = self._chunk * TOKEN_BYTES
        for index in range(len(keys) - 1):
            entry = self._store.get(keys[index + 1])
            if entry is None:
                if any(self._store.get(one[index + 1]) is not None for one in others):
                    continue
                piece = packed[index * step : (index + 1) * step]
                start = index * self._chunk
                yield from self._export(keys[index], start, piece, owner)
            elif owner is not None:
                self._store.use(entry, owner)
            else:
                self._store.hold(entry, self._holder)
            if owner is not None:
                self._share(keys[index + 1], (index + 1) * self._chunk)
        rest, on_disk = packed[(len(keys) - 1) * step :], owner is not None
        known = [self._store.covering(one[-1], rest, on_disk) for one in (keys, *others)]
        if known[0] is not None:
            self._store.hold(known[0], self._holder)
        if rest and all(one is None for one in known):
            start = (len(keys) - 1) * self._chunk
            yield from self._export(keys[-1], start, rest, None)
        tail = self._store.covering(keys[-1], rest, on_disk) if rest and on_disk else None
        way = [self._store.get(key) for key in keys[1:]]
        # all others need the first one, so it is evicted last
        self._store.touch([entry for entry in (*way, tail) if entry is not None], persist=False)
        if tail is not None and owner is not None:
            self._tails = [(entry, chat) for entry, chat in self._tails if entry.there]
            self._tails.append((tail, owner))

    def save_tail(self, tokens: Sequence[int], owner: str, marks: bool = True) -> Iterator[None]:
        """Save the tails of the chat's branches and the last snapshots to disk too."""
        if self._broken or not tokens:
            return
        yield from self.save(tokens, owner, marks)
        for tail, chat in self._tails:
            # a tail that grew is no longer needed
            if self._store.get(tail.info.key) is tail:
                self._store.use(tail, chat)
        self._tails.clear()
        for entry in self._snapshots[:-_KEPT_SNAPSHOTS]:
            self._store.release(entry, owner)
        del self._snapshots[:-_KEPT_SNAPSHOTS]
        for entry in self._snapshots:
            if entry.there:
                self._store.use(entry, owner)

    def share(self, ends: tuple[tuple[str, int], ...]) -> None:
        """Note the owners of the beginning of the present chat, and the tokens up to their ends."""
        self._shares = ends

    def _share(self, key: bytes, end: int) -> None:
        """Note the owner of the shared text that a record ends in."""
        owner = next((one for one, last in self._shares if end <= last), None)
        entry = None if owner is None else self._store.get(key)
        if entry is not None and owner is not None:
            self._store.use(entry, owner)

    def _is_own(self, entry: PrefixEntry) -> bool:
        return entry.info.namespace == self._names[0]

    def _locate(self, packed: bytes) -> tuple[bytes, bytes, int]:
        """The parent key of the tokens beyond the last whole chunk, those tokens, and their
        start."""
        keys = chain(self._names[0], packed, self._chunk)
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
            # a kind of state unknown to this version: replies continue without saving it
            log.warning("what this model reads cannot be kept: %s", problem)
            self._broken = True
            return
        payload = Payload(tuple(parts), each)
        info = make_info(self._names[0], parent, RecordKind.RANGE, start, tokens, payload)
        self._store.put(info, payload, owner, self._holder)
        yield

    def _part_tokens(self, length: int) -> int:
        """Number of tokens per export, small enough that none takes long."""
        each = length if self._token_size else _LEAST_TOKENS
        while each > _LEAST_TOKENS and each * self._token_size > _MOST_PART:
            each = (each + 1) // 2
        return max(1, each)


def _nothing() -> None: ...

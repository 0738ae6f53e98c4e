"""Executes a restore plan on a decoder. Engine thread.

Invariant: after each method `tokens` equals the decoder's live sequence. A record that does not
fit, or is missing, is dropped and ends the plan; the caller plans again or computes the rest.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future

from msgspec import Struct

from headstart.engine.prefix.catalogue import PrefixEntry, Step
from headstart.engine.prefix.kept_decoder import KeptDecoder
from headstart.engine.prefix.keys import unpack
from headstart.engine.prefix.record_file import Payload
from headstart.engine.prefix.restore_plan import RestorePlan
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.engine.prefix.store import AHEAD, PrefixStore
from headstart.engine.stop import StopSignal

log = logging.getLogger(__name__)


class Restored(Struct, frozen=True):
    """Numbers of restored tokens, by source."""

    from_memory: int = 0
    from_disk: int = 0


class Restoring:
    def __init__(self, decoder: KeptDecoder, store: PrefixStore, speeds: PrefixSpeeds) -> None:
        self._decoder = decoder
        self._store = store
        # the namespace whose records are the reader's own
        self._own = b""
        self._speeds = speeds
        self._context = decoder.facts.context_length

    def read_for(self, own: bytes) -> None:
        """Read for the audience with this namespace: reading another's records leaves no trace."""
        self._own = own

    def append(
        self, tokens: list[int], plan: RestorePlan, reach: int, stop: StopSignal
    ) -> Restored:
        """Append the plan's ranges; without them `reach` tokens could have been kept."""
        self.cut(tokens, plan.cut)
        if len(tokens) != plan.cut:
            return Restored()
        memory, disk = self._append_all(tokens, plan.steps, stop)
        # tokens of the chunks that were already resident do not count
        lost = max(0, reach - plan.cut)
        return Restored(max(0, memory - lost), disk) if memory else Restored(0, max(0, disk - lost))

    def go_back(
        self, tokens: list[int], wanted: Sequence[int], plan: RestorePlan, stop: StopSignal
    ) -> bool | None:
        """Return the decoder to the plan's snapshot; True if it came from the disk, None on
        failure."""
        entry = plan.snapshot
        assert entry is not None
        position, on_disk = entry.info.end, entry.payload is None
        payload = self._fetch(entry).result()
        if payload is None:
            return None
        if not plan.cut:
            self.cut(tokens, 0)
            self._append_all(tokens, plan.steps, stop)
            if plan.steps and len(tokens) < position:
                # stopped, or one of the records is missing
                self.cut(tokens, 0)
                return None
        self._decoder.lay_out(wanted[:position])
        if self._decoder.back(payload.parts[0], position):
            tokens[:] = wanted[:position]
            return on_disk
        log.warning("a stored snapshot does not fit the model")
        self._store.drop(entry)
        self.cut(tokens, 0)
        return None

    def cut(self, tokens: list[int], length: int) -> None:
        left = self._decoder.truncate(length)
        del tokens[left:]

    def _append_all(
        self, tokens: list[int], steps: Sequence[Step], stop: StopSignal
    ) -> tuple[int, int]:
        """Returns the numbers of tokens from memory and from the disk."""
        came = {False: 0, True: 0}
        # determined in advance: a record fetched early would look as if it had been in memory
        on_disk = [step.entry.payload is None for step in steps]
        # the next records are read from the disk while one is restored
        waiting = deque(self._fetch(step.entry) for step in steps[:AHEAD])
        for index, step in enumerate(steps):
            began = time.perf_counter()
            if stop.stopped or step.entry.info.end > self._context:
                break
            payload = waiting.popleft().result()
            if payload is None:
                break
            if index + AHEAD < len(steps):
                waiting.append(self._fetch(steps[index + AHEAD].entry))
            stored = unpack(step.entry.info.tokens)
            self._decoder.lay_out([*tokens, *stored])
            if not self._append(step.start, step.entry.info.length, payload, stop):
                self.cut(tokens, len(tokens))
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

    def _fetch(self, entry: PrefixEntry) -> Future[Payload | None]:
        return self._store.fetch(entry, quietly=entry.info.namespace != self._own)

    def _append(self, start: int, length: int, payload: Payload, stop: StopSignal) -> bool:
        at, end = start, start + length
        for part in payload.parts:
            if stop.stopped:
                return False
            upto = min(at + payload.tokens_each, end)
            if not self._decoder.restore(part, at, upto):
                return False
            at = upto
        return at == end

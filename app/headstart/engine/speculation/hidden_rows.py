"""The target's hidden states at the end of a text, for heads. Engine thread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from headstart.engine.decoder import Blob, Decoder, Hidden

# rows kept of a text: a head that begins late sees this much of it
MOST = 512


class HiddenRows:
    """Rows of the tokens `start` to `end` (exclusive) of one text, `width` numbers each."""

    def __init__(self, width: int, most: int = MOST) -> None:
        self.width = width
        self._most = most
        self._rows = np.empty((2 * most, width), np.float32)
        self._first = 0  # index of the row of `start`
        self.start = self.end = 0

    def __len__(self) -> int:
        return self.end - self.start

    def saw(self, target: Decoder, position: int, indices: Sequence[int]) -> None:
        """Take the rows of the text's tokens from `position` on, at these indices of the target's
        last forward."""
        first, last = indices[0], indices[-1] + 1
        rows = target.states.rows(first, last)
        if last - first > len(indices):
            rows = rows[[index - first for index in indices]]
        self.put(position, rows)

    def put(self, position: int, rows: Hidden) -> None:
        """Add the rows of the tokens from `position` on, NaN where one is missing, and drop known
        rows after it, which belong to another text. Rows that do not continue the known ones
        replace them."""
        unknown = np.flatnonzero(np.isnan(rows[:, 0]))
        if len(unknown):
            # rows that the backend did not provide
            behind = int(unknown[-1]) + 1
            position, rows = position + behind, rows[behind:]
            self.clear(position)
            if not len(rows):
                return
        self.cut(position)
        beyond = max(0, len(rows) - self._most)
        if position != self.end or not len(self) or beyond:
            self.clear(position + beyond)
            rows = rows[beyond:]
        at = self._first + len(self)
        if at + len(rows) > len(self._rows):
            kept = min(len(self), self._most - len(rows))
            self._rows[:kept] = self._rows[at - kept : at].copy()
            self.start, self._first, at = self.end - kept, 0, kept
        self._rows[at : at + len(rows)] = rows
        self.end += len(rows)

    def lead(self, position: int, row: Hidden) -> None:
        """Add the row of `position`, if it directly precedes the known ones."""
        if not len(self) or position + 1 != self.start:
            return
        known = self.get(self.start, self.end).copy()[-(self._most - 1) :]
        end = self.end
        self.clear(position)
        if end - len(known) == position + 1:
            self.put(position, np.concatenate([row.reshape(1, -1), known]))

    def cut(self, length: int) -> None:
        """Drop rows beyond the first `length` tokens."""
        self.end = max(self.start, min(self.end, length))

    def clear(self, position: int = 0) -> None:
        self.start = self.end = position
        self._first = 0

    def has(self, first: int, last: int) -> bool:
        return self.start <= first and last <= self.end

    def get(self, first: int, last: int) -> Hidden:
        at = self._first + first - self.start
        return self._rows[at : at + last - first]


class HeadState:
    """The prefix cache's view of a head's decoder: each range of keys and values is followed by the
    target's row of the next token, which a restored prefix could not provide otherwise."""

    def __init__(self, decoder: Decoder, rows: HiddenRows, target_name: str) -> None:
        """`target_name`: part of the state's meaning, as another target has other states."""
        facts = decoder.facts
        self.facts = replace(facts, state=f"{facts.state}, of {target_name}")
        self._decoder = decoder
        self._rows = rows
        # end of the last restored range, and its row
        self.restored: tuple[int, Hidden] | None = None
        self.truncate = decoder.truncate
        self.reach = decoder.reach
        self.lay_out = decoder.lay_out
        self.snapshot = decoder.snapshot
        self.back = decoder.back

    def export(self, start: int, end: int) -> Blob:
        row = np.full(self._rows.width, np.nan, np.float32)
        if self._rows.has(end, end + 1):
            row = self._rows.get(end, end + 1)[0]
        blob = self._decoder.export(start, end)
        return np.concatenate([blob, np.frombuffer(row.tobytes(), np.uint8)])

    def restore(self, blob: Blob, start: int, end: int) -> bool:
        size = 4 * self._rows.width
        if len(blob) <= size:
            return False
        row = np.frombuffer(np.ascontiguousarray(blob[-size:]).tobytes(), np.float32)
        self.restored = None if np.isnan(row).any() else (end, row)
        return self._decoder.restore(blob[:-size], start, end)

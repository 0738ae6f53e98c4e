"""The caches of an MLX model as one state: cut it, convert it to bytes, restore it.

Engine thread. Plain caches of keys and values can be cut and have ranges; rotating ones (sliding
windows) can be cut until they have wrapped, and arrays (recurrent layers) never. Other than plain
caches are saved as snapshots. Every trim is checked: a wrapped cache silently keeps the tokens to
remove.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np

from headstart.engine.backends.mlx.library import mlx_cache, mx
from headstart.engine.decoder import Blob

_HEADER = 4
# types that carry arrays to numpy, which has no bfloat16
_CARRIERS = {1: (mx.uint8, np.uint8), 2: (mx.uint16, np.uint16), 4: (mx.uint32, np.uint32)}


class StateLayout(msgspec.Struct, frozen=True):
    """One plain cache: heads, and the sizes and type of a key and a value."""

    heads: int
    key: int
    value: int
    type: str

    @property
    def dtype(self) -> mx.Dtype:
        return _dtype(self.type)


class CacheState:
    """All caches of one model, as made by mlx-lm."""

    def __init__(self, caches: list[Any]) -> None:
        self.caches = caches
        flat = list(_flat(caches))
        self._plain = [cache for cache in flat if type(cache) is mlx_cache.KVCache]
        self._other = [cache for cache in flat if type(cache) is not mlx_cache.KVCache]
        # restored ranges, not yet joined to the caches, so that joining takes only one copy
        self._waiting: list[list[tuple[mx.array, mx.array]]] = [[] for _ in self._plain]
        self._waiting_tokens = 0

    @property
    def ranges(self) -> bool:
        return bool(self._plain)

    @property
    def mixed(self) -> bool:
        """True if some cache cannot always be cut."""
        return bool(self._other)

    @property
    def kinds(self) -> str:
        return ", ".join(sorted({type(cache).__name__ for cache in (*self._plain, *self._other)}))

    def learn(self) -> tuple[StateLayout, ...]:
        """The layout of a range of the plain caches, which must hold at least one token."""
        return tuple(
            StateLayout(
                cache.keys.shape[1],
                cache.keys.shape[3],
                cache.values.shape[3],
                _name(cache.keys.dtype),
            )
            for cache in self._plain
        )

    def evaluate(self) -> None:
        """Compute pending operations."""
        mx.eval([cache.state for cache in self.caches])

    # --- cutting -------------------------------------------------------------------------

    def can_trim(self) -> bool:
        # a chunked cache claims to be trimmable even after it has dropped its beginning
        return all(
            cache.is_trimmable() and not getattr(cache, "start_position", 0)
            for cache in self._other
        )

    def trim(self, count: int) -> bool:
        """Remove the last `count` tokens; False if any cache cannot, which may leave the state
        invalid."""
        self.join()
        if not self.can_trim():
            return False
        return all(cache.trim(count) == count for cache in (*self._plain, *self._other))

    def mark(self) -> list[Any]:
        """The states for `return_to`. Arrays are shared, not copied."""
        return [_copied(cache.state) for cache in self._other]

    def return_to(self, mark: list[Any], back: int) -> bool:
        """Restore the marked states, and cut `back` tokens from the plain caches."""
        self.join()
        for cache, state in zip(self._other, mark, strict=True):
            cache.state = _copied(state)
        return all(cache.trim(back) == back for cache in self._plain)

    # --- bytes ---------------------------------------------------------------------------

    def export(self, start: int, end: int) -> Blob:
        self.join()
        parts = [
            array[:, :, start:end, :]
            for cache in self._plain
            for array in (cache.keys, cache.values)
        ]
        return _bytes_of(parts)

    def append(self, blob: Blob, tokens: int, layouts: tuple[StateLayout, ...]) -> bool:
        """Add an exported range to the plain caches; ranges are joined when needed."""
        if len(blob) != sum(
            layout.heads * tokens * (layout.key + layout.value) * layout.dtype.size
            for layout in layouts
        ):
            return False
        at = 0
        for layout, waiting in zip(layouts, self._waiting, strict=True):
            pair = []
            for width in (layout.key, layout.value):
                array, at = _array_at(blob, at, (1, layout.heads, tokens, width), layout.dtype)
                pair.append(array)
            waiting.append((pair[0], pair[1]))
        self._waiting_tokens += tokens
        return True

    def join(self) -> None:
        if not self._waiting_tokens:
            return
        for cache, waiting in zip(self._plain, self._waiting, strict=True):
            keys, values = ([] if cache.keys is None else [part] for part in _present(cache))
            cache.keys = mx.concatenate([*keys, *(pair[0] for pair in waiting)], axis=2)
            cache.values = mx.concatenate([*values, *(pair[1] for pair in waiting)], axis=2)
            cache.offset += self._waiting_tokens
            waiting.clear()
        self._waiting_tokens = 0

    def snapshot(self) -> Blob:
        """The state of the caches that are not plain."""
        arrays: list[mx.array] = []
        shape = [[type(cache).__name__, _outline(cache.state, arrays)] for cache in self._other]
        header = np.frombuffer(msgspec.json.encode(shape), np.uint8)
        length = np.frombuffer(len(header).to_bytes(_HEADER, "little"), np.uint8)
        return np.concatenate([length, header, _bytes_of(arrays)])

    def unpack(self, snapshot: Blob) -> list[Any] | None:
        """A `mark` from a snapshot; None if it is another model's."""
        length = int.from_bytes(snapshot[:_HEADER].tobytes(), "little")
        try:
            outline = msgspec.json.decode(snapshot[_HEADER : _HEADER + length].tobytes())
            if [name for name, _ in outline] != [type(cache).__name__ for cache in self._other]:
                return None
            at = _HEADER + length
            states = []
            for _, own in outline:
                state, at = _filled(own, snapshot, at)
                states.append(state)
        except (ValueError, TypeError, msgspec.MsgspecError):
            return None
        return states if at == len(snapshot) else None


def _flat(caches: Iterable[Any]) -> Iterator[Any]:
    for cache in caches:
        if isinstance(cache, mlx_cache.CacheList):
            yield from _flat(cache.caches)
        else:
            yield cache


def _present(cache: Any) -> tuple[Any, Any]:
    if cache.keys is None:
        return None, None
    return cache.keys[:, :, : cache.offset, :], cache.values[:, :, : cache.offset, :]


def _copied(state: Any) -> Any:
    """New array objects over the same data: assigning to a part of one changes only that object."""
    if isinstance(state, mx.array):
        return state[...]
    if isinstance(state, list | tuple):
        return type(state)(_copied(item) for item in state)
    return state


def _outline(state: Any, arrays: list[mx.array]) -> Any:
    if isinstance(state, mx.array):
        arrays.append(state)
        return {"shape": state.shape, "type": _name(state.dtype)}
    if isinstance(state, list | tuple):
        return [_outline(item, arrays) for item in state]
    if state is None or isinstance(state, int | float | str):
        return state
    raise RuntimeError(f"a cache keeps a {type(state).__name__}, which cannot be stored")


def _filled(outline: Any, blob: Blob, at: int) -> tuple[Any, int]:
    if isinstance(outline, dict):
        return _array_at(blob, at, tuple(outline["shape"]), _dtype(outline["type"]))
    if isinstance(outline, list):
        items = []
        for own in outline:
            item, at = _filled(own, blob, at)
            items.append(item)
        return items, at
    return outline, at


def _bytes_of(arrays: list[mx.array]) -> Blob:
    carried = [array.view(_CARRIERS[array.dtype.size][0]) for array in arrays]
    mx.eval(carried)
    flat = [np.array(array).reshape(-1).view(np.uint8) for array in carried]
    return np.concatenate(flat) if flat else np.empty(0, np.uint8)


def _array_at(blob: Blob, at: int, shape: tuple[int, ...], dtype: mx.Dtype) -> tuple[mx.array, int]:
    end = at + math.prod(shape) * dtype.size
    part = np.ascontiguousarray(blob[at:end])
    # MLX copies: the bytes belong to the store, which reuses them
    array = mx.array(part.view(_CARRIERS[dtype.size][1]).reshape(shape)).view(dtype)
    return array, end


def _name(dtype: mx.Dtype) -> str:
    return str(dtype).removeprefix("mlx.core.")


def _dtype(name: str) -> mx.Dtype:
    dtype = getattr(mx, name)
    if not isinstance(dtype, mx.Dtype):
        raise TypeError(f"{name} is no type of numbers")
    return dtype

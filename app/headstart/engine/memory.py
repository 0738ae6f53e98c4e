"""How many models fit in this computer's memory at once. Pure, but for asking the system."""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from headstart.core.requests import LoadRequest

# weights and KV state of all loaded models may take so much of the memory; programs need the rest
MOST_SHARE = 0.7
# beside its weights, a model needs about so much for KV state and what is computed with it
KV_SHARE, KV_LEAST = 0.1, 256 << 20


def footprint(wanted: LoadRequest) -> int:
    """Bytes that a model and its draft take, about."""
    files = [wanted.model.size] + ([wanted.draft.size] if wanted.draft is not None else [])
    return sum(size + beside_weights(size) for size in files)


def beside_weights(size: int) -> int:
    """Bytes that a model with so many bytes of weights needs besides them."""
    return int(size * KV_SHARE) + KV_LEAST


def crowded_out(oldest_first: Sequence[int], need: int, total: int, available: int) -> int:
    """How many of the loaded models have to go, so that another one has room.

    `oldest_first` are the sizes of those that are loaded, `need` is the new one's, `total` and
    `available` are the computer's memory. Weights are mapped files, which count as available while
    they are loaded: they are bounded by the total, what is beside them by what is available.
    """
    loaded, least = sum(oldest_first), beside_weights(need)
    for count, size in enumerate(oldest_first):
        if loaded + need <= MOST_SHARE * total and least <= available:
            return count
        loaded -= size
        available += beside_weights(size)
    return len(oldest_first)


def memory() -> tuple[int, int]:
    """Total and available bytes of this computer."""
    found = psutil.virtual_memory()
    return found.total, found.available

"""This computer's memory. Engine and worker threads."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import psutil

from headstart.core.c_library import c_library
from headstart.core.models.fit import Memory

# memory is short below this many bytes, or below this share of the total
_SHORT, _SHORT_SHARE = 768 << 20, 0.05
_CGROUPS = Path("/sys/fs/cgroup")


def memory(cgroups: Path = _CGROUPS) -> Memory:
    """Memory that this program may use: the computer's memory, or its container's share."""
    found = psutil.virtual_memory()
    total, available = found.total, found.available
    if sys.platform == "linux":
        limit = _limit(cgroups)
        if limit is not None and limit[0] < total:
            total, available = limit[0], min(available, limit[1])
    return Memory(total, max(0, available))


def is_short(found: Memory) -> bool:
    """True if programs will soon wait for memory."""
    return found.available < max(_SHORT, _SHORT_SHARE * found.total)


def give_back() -> None:
    """Return freed memory to the system: glibc keeps it in fragmented heaps (10 MB in 400 short
    turns). It takes some milliseconds."""
    if sys.platform == "linux":
        # musl has no such function
        with contextlib.suppress(OSError, AttributeError):
            c_library().malloc_trim(0)


def _limit(root: Path) -> tuple[int, int] | None:
    """Total and available bytes of the program's control group, version 2 or 1."""
    for limit, usage, cache in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
    ):
        with contextlib.suppress(OSError, ValueError):
            most, used = int(_read(root / limit)), int(_read(root / usage))
            stats = _read((root / limit).with_name("memory.stat")).splitlines()
            # the kernel drops cached file pages when the memory is needed
            kept = (line.split() for line in stats if line.startswith(f"{cache} "))
            return most, most - used + sum(int(words[1]) for words in kept)
    return None


def _read(path: Path) -> str:
    return path.read_text(encoding="ascii")

"""Disk budget of stored prefixes, and the order of eviction; pure.

The least recently used leaves go first; a parent never before its children, because a record is
worthless without its ancestors.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from headstart.core.prefixes import RecordInfo

# below this nothing is written at all: the user needs the disk
LEAST_FREE = 10 << 30
_SHARE_OF_FREE = 4


def budget(most: int, used: int, free: int) -> int:
    """Bytes allowed on disk: the user's cap, and at most a quarter of the disk space that would be
    free without them."""
    return min(most, (used + free) // _SHARE_OF_FREE)


def to_evict(
    records: Iterable[tuple[RecordInfo, int]], excess: int, keep: frozenset[bytes] = frozenset()
) -> list[RecordInfo]:
    """Records to evict, in order, to free `excess` bytes, or less if nothing else can be evicted.

    `records` come with the stamp of their last use. Those in `keep` stay, with all their ancestors.
    """
    if excess <= 0:
        return []
    stamps = {info.key: (stamp, info) for info, stamp in records}
    children = dict.fromkeys(stamps, 0)
    for _, info in stamps.values():
        if info.parent in children:
            children[info.parent] += 1
    leaves = [(stamps[key][0], key) for key, count in children.items() if not count]
    heapq.heapify(leaves)
    victims = []
    while excess > 0 and leaves:
        _, key = heapq.heappop(leaves)
        if key in keep:
            continue
        info = stamps[key][1]
        victims.append(info)
        excess -= info.size
        if info.parent in children:
            children[info.parent] -= 1
            if not children[info.parent]:
                heapq.heappush(leaves, (stamps[info.parent][0], info.parent))
    return victims

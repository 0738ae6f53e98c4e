"""The steps that bring the index of a source up to date with its files. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from headstart.core.knowledge.values import FileRow, FileStamp

# milliseconds for which a file that cannot be read keeps its pieces
KEPT_MS = 24 * 3600 * 1000
# a file that changed this recently may change again without another time
FRESH_NS = 2_000_000_000


class IndexPlan(Struct, frozen=True):
    """`read`: files that are new or changed. `remove`, `lose`, `find_again`: ids of rows."""

    read: tuple[FileStamp, ...] = ()
    remove: tuple[int, ...] = ()
    lose: tuple[int, ...] = ()
    find_again: tuple[int, ...] = ()


def planned(
    rows: Sequence[FileRow],
    stamps: Iterable[FileStamp],
    hidden: Callable[[bytes], bool],
    now: int,
) -> IndexPlan:
    """`rows`: the index's files of a source; `stamps`: those that are there. `hidden`: a file may
    be there although it is not listed; `now` in ms."""
    known = {row.path: row for row in rows}
    read, remove, lose, again = list[FileStamp](), list[int](), list[int](), list[int]()
    for stamp in stamps:
        row = known.pop(stamp.path, None)
        changed = row is None or (row.size, row.mtime_ns) != (stamp.size, stamp.mtime_ns)
        if row is None or changed or (row.digest is None and not row.problem):
            read.append(stamp)
        elif row.lost_at:
            again.append(row.id)
    for row in known.values():
        if not hidden(row.path) or (row.lost_at and now - row.lost_at > KEPT_MS):
            remove.append(row.id)
        elif not row.lost_at:
            lose.append(row.id)
    return IndexPlan(tuple(read), tuple(remove), tuple(lose), tuple(again))

"""Lists the files of a folder, without opening them. On a worker thread.

Hidden files, files that a `.gitignore` names, links, and files without text are left out and
counted. Nothing outside the folder is followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from headstart.core.chats.attachments import LARGEST
from headstart.core.knowledge.values import FileStamp
from headstart.knowledge.ignored import NAME, Allowance, IgnoreRules, read_rules
from headstart.knowledge.kinds import MADE_BY, has_no_text, is_made

# most files of a folder
MOST_FILES = 100_000


class LeftOut(StrEnum):
    """Reasons why a file is not searched; `RULES`: files `.gitignore` that are not followed, or
    in part only."""

    HIDDEN = "hidden"
    IGNORED = "ignored"
    MADE = "made"
    LINK = "link"
    KIND = "kind"
    LARGE = "large"
    UNREADABLE = "unreadable"
    MANY = "many"
    RULES = "rules"


class Scan(Struct, frozen=True):
    """`blind`: folders (relative, as bytes) that could not be listed: their files may be there.
    `away`: the folder itself cannot be reached."""

    stamps: tuple[FileStamp, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()
    blind: tuple[bytes, ...] = ()
    away: bool = False

    def hides(self, path: bytes) -> bool:
        """True if a file may be there although it is not listed."""
        return self.away or any(path.startswith(folder + b"/") for folder in self.blind)


def scan(root: Path, stopped: Callable[[], bool] = lambda: False) -> Scan:
    """The files of a folder, or the file itself; paths are relative and use `/`."""
    try:
        found = root.stat()
    except OSError:
        return Scan(away=True)
    if stat.S_ISREG(found.st_mode):
        return Scan((FileStamp(b"", found.st_size, found.st_mtime_ns),))
    walk = _Walk(root, stopped)
    walk.run()
    return walk.found()


class _Walk:
    def __init__(self, root: Path, stopped: Callable[[], bool]) -> None:
        self._root = root
        self._stopped = stopped
        self._stamps: list[FileStamp] = []
        self._left: dict[LeftOut, int] = {}
        self._blind: list[bytes] = []
        self._away = False
        self._allowance = Allowance()

    def run(self) -> None:
        waiting: list[tuple[str, IgnoreRules | None]] = [("", None)]
        while waiting and not self._stopped():
            relative, rules = waiting.pop()
            try:
                with os.scandir(Path(self._root, relative)) as listing:
                    entries = sorted(listing, key=lambda one: one.name)
            except OSError:
                if not relative:
                    self._away = True
                    return
                self._blind.append(os.fsencode(relative.rstrip("/")))
                continue
            names = {one.name for one in entries}
            if relative and names & MADE_BY:
                self._leave(LeftOut.MADE)
                continue
            if NAME in names:
                rules = self._rules(relative, rules)
            inside = list(self._folders(entries, relative, rules))
            waiting += ((one, rules) for one in reversed(inside))

    def found(self) -> Scan:
        left = tuple((reason.value, count) for reason, count in sorted(self._left.items()))
        return Scan(tuple(self._stamps), left, tuple(self._blind), self._away)

    def _folders(
        self, entries: list[os.DirEntry[str]], relative: str, rules: IgnoreRules | None
    ) -> Iterator[str]:
        """The folders to walk; takes the files."""
        for one in entries:
            if self._stopped():
                return
            path = f"{relative}{one.name}"
            try:
                if one.is_symlink() or _is_junction(one):
                    self._leave(LeftOut.LINK)
                elif one.name.startswith("."):
                    self._leave(LeftOut.HIDDEN)
                elif one.is_dir(follow_symlinks=False):
                    if is_made(one.name):
                        self._leave(LeftOut.MADE)
                    elif rules is not None and rules.ignore(os.fsencode(path), folder=True):
                        self._leave(LeftOut.IGNORED)
                    else:
                        yield f"{path}/"
                elif rules is not None and rules.ignore(os.fsencode(path), folder=False):
                    self._leave(LeftOut.IGNORED)
                elif has_no_text(one.name):
                    self._leave(LeftOut.KIND)
                else:
                    self._take(one, path)
            except OSError:
                self._leave(LeftOut.UNREADABLE)

    def _take(self, one: os.DirEntry[str], path: str) -> None:
        found = one.stat(follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            self._leave(LeftOut.KIND)
        elif found.st_size > LARGEST:
            self._leave(LeftOut.LARGE)
        elif len(self._stamps) >= MOST_FILES:
            self._leave(LeftOut.MANY)
        else:
            self._stamps.append(FileStamp(os.fsencode(path), found.st_size, found.st_mtime_ns))

    def _rules(self, relative: str, above: IgnoreRules | None) -> IgnoreRules:
        folder = Path(self._root, relative)
        rules = read_rules(folder, os.fsencode(relative), above, self._allowance)
        if rules.partial:
            self._leave(LeftOut.RULES)
        return rules

    def _leave(self, reason: LeftOut) -> None:
        self._left[reason] = self._left.get(reason, 0) + 1


def _is_junction(one: os.DirEntry[str]) -> bool:
    """True for a link of Windows to another folder; Python 3.11 does not tell."""
    tells = getattr(one, "is_junction", None)
    return tells is not None and bool(tells())

"""The rules of `.gitignore` files, as git reads and applies them. Pure, apart from one function.

Everything is bounded, because the file comes with whatever folder the user adds: bytes read, and
bytes of patterns in effect. `Allowance` counts them for one walk through a folder.
"""

from __future__ import annotations

import stat
from pathlib import Path

from msgspec import Struct

from headstart.core.files import open_regular
from headstart.knowledge.globs import Globs, GlobStep, literal_steps, steps_of

NAME = ".gitignore"
# most bytes of one file, and of all files of a walk
_MOST_BYTES, _MOST_IN_ALL = 1 << 20, 16 << 20
# most bytes of patterns with wildcards that apply to a file together: 5,000 usual ones; each step
# takes 2 µs per 10,000 of them
_MOST_WILD = 1 << 16
_BOM = b"\xef\xbb\xbf"
_WILD = b"*?[\\"


class Rule(Struct, frozen=True):
    """`literal`: the bytes before the first wildcard; `steps`: the places of the whole pattern, or
    () where it is `literal` alone. `by_path`: it is compared with the path, else with the name."""

    literal: bytes
    steps: tuple[GlobStep, ...]
    includes: bool
    only_folders: bool
    by_path: bool


class Allowance:
    """The bytes of rules that may still be read in one walk."""

    def __init__(self) -> None:
        self.left = _MOST_IN_ALL


class IgnoreRules:
    """The rules of one `.gitignore`, and of those above it. `base`: its folder relative to the
    source, with a slash at its end. `partial`: some rules are not followed."""

    def __init__(
        self, lines: list[bytes], base: bytes, above: IgnoreRules | None, partial: bool = False
    ) -> None:
        self._base = base
        self._above = above
        self.partial = partial
        self._wild_left: int = above._wild_left if above is not None else _MOST_WILD
        self._names, self._paths = _Table(), _Table()
        self._includes: list[bool] = []
        for line in lines:
            self._add(line)
        self._names.close()
        self._paths.close()

    def ignore(self, path: bytes, folder: bool) -> bool:
        """True if a file or folder is left out; `path` is relative to the source. The last rule
        that matches decides, that of the innermost file first."""
        rules: IgnoreRules | None = self
        name = path.rpartition(b"/")[2]
        while rules is not None:
            number = max(
                rules._names.last(name, folder),
                rules._paths.last(path[len(rules._base) :], folder),
            )
            if number >= 0:
                return not rules._includes[number]
            rules = rules._above
        return False

    def _add(self, line: bytes) -> None:
        rule = rule_of(line)
        if rule is None:
            return
        self._wild_left -= len(rule.steps)
        if self._wild_left < 0:
            self._wild_left += len(rule.steps)
            self.partial = True
            return
        table = self._paths if rule.by_path else self._names
        table.add(len(self._includes), rule)
        self._includes.append(rule.includes)


class _Table:
    """Rules that look at the same part of a path."""

    def __init__(self) -> None:
        self._folders: dict[bytes, int] = {}
        self._files: dict[bytes, int] = {}
        self._wild: list[tuple[int, tuple[GlobStep, ...], bool]] = []
        self._globs: Globs | None = None

    def add(self, number: int, rule: Rule) -> None:
        if rule.steps:
            self._wild.append((number, rule.steps, rule.only_folders))
            return
        self._folders[rule.literal] = number
        if not rule.only_folders:
            self._files[rule.literal] = number

    def close(self) -> None:
        """After the last rule."""
        self._globs = Globs(self._wild) if self._wild else None
        self._wild = []

    def last(self, text: bytes, folder: bool) -> int:
        """The number of the last rule that matches, or -1."""
        found = (self._folders if folder else self._files).get(text, -1)
        return found if self._globs is None else max(found, self._globs.last(text, folder))


def rule_of(line: bytes) -> Rule | None:
    """The rule of a line without its `\\n`; None for comments, and for lines that match nothing."""
    if line.startswith(b"#"):
        return None
    # git's lines are C strings
    pattern = _without_spaces(line.removesuffix(b"\r").partition(b"\0")[0])
    includes = pattern.startswith(b"!")
    pattern = pattern[includes:]
    only_folders = pattern.endswith(b"/")
    pattern = pattern[: len(pattern) - only_folders]
    by_path = b"/" in pattern
    # a slash at the beginning ties the rule to the file's own folder
    pattern = pattern.removeprefix(b"/") if by_path else pattern
    if not pattern:
        return None
    places = [place for sign in _WILD if (place := pattern.find(sign)) >= 0]
    if not places:
        return Rule(pattern, (), includes, only_folders, by_path)
    # in a path git compares the beginning by itself, so that `**` after it begins the pattern
    head = pattern[: min(places)] if by_path else b""
    steps = steps_of(pattern[len(head) :])
    if not steps:
        return None
    return Rule(head, (*literal_steps(head), *steps), includes, only_folders, by_path)


def _without_spaces(line: bytes) -> bytes:
    """The line without spaces at its end, unless a backslash stands before them."""
    kept = line.rstrip(b" ")
    if len(kept) == len(line):
        return line
    backslashes = len(kept) - len(kept.rstrip(b"\\"))
    return kept + b" " * (backslashes % 2)


def read_rules(
    folder: Path, base: bytes, above: IgnoreRules | None, allowance: Allowance
) -> IgnoreRules:
    """The rules of a folder's `.gitignore`. `partial` if it is a link or no file, cannot be read,
    or is too large: then its beginning applies. On a worker thread."""
    path = folder / NAME
    most = min(_MOST_BYTES, allowance.left)
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            # git follows no link here either
            return IgnoreRules([], base, above, partial=True)
        with open_regular(path) as file:
            data = bytearray()
            while len(data) <= most and (piece := file.read(most + 1 - len(data))):
                data += piece
    except OSError:
        return IgnoreRules([], base, above, partial=True)
    allowance.left -= min(len(data), most)
    partial = len(data) > most
    if partial:
        # the last line may be cut
        del data[data.rfind(b"\n", 0, most) + 1 :]
    text = bytes(data).removeprefix(_BOM)
    return IgnoreRules(text.split(b"\n"), base, above, partial)

"""Material of an import: a file, a folder, or a zip, as named members; with limits, because the
files are not trusted. Nothing is ever written under a name from an archive."""

from __future__ import annotations

import contextlib
import lzma
import mmap
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from headstart.core.errors import EnvironmentProblem
from headstart.core.files import open_regular

# most bytes of one member, and of everything unpacked from one archive
LARGEST_MEMBER, LARGEST_ARCHIVE = 4 << 30, 16 << 30
# conversations compress well; higher ratios mean an archive made to fill disks
_BOMB_RATIO, _BOMB_SIZE = 200, 64 << 20
# most members of an archive or a folder
_MOST_NAMES = 200_000
_BLOCK = 1 << 20
# RuntimeError: it is encrypted
_BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, NotImplementedError,
)  # fmt: skip
# names of files that programs export beside their conversations
_EXPORTED = re.compile(r"file[-_]\w+|(?:projects|memories|user|users|thread)\.json$")
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# prefixes of folders that have nothing to do with conversations
_HIDDEN = (".", "__MACOSX")


class ImportProblem(EnvironmentProblem):
    """A file that cannot be read at all."""


class Material(Protocol):
    """`name` of the chosen file or folder. `members` are names with slashes, in a fixed order."""

    name: str
    members: tuple[str, ...]
    # other files of the same export, in the folder of the chosen file
    beside: tuple[str, ...]
    # members in UTF-16 or UTF-32, which are returned as UTF-8
    wide: set[str]

    def data(self, member: str) -> memoryview:
        """All bytes, mapped if they are many; raises ImportProblem."""

    def size(self, member: str) -> int: ...

    def close(self) -> None: ...


def open_material(path: Path, scratch: Path) -> Material:
    """`scratch`: a folder for unpacked files. Raises ImportProblem."""
    try:
        if path.is_dir():
            return MaterialFolder(path, scratch)
        with open_regular(path) as file:
            start = file.read(4)
    except (OSError, ValueError) as error:
        # ValueError: a zero in the name
        reason = getattr(error, "strerror", None) or error
        raise ImportProblem("import-no-file", name=path.name, reason=reason) from error
    if start[:2] == b"PK":
        return Archive(path, scratch)
    return OneFile(path, scratch)


class OneFile:
    def __init__(self, path: Path, scratch: Path) -> None:
        self.name = path.name
        self.members: tuple[str, ...] = (path.name,)
        self.beside = _parts_beside(path)
        self.wide: set[str] = set()
        self._folder, self._scratch = path.parent, scratch

    def data(self, member: str) -> memoryview:
        return _given(_copied(self._folder / member, self._scratch), member in self.wide)

    def size(self, member: str) -> int:
        return _size(self._folder / member)

    def close(self) -> None:
        pass


def _size(path: Path) -> int:
    """Size of a file; 0 if it was removed meanwhile."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _parts_beside(path: Path) -> tuple[str, ...]:
    """Names of an export's own files in the same folder, never others: a file could refer to
    any."""
    found: list[str] = []
    try:
        with os.scandir(path.parent) as entries:
            for entry in entries:
                if len(found) >= _MOST_NAMES:
                    break
                if _EXPORTED.match(entry.name) and entry.is_file(follow_symlinks=False):
                    found.append(entry.name)
    except OSError:
        return ()
    return tuple(sorted(one for one in found if one != path.name))


class MaterialFolder:
    def __init__(self, path: Path, scratch: Path) -> None:
        self.name = path.name
        self._path, self._scratch = path, scratch
        found = []
        # do not follow links: a link may lead to the whole disk
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(one for one in folders if not _is_hidden(one))
            for name in sorted(files):
                file = Path(folder) / name
                # no links and no pipes: a pipe has no end
                if not _is_hidden(name) and not file.is_symlink() and file.is_file():
                    found.append(file.relative_to(path).as_posix())
            if len(found) > _MOST_NAMES:
                raise ImportProblem("import-too-many-files", name=self.name, most=_MOST_NAMES)
        self.members = tuple(found)
        self.beside: tuple[str, ...] = ()
        self.wide: set[str] = set()

    def data(self, member: str) -> memoryview:
        return _given(_copied(self._path / member, self._scratch), member in self.wide)

    def size(self, member: str) -> int:
        return _size(self._path / member)

    def close(self) -> None:
        pass


class Archive:
    def __init__(self, path: Path, scratch: Path, trusted: bool = False) -> None:
        """`trusted`: made by this program, so that only the disk limits its size."""
        self.name = path.name
        self._trusted = trusted
        self._scratch = tempfile.TemporaryDirectory(dir=scratch, ignore_cleanup_errors=True)
        self._unpacked: dict[str, Path] = {}
        self._total = 0
        try:
            self._zip = zipfile.ZipFile(path)
            infos = self._zip.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            self._scratch.cleanup()
            raise ImportProblem("import-broken-zip", name=path.name) from error
        if len(infos) > _MOST_NAMES:
            self.close()
            raise ImportProblem("import-too-many-files", name=self.name, most=_MOST_NAMES)
        self._infos = {
            info.filename: info
            for info in infos
            if info.filename and not info.is_dir()
            if not any(_is_hidden(part) for part in info.filename.split("/"))
        }
        self.members = tuple(self._infos)
        self.beside: tuple[str, ...] = ()
        self.wide: set[str] = set()

    def data(self, member: str) -> memoryview:
        return _given(_mapped(self.unpacked(member)), member in self.wide)

    def unpacked(self, member: str) -> Path:
        """The member as a separate file, until the archive is closed; raises ImportProblem."""
        if member not in self._unpacked:
            self._unpacked[member] = self._unpack(self._infos[member])
        return self._unpacked[member]

    def size(self, member: str) -> int:
        info = self._infos.get(member)
        return 0 if info is None else info.file_size

    def close(self) -> None:
        self._zip.close()
        self._scratch.cleanup()

    def _unpack(self, info: zipfile.ZipInfo) -> Path:
        """Unpack a member, counting its bytes: the size in the archive is not trusted."""
        path = Path(self._scratch.name) / str(len(self._unpacked))
        allowed = max(_BOMB_SIZE, _BOMB_RATIO * info.compress_size)
        allowed = min(allowed, LARGEST_MEMBER, LARGEST_ARCHIVE - self._total)
        if self._trusted:
            allowed = shutil.disk_usage(path.parent).free
        size = 0
        try:
            with self._zip.open(info) as source, path.open("wb") as target:
                while block := source.read(_BLOCK):
                    size += len(block)
                    if size > allowed:
                        raise ImportProblem("import-bomb", name=info.filename, archive=self.name)
                    target.write(block)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            RuntimeError,
            NotImplementedError,
        ) as error:
            # RuntimeError: it is encrypted
            raise ImportProblem("import-broken-member", name=info.filename) from error
        except OSError as error:
            raise ImportProblem(
                "import-no-file", name=info.filename, reason=error.strerror or error
            ) from error
        self._total += size
        return path


def release(data: memoryview, start: int, end: int) -> None:
    """Free the memory of a part of a mapped file that is not needed for now."""
    mapped = data.obj
    first = start - start % mmap.PAGESIZE
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") and end > first:
        mapped.madvise(mmap.MADV_DONTNEED, first, end - first)


def wide_encoding(data: memoryview) -> str:
    """The encoding of UTF-16 or UTF-32 text; "" for anything else."""
    start = bytes(data[:4])
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    # without a byte order mark: characters that JSON and Markdown begin with
    if len(start) == 4 and start[1:] == b"\0\0\0" and start[:1] in b"{[#-":
        return "utf-32-le"
    if len(start) == 4 and start[:3] == b"\0\0\0" and start[3:] in b"{[#-":
        return "utf-32-be"
    if len(start) == 4 and start[1] == start[3] == 0 and start[:1] in b"{[#-":
        return "utf-16-le"
    if len(start) == 4 and start[0] == start[2] == 0 and start[1:2] in b"{[#-":
        return "utf-16-be"
    return ""


def _given(data: memoryview, wide: bool) -> memoryview:
    if not wide:
        return data
    text = bytes(data).decode(wide_encoding(data), "replace")
    return memoryview(text.removeprefix("\ufeff").encode("utf-8", "replace"))


def _is_hidden(name: str) -> bool:
    return name.startswith(_HIDDEN) and name not in (".", "..")


def _copied(path: Path, scratch: Path) -> memoryview:
    """Map an unnamed copy of the user's file: reading a mapped file that was truncated meanwhile
    would end the program."""
    with _told(path), open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST_MEMBER:
            raise ImportProblem("import-too-large", name=path.name, size=size)
        if size < _BLOCK:
            return memoryview(file.read(_BLOCK))
        with tempfile.TemporaryFile(dir=scratch) as copy:
            left = LARGEST_MEMBER
            while left and (block := file.read(min(_BLOCK, left))):
                copy.write(block)
                left -= len(block)
            copy.flush()
            return memoryview(mmap.mmap(copy.fileno(), 0, access=mmap.ACCESS_READ))


def _mapped(path: Path) -> memoryview:
    """Map a file that was unpacked here."""
    with _told(path), path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < _BLOCK:
            return memoryview(file.read())
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ImportProblem("import-no-file", name=path.name, reason=reason) from error

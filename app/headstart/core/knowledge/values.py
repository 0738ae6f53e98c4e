"""Files, their pieces and what a search finds, as values. Pure.

A file's text is that of its pages, joined by PAGE_BREAK, or of its parts, joined; a place in it is
a range of code points. It is known by the SHA-256 of the file's bytes.
"""

from __future__ import annotations

from msgspec import Struct

from headstart.core.text.file_names import readable
from headstart.core.told import Told


def source_name(source: str) -> str:
    """The name of a folder or file: the last part of its path."""
    return source.replace("\\", "/").rstrip("/").rpartition("/")[2] or source


class PieceRow(Struct, frozen=True, array_like=True):
    """A piece as the index stores it: see `pieces.CutPiece`. `heading` and `folded` are in the form
    of `folding.fold`; `digest`: 16 bytes of the headings and the text, for vectors."""

    start: int
    end: int
    page: int
    line: int
    heading: str
    folded: str
    digest: bytes


class ReadFile(Struct, frozen=True, array_like=True):
    """The text of one file in pieces. `unit` as in `Extracted`; `encoding`: the detected one, ""
    if it is certain; `blank`: number of pages without text."""

    media_type: str
    unit: str
    encoding: str
    pages: int
    blank: int
    characters: int
    rows: tuple[PieceRow, ...]


class PagePicture(Struct, frozen=True, array_like=True):
    """A page of a PDF with `pages`. `pixels`: rows of four bytes each (blue, green, red, unused);
    `rects`: left, top, width and height of the marked words, in pixels."""

    width: int
    height: int
    pages: int
    pixels: bytes
    rects: tuple[tuple[int, int, int, int], ...] = ()

    def __repr__(self) -> str:
        return f"PagePicture({self.width}, {self.height}, {len(self.rects)} marks)"


class FileStamp(Struct, frozen=True):
    """A file of a folder, as the file system tells it without opening it. `path`: bytes, relative
    to its source; "" for a source that is a file."""

    path: bytes
    size: int
    mtime_ns: int


class FileRow(Struct, frozen=True):
    """A file of a source as the index knows it. `problem`: why it has no text, as a stored Told.
    `lost_at`: since when it cannot be read, in ms; 0 while it can."""

    id: int
    path: bytes
    size: int
    mtime_ns: int
    digest: bytes | None = None
    problem: str = ""
    lost_at: int = 0


class Place(Struct, frozen=True):
    """A range of a file's text. `source`: the folder or file that the user added; `path`:
    relative to it. `digest`: of the file's bytes, in hexadecimal."""

    source: str
    path: str
    digest: str
    start: int
    end: int
    page: int = 0
    line: int = 1

    @property
    def name(self) -> str:
        """The file's name."""
        whole = self.path or self.source
        return readable(whole.replace("\\", "/").rstrip("/").rpartition("/")[2])


class KnowledgeHit(Struct, frozen=True):
    """A passage that a search found. `exact`: it has all names of the question literally."""

    piece: int
    place: Place
    heading: str
    text: str
    exact: bool = False


class SourceState(Struct, frozen=True):
    """Progress and contents of a source in the index. `waiting`: files not read yet; `left_out`:
    numbers by reason; `away`: the folder cannot be reached; `problem`: of the source itself;
    `held`: it is not looked at before the user asks for it."""

    source: str
    files: int = 0
    waiting: int = 0
    pieces: int = 0
    characters: int = 0
    meant: int = 0
    left_out: tuple[tuple[str, int], ...] = ()
    looked_at: int = 0
    away: bool = False
    problem: Told | None = None
    held: bool = False

    @property
    def meaning_share(self) -> float:
        """The share of pieces with a vector, from 0 to 1."""
        return self.meant / self.pieces if self.pieces else 1.0

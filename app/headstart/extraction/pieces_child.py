"""The child process that reads many files into pieces for the index, one after the other.

Frames of MessagePack on standard input and output: a name and bytes in, pieces, a page's picture or
a problem out.
The same limits as for one file (`child`), but processor time is counted for each.
"""

from __future__ import annotations

import os
import struct
import sys
import time
from hashlib import blake2b
from typing import IO

import msgspec
from msgspec import Struct

from headstart.core.chats.attachments import Extracted, Unit
from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.pieces import PAGE_BREAK, cut, meant
from headstart.core.knowledge.values import PagePicture, PieceRow, ReadFile
from headstart.core.text.folding import fold
from headstart.core.told import told
from headstart.extraction.child import MEMORY, SECONDS, limit
from headstart.extraction.windows_job import limit_this_process

OPTION = "--read-files"
_LENGTH = struct.Struct("<Q")
# marks of the folded form, which no text needs
_MARKS = str.maketrans({"\x1e": " ", "\x1f": " ", "\x01": " ", "\x02": " "})


class Wanted(Struct, array_like=True):
    """A file to be read. With a `page`: to be drawn as a picture, `width` pixels wide, with
    `words` marked."""

    name: str
    data: bytes
    page: int = 0
    words: str = ""
    width: int = 0


class PiecesAnswer(Struct, array_like=True):
    """`problem`: a stored Told; `log`: the kind of an exception that is a bug."""

    found: ReadFile | None
    problem: str = ""
    log: str = ""
    picture: PagePicture | None = None


def send(stream: IO[bytes], value: Struct) -> None:
    body = msgspec.msgpack.encode(value)
    stream.write(_LENGTH.pack(len(body)))
    stream.write(body)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """The next frame; None at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    body = stream.read(size)
    return body if len(body) == size else None


def main() -> int:
    """Read files until standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    limit()
    while (frame := receive(sys.stdin.buffer)) is not None:
        _more_time()
        wanted = msgspec.msgpack.decode(frame, type=Wanted)
        del frame
        send(answers, _answer(wanted))
    return 0


def _answer(wanted: Wanted) -> PiecesAnswer:
    name = wanted.name
    try:
        if wanted.page:
            from headstart.extraction.page_picture import draw_page

            where = wanted.page, wanted.words, wanted.width
            return PiecesAnswer(None, picture=draw_page(wanted.data, name, *where))
        from headstart.extraction.reading import read

        found = read(wanted.data, name, lambda _done, _total: None)
        return PiecesAnswer(in_pieces(found))
    except EnvironmentProblem as problem:
        return PiecesAnswer(None, problem.told.stored)
    except MemoryError:
        return PiecesAnswer(None, told("attachment-too-large", name=name).stored)
    except Exception as error:
        return PiecesAnswer(
            None, told("attachment-crashed", name=name).stored, type(error).__name__
        )


def in_pieces(found: Extracted) -> ReadFile:
    """The rows of the index for an extracted text."""
    paged = found.unit is Unit.PAGE
    text = text_of(found)
    rows = []
    for piece in cut(text, paged):
        body = text[piece.start : piece.end]
        digest = blake2b(meant(piece.heading, body).encode("utf-8", "replace"), digest_size=16)
        rows.append(
            PieceRow(
                piece.start,
                piece.end,
                piece.page,
                piece.line,
                fold(piece.heading),
                fold(body),
                digest.digest(),
            )
        )
    return ReadFile(
        found.media_type,
        found.unit.value,
        found.encoding,
        len(found.pages) if paged else 0,
        len(found.without_text) if paged else 0,
        len(text),
        tuple(rows),
    )


def text_of(found: Extracted) -> str:
    """The text whose ranges are places."""
    if found.unit is Unit.PAGE:
        pages = (page.replace(PAGE_BREAK, " ") for page in found.pages)
        return PAGE_BREAK.join(pages).translate(_MARKS)
    return "".join(found.pages).translate(_MARKS)


def _more_time() -> None:
    limit_this_process(MEMORY, time.process_time() + SECONDS)
    if sys.platform != "win32":
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        soft = int(used.ru_utime + used.ru_stime) + SECONDS
        if hard != resource.RLIM_INFINITY:
            soft = min(soft, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))

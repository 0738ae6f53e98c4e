"""A page of a PDF as a picture, with the places of some of its words. In the child process only.

Words are found by their letters and digits: the text of a page is in reading order, PDFium's
characters are in that of the file. A line that is not found whole is looked up in shorter runs.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.values import PagePicture
from headstart.core.text.folding import plain
from headstart.extraction.columns import Box
from headstart.extraction.pdfium import pdfium

# most pixels of a side, and letters of a run that is looked up
_MOST_PIXELS, _LEAST_LETTERS = 8_000, 4
# words of a run
_RUN = 5
# a box joins the line of the one before if their middles differ by less than this share of it
_SAME_LINE = 0.6


def draw_page(data: bytes, name: str, page: int, words: str, width: int) -> PagePicture:
    """Page `page` (from 1 on), `width` pixels wide, with the places of `words` marked; rows of four
    bytes for each pixel: blue, green, red, unused. Raises EnvironmentProblem."""
    pypdfium2 = pdfium()
    try:
        document = pypdfium2.PdfDocument(data)
        if not 0 < page <= len(document):
            raise EnvironmentProblem("attachment-damaged", name=name)
        shown = document[page - 1]
        across, down = shown.get_size()
        # the size is rounded up
        scale = min((width - 0.5) / max(1, across), _MOST_PIXELS / max(1, down))
        bitmap = shown.render(scale=scale, prefer_bgrx=True, rev_byteorder=False)
        size = bitmap.width, bitmap.height
        rects = tuple(_placed(shown, one, size) for one in _boxes(shown.get_textpage(), words))
        pixels = _packed(bytes(bitmap.buffer), bitmap.stride, *size)
        return PagePicture(*size, len(document), pixels, rects)
    except pypdfium2.PdfiumError as error:
        raise EnvironmentProblem("attachment-damaged", name=name) from error


def _packed(pixels: bytes, stride: int, width: int, height: int) -> bytes:
    """Rows without the bytes that fill them up."""
    row = 4 * width
    if stride == row:
        return pixels
    return b"".join(pixels[at * stride : at * stride + row] for at in range(height))


def _placed(page: Any, box: Box, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Left, top, width and height in pixels, of a box in points."""
    from pypdfium2 import raw

    corners = []
    for x, y in ((box.left, box.top), (box.right, box.bottom)):
        left, top = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, left, top)
        corners.append((left.value, top.value))
    (x0, y0), (x1, y1) = corners
    # a turned page swaps them
    return min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)


def _boxes(page: Any, words: str) -> list[Box]:
    """The boxes of words on a page, one for each line of them."""
    from pypdfium2 import raw

    letters: list[str] = []
    places: list[int] = []
    for index in range(page.count_chars()):
        for one in plain(chr(raw.FPDFText_GetUnicode(page, index))):
            if one.isalnum():
                letters.append(one)
                places.append(index)
    text = "".join(letters)
    found: list[Box] = []
    at = 0
    for line in words.split("\n"):
        for run in _runs(line, text):
            # the next place first: words may stand on a page twice
            begin = text.find(run, at)
            begin = text.find(run) if begin < 0 else begin
            if begin < 0:
                continue
            at = begin + len(run)
            indexes = dict.fromkeys(places[begin:at])
            found += _joined([Box(*page.get_charbox(one, loose=True)) for one in indexes])
    return found


def _runs(line: str, text: str) -> Iterator[str]:
    """The letters of a line, whole if the page has them in a row, else of a few words each."""
    whole = _letters(line)
    if whole in text:
        if len(whole) >= _LEAST_LETTERS or len(whole) == len(text):
            yield whole
        return
    parts = line.split()
    for at in range(0, len(parts), _RUN):
        run = _letters(" ".join(parts[at : at + _RUN]))
        if len(run) >= _LEAST_LETTERS:
            yield run


def _letters(text: str) -> str:
    return "".join(one for one in plain(text) if one.isalnum())


def _joined(boxes: Sequence[Box]) -> list[Box]:
    """Boxes of letters, joined within their lines."""
    lines: list[Box] = []
    for one in boxes:
        if one.height <= 0 or one.right <= one.left:
            continue
        last = lines[-1] if lines else None
        if last is not None:
            apart = abs((one.top + one.bottom) - (last.top + last.bottom)) / 2
            if apart < _SAME_LINE * last.height and one.left >= last.left:
                lines[-1] = Box(
                    last.left,
                    min(last.bottom, one.bottom),
                    max(last.right, one.right),
                    max(last.top, one.top),
                )
                continue
        lines.append(one)
    return lines

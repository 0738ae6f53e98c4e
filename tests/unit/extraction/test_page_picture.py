"""Pages of PDFs as pictures: marks lie on their words, whatever the page; damaged files are
refused."""

from __future__ import annotations

import random

import pytest
from PySide6.QtGui import QGuiApplication

from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.values import PagePicture
from headstart.extraction.documents import read_pdf
from headstart.extraction.page_picture import draw_page
from tests.support.documents import pdf

WIDTH = 800
LINES = [f"Line {number} has the word number{number}x and some more." for number in range(40)]
# points: the margins of `pdf`, and the distance of its lines
MARGIN, LINE = 15 / 25.4 * 72, 12


def drawn(data: bytes, words: str, page: int = 1) -> PagePicture:
    return draw_page(data, "a.pdf", page, words, WIDTH)


def is_dark(picture: PagePicture, rect: tuple[int, int, int, int]) -> bool:
    """True if a rectangle has ink."""
    left, top, width, height = rect
    for y in range(max(0, top), min(picture.height, top + height)):
        row = picture.pixels[4 * (y * picture.width + left) :][: 4 * width]
        if row and min(row[::4]) < 120:
            return True
    return False


@pytest.mark.parametrize("line", [0, 1, 17, 39])
def test_marks_lie_on_their_words(qapp: QGuiApplication, line: int) -> None:
    picture = drawn(pdf(["\n".join(LINES)]), f"word number{line}x")
    ((left, top, width, height),) = picture.rects
    scale = picture.width / (210 / 25.4 * 72)
    middle = (top + height / 2) / scale
    assert abs(middle - (MARGIN + LINE * (line + 1) - 3)) < LINE / 2
    assert left / scale > MARGIN
    assert 40 < width / scale < 120
    assert is_dark(picture, (left, top, width, height))


def test_each_line_of_a_passage_is_marked(qapp: QGuiApplication) -> None:
    data = pdf(["first page", "\n".join(LINES)])
    text = read_pdf(data, "a.pdf", lambda _done, _total: None)[1]
    picture = drawn(data, text[: len(text) // 2], 2)
    assert picture.pages == 2
    assert 18 <= len(picture.rects) <= 22
    assert all(is_dark(picture, one) for one in picture.rects)
    tops = [top for _, top, _, _ in picture.rects]
    assert tops == sorted(tops)


def test_words_in_another_order_are_found_in_runs(qapp: QGuiApplication) -> None:
    """The text of a page may have lines that PDFium has not."""
    words = "Line 30 has the word number30x and " + LINES[3]
    picture = drawn(pdf(["\n".join(LINES)]), words)
    assert len(picture.rects) >= 2


@pytest.mark.parametrize("words", ["", "!!!", "not on this page", "\n\n", "日本語"])
def test_words_that_a_page_does_not_have_mark_nothing(qapp: QGuiApplication, words: str) -> None:
    picture = drawn(pdf(["\n".join(LINES)]), words)
    assert picture.rects == ()
    assert len(picture.pixels) == 4 * picture.width * picture.height
    assert picture.width == WIDTH


def test_damaged_files_and_other_pages_are_refused(qapp: QGuiApplication) -> None:
    data = pdf(["\n".join(LINES)])
    for page in (0, -1, 2, 10**9):
        with pytest.raises(EnvironmentProblem):
            drawn(data, "word", page)
    draw = random.Random(5)
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(draw.randrange(1, 40)):
            broken[draw.randrange(len(broken))] = draw.randrange(256)
        try:
            picture = drawn(bytes(broken[: draw.randrange(len(broken))]), "word number3x")
        except EnvironmentProblem:
            continue
        assert len(picture.pixels) == 4 * picture.width * picture.height

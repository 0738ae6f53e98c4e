"""The order in which a page of a PDF is read, whatever order it is written in."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.extraction.columns import Box, reading_order
from headstart.extraction.reading import read
from tests.support.plain_pdf import plain_pdf

LEFT = [
    "The sea rises twice a day because the",
    "moon pulls the water on the side that",
    "faces it more than the earth, and the",
    "earth more than the water behind it.",
]
RIGHT = [
    "Harbours therefore have two high tides",
    "in a day, some fifty minutes later from",
    "one day to the next. Where coasts are",
    "narrow the tide may be much higher.",
]
TITLE = "Why the sea rises and falls, told in two columns below a title across both"
NOTE = "A note across both columns, which is read when they are, and last of all lines"
TABLE = (
    ("flour, white", "500 g of it, as fine as it can be"),
    ("salt", "10 g, from the sea"),
    ("water", "325 g, as warm as a hand"),
    ("yeast", "3 g, fresh, or one of dried yeast"),
)
JAPANESE = [
    "春はあけぼの。やうやう白くなりゆく",
    "山ぎは、すこしあかりて、紫だちたる",
    "雲のほそくたなびきたる。夏は夜。",
]


def _at(x: float, y: float, words: str, size: int = 8) -> str:
    return f"/F1 {size} Tf 1 0 0 1 {x} {y} Tm ({words}) Tj"


def _text(pieces: Sequence[str], japanese: str = "") -> str:
    data = plain_pdf(f"BT {' '.join(pieces)} ET", japanese=japanese)
    return read(data, "page.pdf", lambda *_: None).text


@pytest.mark.parametrize("order", ["columns", "rows", "from the right"])
@pytest.mark.parametrize("shift", [0, 3])
def test_columns_of_prose_are_read_one_after_the_other(order: str, shift: int) -> None:
    left = [_at(20, 150 - 12 * row, line) for row, line in enumerate(LEFT)]
    right = [_at(175, 150 - shift - 12 * row, line) for row, line in enumerate(RIGHT)]
    rows = [one for pair in zip(left, right, strict=True) for one in pair]
    body = {"columns": left + right, "rows": rows, "from the right": right + left}[order]
    found = _text([_at(20, 175, TITLE, 9), *body, _at(20, 80, NOTE)])
    assert found.split("\n") == [TITLE, *LEFT, *RIGHT, NOTE]


def test_three_columns_are_three() -> None:
    names = ("One", "Two", "Six")
    words = [[f"{name} {row} fills the column" for row in range(5)] for name in names]
    rows = [
        _at(10 + 95 * place, 150 - 12 * row, words[place][row])
        for row in range(5)
        for place in range(3)
    ]
    assert _text(rows).split("\n") == [line for column in words for line in column]


def test_a_table_is_read_by_its_rows() -> None:
    rows = [_at(x, 150 - 12 * row, cell) for row, cells in enumerate(TABLE)
            for x, cell in zip((20, 175), cells, strict=True)]  # fmt: skip
    assert [" ".join(line.split()) for line in _text(rows).split("\n")] == [
        " ".join(cells) for cells in TABLE
    ]


@pytest.mark.parametrize("way", ["H", "V"])
@pytest.mark.parametrize("each", ["sign", "line"])
def test_japanese_from_top_to_bottom_keeps_its_lines(way: str, each: str) -> None:
    if (way, each) == ("H", "line"):
        pytest.skip("lines of a font that is written across are written across")
    pieces = []
    for number, line in enumerate(JAPANESE):
        for place, sign in enumerate(line if each == "sign" else [line]):
            code = f"<{sign.encode('utf-16-be').hex()}>"
            pieces.append(f"/F1 10 Tf 1 0 0 1 {300 - 20 * number} {185 - 10 * place} Tm {code} Tj")
    assert _text(pieces, way).split("\n") == JAPANESE


@given(
    st.lists(
        st.tuples(*(st.floats(0, 600) for _ in range(2)), st.floats(1, 200), st.floats(1, 20)),
        max_size=40,
    ),
    st.booleans(),
)
def test_every_piece_is_in_a_part(
    given_: list[tuple[float, float, float, float]], from_right: bool
) -> None:
    pieces = [Box(x, y, x + width, y + height) for x, y, width, height in given_]
    parts = reading_order(pieces, from_right)
    for one in pieces:
        assert any(
            part.left <= one.left and part.right >= one.right and part.bottom <= one.bottom
            and part.top >= one.top for part in parts
        )  # fmt: skip


def test_a_page_of_many_cells_takes_no_time_that_grows_with_its_cuts() -> None:
    """Each of 60 columns of 80 rows could be one of prose, but for the last."""
    cells = [
        Box(20.0 * column, 10.0 * row, 20.0 * column + (19 if column < 59 or row % 2 else 2),
            10.0 * row + 1)
        for row in range(80) for column in range(60)
    ]  # fmt: skip
    assert reading_order(cells)

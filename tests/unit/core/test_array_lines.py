"""Lines of arrays: they meet where they cross, and are dashes where dashes were asked for."""

from __future__ import annotations

import re

import pytest

from headstart.core.markdown.formula import formula

_RECT = re.compile(r'<rect x="([-\d.]+)" y="([-\d.]+)" width="([-\d.]+)" height="([-\d.]+)"/>')
Area = tuple[float, float, float, float]


def _rects(latex: str) -> list[Area]:
    drawn = formula(latex, True)
    assert drawn is not None
    found = [tuple(map(float, one.groups())) for one in _RECT.finditer(drawn.svg)]
    return [(x, y, width, height) for x, y, width, height in found]


def test_outer_lines_meet_in_the_corners() -> None:
    rects = _rects(r"\begin{array}{|c|c|} \hline a & b \\ \hline c & d \\ \hline \end{array}")
    across = [one for one in rects if one[2] > one[3]]
    down = [one for one in rects if one[3] > one[2]]
    assert (len(across), len(down)) == (3, 3)
    assert {(x, round(x + width, 3)) for x, _, width, _ in across} == {
        (min(one[0] for one in down), round(max(one[0] + one[2] for one in down), 3))
    }
    assert {(y, round(y + height, 3)) for _, y, _, height in down} == {
        (min(one[1] for one in across), round(max(one[1] + one[3] for one in across), 3))
    }


@pytest.mark.parametrize("between", ["", r"\hdashline"])
@pytest.mark.parametrize("columns", ["c:c", "cc"])
def test_dashes_are_many_short_lines(columns: str, between: str) -> None:
    whole = columns.replace(":", "|"), between.replace("hdash", "h")
    dashed, solid = (
        _rects(rf"\begin{{array}}{{{each}}} a & b \\ {line} c & d \end{{array}}")
        for each, line in ((columns, between), whole)
    )
    asked = (columns == "c:c") + bool(between)
    assert len(solid) == asked
    assert len(dashed) >= 5 * asked
    if asked:
        # as far as whole lines go
        for side in (0, 1):
            assert min(one[side] for one in dashed) == min(one[side] for one in solid)
            far = [max(one[side] + one[side + 2] for one in each) for each in (dashed, solid)]
            assert far[0] == pytest.approx(far[1], abs=0.1)


@pytest.mark.parametrize(
    "latex",
    [
        r"\begin{array}{c|c:c} a & b & c \end{array}",
        r"\begin{array}{c} a \\ \hline b \\ \hdashline c \end{array}",
        r"\begin{array}{c:c} a & |b| \end{array}",
        r"\begin{array}{c} \frac{a}{b} \\ \hdashline c \end{array}",
        r"\begin{array}{c:c} a & b \end{array} \begin{array}{c} c \end{array}",
    ],
)
def test_dashes_that_may_be_other_lines_stay_as_written(latex: str) -> None:
    assert formula(latex, True) is None


def test_other_lines_of_a_formula_stay_where_they_are() -> None:
    fraction = r"\begin{array}{c|c} \frac{a}{2} & b \\ \hline c & d \end{array}"
    assert len(_rects(fraction)) == 3
    assert len(_rects(r"\frac{a}{b}")) == 1

"""Formulas stand on the line where words stand, also where there are no words."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QTextDocument, QTextTable
from PySide6.QtWidgets import QApplication

from headstart.ui.transcript.markdown import parse
from headstart.ui.transcript.prose import fill


def baselines(text: str) -> list[float]:
    """How far the baseline is below the top of each cell of a table's second row."""
    document = QTextDocument()
    fill(document, parse(text)[0])
    document.setTextWidth(400)
    # a layout is made when it is asked for its size
    assert document.size().height() > 0
    (table,) = (one for one in document.rootFrame().childFrames() if isinstance(one, QTextTable))
    cells = [table.cellAt(1, column) for column in range(table.columns())]
    lines = [cell.firstCursorPosition().block().layout().lineAt(0) for cell in cells]
    return [line.y() + line.ascent() for line in lines]


@pytest.mark.parametrize("formula", [r"\varphi", r"\varrho", "x", "a^2", r"\rho_1"])
def test_a_low_formula_alone_in_a_cell_stands_where_words_stand(
    qapp: QApplication, formula: str
) -> None:
    alone, words, both = baselines(
        f"|a|b|c|\n|---|---|---|\n|${formula}$|angle|angle ${formula}$|\n"
    )
    assert alone == pytest.approx(words, abs=1)
    assert both == pytest.approx(words, abs=1)

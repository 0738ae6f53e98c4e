"""Lines are of one height whatever signs stand in them, and the composer is as high as its."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QTextBlockFormat, QTextDocument, QTextTable
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from headstart.core.settings.schema import LineSpacing
from headstart.ui.composer.edit import MOST_LINES, GrowingEdit
from headstart.ui.kit import theme
from headstart.ui.kit.line_heights import is_high
from headstart.ui.transcript.markdown import parse
from headstart.ui.transcript.prose import fill, growth

WORDS = {
    "han": "中文测试", "kana": "かなカナ", "hangul": "한국어", "arabic": "العربية",
    "persian": "پژوهش", "hebrew": "עברית", "hindi": "हिन्दी",
    "cyrillic": "Слово", "vietnamese": "Tiếng Việt",
    "emoji": "😀👍🏽", "signs": "∑∫≠→", "code": "`code()`", "bold": "**bold**",
}  # fmt: skip
STACKED = {"thai": "ที่นู่น", "tibetan": "བོད་ཡིག", "urdu": "ہے ں ٹ", "tamil": "தமிழ்", "khmer": "ខ្មែរ"}


@pytest.fixture(params=theme.LINE_SPACINGS)
def spacing(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[LineSpacing]:
    spacing: LineSpacing = request.param
    theme.set_reading(100, "medium", spacing)
    yield spacing
    theme.set_reading(100, "medium", "normal")


def laid_out(text: str) -> QTextDocument:
    document = QTextDocument()
    document.setDocumentMargin(0)
    fill(document, parse(text)[0])
    document.setTextWidth(600)
    # a layout is made when it is asked for its size
    assert document.size().height() > 0
    return document


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_baselines_keep_their_distance(spacing: LineSpacing, word: str) -> None:
    document = laid_out(f"word  \na {word}  \nword  \n{word}  \nword")
    layout = document.firstBlock().layout()
    lines = [layout.lineAt(number) for number in range(layout.lineCount())]
    assert len(lines) == 5
    baselines = [line.y() + line.ascent() for line in lines]
    distances = [below - above for above, below in itertools.pairwise(baselines)]
    assert distances == pytest.approx([theme.line_height()] * 4, abs=0.05)
    assert document.size().height() == pytest.approx(5 * theme.line_height(), abs=0.05)


@pytest.mark.parametrize("word", STACKED.values(), ids=STACKED)
def test_what_stacks_its_signs_gets_the_room_it_needs(word: str) -> None:
    document = laid_out(f"word  \na {word}")
    kind = document.firstBlock().blockFormat().lineHeightType()
    assert kind == QTextBlockFormat.LineHeightTypes.MinimumHeight.value
    # nor does it come into a paragraph that is laid out for less
    assert growth("<p>some words</p>", f"<p>some words {word}</p>") is None


def test_a_formula_in_a_line_gets_the_room_it_needs() -> None:
    one = laid_out("word")
    two = laid_out(r"word $\frac{\frac{a}{b}}{\frac{c}{d}}$")
    assert two.size().height() > one.size().height() + 5


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_rows_of_a_table_are_of_one_height(qapp: QApplication, word: str) -> None:
    document = laid_out(f"|a|b|\n|---|---|\n|word|word|\n|word|{word}|\n|word|word|\n")
    (table,) = (one for one in document.rootFrame().childFrames() if isinstance(one, QTextTable))
    layout = document.documentLayout()
    tops = [
        layout.blockBoundingRect(table.cellAt(row, 0).firstCursorPosition().block()).top()
        for row in range(1, 4)
    ]
    assert tops[1] - tops[0] == pytest.approx(tops[2] - tops[1], abs=0.05)


def test_usual_words_are_not_high() -> None:
    assert not any(is_high(word) for word in WORDS.values())
    assert all(is_high(word) for word in STACKED.values())


@pytest.mark.parametrize("word", [*WORDS.values(), *STACKED.values()], ids=[*WORDS, *STACKED])
@pytest.mark.parametrize("count", [1, 5, MOST_LINES, 40])
def test_the_composer_shows_its_lines_whole(qtbot: QtBot, word: str, count: int) -> None:
    place = QWidget()
    qtbot.addWidget(place)
    edit = GrowingEdit(place)
    edit.setGeometry(0, 0, 400, 30)
    place.show()
    edit.setPlainText("\n".join([word] * count))
    block, natural = edit.document().begin(), 0.0
    for _line in range(min(count, MOST_LINES)):
        natural += block.layout().lineAt(0).height()
        block = block.next()
    assert edit.height() - 4 == pytest.approx(max(natural, edit.fontMetrics().height()), abs=1)
    assert edit.verticalScrollBar().isVisible() is (count > MOST_LINES)

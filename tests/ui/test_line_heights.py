"""Lines are of one height whatever signs stand in them, and the composer is as high as its.

No test knows which fonts there are: the last one runs the others where there are none.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray
from PySide6.QtGui import (
    QFontDatabase,
    QTextBlock,
    QTextBlockFormat,
    QTextDocument,
    QTextLine,
    QTextTable,
)
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from headstart.core.chats.parts import TextPart, text_part
from headstart.core.chats.sections import sections_of
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.core.resources import resources
from headstart.core.settings.schema import LineSpacing
from headstart.ui.composer.edit import MOST_LINES, GrowingEdit
from headstart.ui.kit import theme
from headstart.ui.kit.line_heights import is_high, level
from headstart.ui.transcript.blocks import ProseBlock, TextBlock
from headstart.ui.transcript.markdown import parse
from headstart.ui.transcript.prose import fill, growth
from headstart.ui.transcript.view import TranscriptView

WORDS = {
    "han": "中文测试", "kana": "かなカナ", "hangul": "한국어", "arabic": "العربية",
    "persian": "پژوهش", "hebrew": "עברית", "hindi": "हिन्दी",
    "cyrillic": "Слово", "vietnamese": "Tiếng Việt",
    "emoji": "😀👍🏽", "signs": "∑∫≠→", "code": "`code()`", "bold": "**bold**",
}  # fmt: skip
STACKED = {"thai": "ที่นู่น", "tibetan": "བོད་ཡིག", "urdu": "ہے ں ٹ", "tamil": "தமிழ்", "khmer": "ខ្មែរ"}
# the scripts that Qt sets with OpenType only
OPENTYPE = {
    "syriac": "ܣܘܪܝܝܐ", "thaana": "ދިވެހި", "nko": "ߒߞߏ", "hindi": "हिन्दी", "bengali": "বাংলা",
    "gurmukhi": "ਪੰਜਾਬੀ", "gujarati": "ગુજરાતી", "oriya": "ଓଡ଼ିଆ", "tamil": "தமிழ்",
    "telugu": "తెలుగు", "kannada": "ಕನ್ನಡ", "malayalam": "മലയാളം", "sinhala": "සිංහල",
    "khmer": "ខ្មែរ",
}  # fmt: skip
# some that few computers have fonts for
RARE = {
    "gothic": "𐌲𐌿𐍄",
    "cuneiform": "𒀀𒁀",
    "vai": "ꕙꔤ",
    "inuit": "ᐃᓄᒃ",
    "private": "\ue000",
    "music": "𝄞",
}
ALONE = "HEADSTART_TESTS_WITHOUT_FONTS"


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
    level(document)
    return document


def blocks_of(document: QTextDocument) -> list[QTextBlock]:
    return [document.findBlockByNumber(number) for number in range(document.blockCount())]


def lines_of(block: QTextBlock) -> list[QTextLine]:
    return [block.layout().lineAt(number) for number in range(block.layout().lineCount())]


def distances(document: QTextDocument) -> list[float]:
    """From each baseline to the next."""
    baselines = [
        block.layout().position().y() + line.y() + line.ascent()
        for block in blocks_of(document)
        for line in lines_of(block)
    ]
    return [below - above for above, below in itertools.pairwise(baselines)]


@pytest.mark.parametrize("word", [*WORDS.values(), *RARE.values()], ids=[*WORDS, *RARE])
def test_baselines_keep_their_distance(spacing: LineSpacing, word: str) -> None:
    document = laid_out(f"word  \na {word}  \nword  \n{word}  \nword")
    assert distances(document) == pytest.approx([theme.line_height()] * 4, abs=0.05)
    assert document.size().height() == pytest.approx(5 * theme.line_height(), abs=0.05)


def test_scripts_beside_each_other_keep_the_distance(spacing: LineSpacing) -> None:
    usual = [word for word in (*WORDS.values(), *RARE.values()) if not is_high(word)]
    document = laid_out("  \n".join(["word", " ".join(usual), "word", *reversed(usual), "word"]))
    assert distances(document) == pytest.approx(
        [theme.line_height()] * len(distances(document)), abs=0.05
    )


@pytest.fixture
def gap(monkeypatch: pytest.MonkeyPatch, qapp: QApplication) -> Iterator[None]:
    """A font that wants a gap of a third of its size between lines, as some systems' own do, for
    what Inter lacks: JetBrains Mono with another name and measure."""
    data = bytearray((resources() / "fonts" / "JetBrainsMono-Regular.ttf").read_bytes())
    for coding in ("utf-16-be", "latin-1"):
        data = data.replace("JetBrains Mono".encode(coding), "JetBrains Gaps".encode(coding))
    # of the two tables with a gap, systems read one or the other
    for name, place in ((b"hhea", 8), (b"OS/2", 72)):
        entry = data.index(name)
        begin = int.from_bytes(data[entry + 8 : entry + 12], "big") + place
        data[begin : begin + 2] = (333).to_bytes(2, "big")
    number = QFontDatabase.addApplicationFontFromData(QByteArray(bytes(data)))
    families = QFontDatabase.applicationFontFamilies(number)
    assert families == ["JetBrains Gaps"]
    monkeypatch.setattr(theme, "han_fonts", lambda: families)
    yield
    QFontDatabase.removeApplicationFont(number)


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TranscriptView]:
    view = TranscriptView()
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    yield view
    view.host.highlighter.close()


def test_a_gap_that_a_font_wants_moves_no_line(
    view: TranscriptView, gap: None, spacing: LineSpacing
) -> None:
    # Inter has none of these
    word = "∀∃"
    done = MessageStatus.COMPLETE
    text = f"word\na {word}\nword\n{word}\nword"
    lines = text.replace("\n", "  \n")
    table = f"|a|b|\n|---|---|\n|word|{word}|\n"
    branch = [
        Message("q", "c", None, Role.USER, done, text_part(text), 0),
        Message("t", "c", None, Role.ASSISTANT, done, text_part(table), 0),
        Message("r", "c", None, Role.ASSISTANT, MessageStatus.OPEN, text_part(lines), 0),
    ]
    view.set_branch(branch, False)
    QApplication.processEvents()
    plain, cells, prose = view.viewport().findChildren(TextBlock)
    for block in (plain, prose):
        second = [line for one in blocks_of(block.document) for line in lines_of(one)][1]
        assert second.leading() > 1
        each = distances(block.document)
        assert each == pytest.approx([theme.line_height()] * 4, abs=0.05), type(block)
    first, other = baselines_of_cells(cells.document)
    assert first == pytest.approx(other, abs=0.05)
    # while it is written
    for words in (" and", f" more {word}", f" words {word}" * 40):
        lines += words
        view.reply.show("r", sections_of([TextPart(lines)]))
        view.reply.paint()
        QApplication.processEvents()
        (prose,) = (one for one in view.viewport().findChildren(ProseBlock) if one.isVisible())
        each = distances(prose.document)
        assert each == pytest.approx([theme.line_height()] * len(each), abs=0.05), words
    assert len(each) > 5


def baselines_of_cells(document: QTextDocument) -> list[float]:
    """Of the two cells in the second row of a table."""
    (table,) = (one for one in document.rootFrame().childFrames() if isinstance(one, QTextTable))
    found = []
    for column in range(2):
        line = table.cellAt(1, column).firstCursorPosition().block().layout().lineAt(0)
        found.append(line.y() + line.ascent())
    return found


@pytest.mark.parametrize("word", OPENTYPE.values(), ids=OPENTYPE)
def test_a_script_without_a_font_is_as_high_as_words(qapp: QApplication, word: str) -> None:
    """Boxes of Qt's own would want a gap; those of a font that is there need no more than it."""
    theme.load_fonts()
    heights = []
    for text in ("word", word):
        document = QTextDocument()
        document.setDefaultFont(theme.reading_font())
        document.setPlainText(text)
        assert document.size().height() > 0
        heights.append(document.firstBlock().layout().lineAt(0).height())
    if os.environ.get(ALONE):
        assert heights[0] == heights[1]
    else:
        assert heights[0] <= heights[1]


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


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have fonts")
@pytest.mark.skipif(bool(os.environ.get(ALONE)), reason="it starts itself")
def test_all_of_this_where_no_fonts_are_installed(tmp_path: Path) -> None:
    (tmp_path / "fonts.conf").write_text(
        '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">'
        f"<fontconfig><cachedir>{tmp_path}/cache</cachedir></fontconfig>"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            __file__,
        ],
        cwd=Path(__file__).parents[2],
        env={**os.environ, ALONE: "1", "FONTCONFIG_FILE": str(tmp_path / "fonts.conf")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout

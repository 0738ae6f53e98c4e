"""Runs that no person wrote as words are broken anywhere, and nothing else is."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from headstart.ui.composer.composer import Composer
from headstart.ui.composer.edit import MOST_LINES
from headstart.ui.kit.long_lines import LONGEST_LINE, cut
from headstart.ui.kit.wrapping import TextEdit, is_endless


@pytest.mark.parametrize(
    ("text", "endless"),
    [
        ("=" * 6000, True),
        ("Look: " + "x" * 6000 + " and so on", True),
        ("word " * 6000, False),
        ("x" * 4000 + "\n" + "y" * 4000, False),
        ("", False),
    ],
)
def test_only_runs_without_white_space_are_endless(text: str, endless: bool) -> None:
    assert is_endless(text) == endless


def _pasted(text: str) -> QMimeData:
    pasted = QMimeData()
    pasted.setText(text)
    return pasted


LONG = {
    "words": "lorem ipsum dolor " * 3000,
    "endless": "=" * 60_000,
    "signs on letters": "e\u0301\u0323" * 9000,
    "families": "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 4000,
    "Chinese": "潮水一天涨落两次。" * 3000,
    "lines": "short\n" + "word " * 5000 + "\n\n" + "x" * 9000 + "\nend",
    "spaces": " " * 30_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_line_is_kept_word_for_word_and_laid_out_in_pieces(qtbot: QtBot, text: str) -> None:
    edit = TextEdit()
    qtbot.addWidget(edit)
    ways = (
        edit.setPlainText,
        edit.insertPlainText,
        lambda text: edit.insertFromMimeData(_pasted(text)),
    )
    for way in ways:
        edit.setPlainText("")
        way(text)
        assert edit.toPlainText() == text
        block = edit.document().begin()
        while block.isValid():
            assert block.length() <= 2 * LONGEST_LINE
            block = block.next()
    edit.selectAll()
    edit.copy()
    assert QGuiApplication.clipboard().text() == text
    edit.cut()
    assert edit.toPlainText() == ""
    edit.undo()
    assert edit.toPlainText() == text


def test_a_key_at_a_joint_removes_one_character(qtbot: QtBot) -> None:
    edit = TextEdit()
    qtbot.addWidget(edit)
    text = "".join(chr(ord("a") + number % 26) for number in range(30_000))
    for key, gone in ((Qt.Key.Key_Backspace, 0), (Qt.Key.Key_Delete, 1)):
        edit.setPlainText(text)
        at = edit.document().begin().length() - 2
        cursor = edit.textCursor()
        block = edit.document().begin()
        cursor.setPosition(block.next().position() if not gone else block.length() - 2)
        edit.setTextCursor(cursor)
        assert edit.text_before_caret() == text[:at]
        QTest.keyClick(edit, key)
        left = at - 1 + gone
        assert edit.toPlainText() == text[:left] + text[left + 1 :]
        edit.undo()
        while edit.document().isUndoAvailable():
            edit.undo()
        assert edit.toPlainText() == text


def test_the_text_of_a_field_is_never_an_older_one(qtbot: QtBot) -> None:
    """It is read once for each revision of the document."""
    edit, draw = TextEdit(), random.Random(7)
    qtbot.addWidget(edit)
    seen: list[str] = []
    edit.textChanged.connect(lambda: seen.append(edit.toPlainText()))
    for _ in range(400):
        size = len(edit.toPlainText())
        cursor = edit.textCursor()
        units = len(edit.document().toRawText())
        cursor.setPosition(draw.randint(0, units))
        if draw.random() < 0.4:
            cursor.setPosition(draw.randint(0, units), cursor.MoveMode.KeepAnchor)
        edit.setTextCursor(cursor)
        match draw.randrange(6):
            case 0:
                edit.setPlainText("word " * draw.randint(0, 6000))
            case 1:
                edit.insertPlainText("y" * draw.randint(0, 20_000))
            case 2:
                edit.undo()
            case 3:
                edit.redo()
            case 4:
                edit.insertFromMimeData(_pasted("a line\n" * 3))
            case _:
                QTest.keyClick(edit, draw.choice([Qt.Key.Key_Backspace, Qt.Key.Key_X]))
        raw = edit.document().toRawText().replace("\u2029", "\n")
        assert edit.toPlainText() == raw.replace("\ufff0\n", "").replace("\ufff0", ""), size
        assert not seen or seen[-1] == edit.toPlainText()


def test_a_text_with_the_mark_of_pieces_keeps_it(qtbot: QtBot) -> None:
    edit = TextEdit()
    qtbot.addWidget(edit)
    text = "a\ufff0b" + "word " * 4000
    assert cut(text) == text
    edit.setPlainText(text)
    assert edit.toPlainText() == text
    edit.setPlainText("word " * 4000)
    edit.moveCursor(QTextCursor.MoveOperation.End)
    edit.insertPlainText(text)
    assert edit.toPlainText() == "word " * 4000 + text
    assert edit.text_before_caret() == edit.toPlainText()
    edit.setPlainText("")
    edit.insertFromMimeData(_pasted("a\ufff0b"))
    assert edit.toPlainText() == "a\ufff0b"


@pytest.mark.parametrize("text", ["word " * 1400, "=" * 7000], ids=["words", "endless"])
def test_the_composer_is_as_high_as_what_is_pasted(qtbot: QtBot, text: str) -> None:
    composer = Composer()
    qtbot.addWidget(composer)
    composer.resize(650, 200)
    composer.show()
    line = composer.edit.fontMetrics().lineSpacing()
    assert composer.edit.height() < 3 * line
    pasted = QMimeData()
    pasted.setText(text)
    composer.edit.insertFromMimeData(pasted)
    assert composer.edit.height() > (MOST_LINES - 1) * line
    composer.set_text("")
    assert composer.edit.height() < 3 * line

"""Runs that no person wrote as words are broken anywhere, and nothing else is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QTextOption
from pytestqt.qtbot import QtBot

from headstart.ui.composer.composer import Composer
from headstart.ui.composer.edit import MOST_LINES
from headstart.ui.kit.wrapping import TextEdit, is_endless

WRAP = QTextOption.WrapMode


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


def test_an_editor_follows_what_it_holds(qtbot: QtBot) -> None:
    edit = TextEdit()
    qtbot.addWidget(edit)
    usual = edit.document().defaultTextOption().wrapMode()
    pasted = QMimeData()
    pasted.setText("=" * 6000)
    edit.insertFromMimeData(pasted)
    assert edit.toPlainText() == "=" * 6000
    assert edit.document().defaultTextOption().wrapMode() == WRAP.WrapAnywhere
    # words pasted beside it change nothing
    more = QMimeData()
    more.setText(" and more")
    edit.insertFromMimeData(more)
    assert edit.document().defaultTextOption().wrapMode() == WRAP.WrapAnywhere
    edit.setPlainText("")
    assert edit.document().defaultTextOption().wrapMode() == usual


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

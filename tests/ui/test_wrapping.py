"""Runs that no person wrote as words are broken anywhere, and nothing else is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QTextOption
from pytestqt.qtbot import QtBot

from headstart.ui.wrapping import TextEdit, is_endless

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

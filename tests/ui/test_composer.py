"""The composer helps while one types: lists and code go on, and Up brings back what was asked."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from headstart.core.text.typing_help import is_in_code, next_line
from headstart.ui.composer.composer import Composer
from headstart.ui.kit.values_dialog import ValueEdit
from headstart.ui.transcript.editor import MessageEditor
from tests.conftest import OpenApp
from tests.ui.test_searching import store

SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("words", (0, "")),
        ("- one", (0, "- ")),
        ("a\n  * one", (0, "  * ")),
        ("9. one", (0, "10. ")),
        ("3) one", (0, "4) ")),
        ("- [x] one", (0, "- [ ] ")),
        ("- one\n- ", (2, "")),
        ("-one", (0, "")),
        ("```py\n    x = 1", (0, "    ")),
        ("```py\n- x", (0, "")),
        ("```\nx\n```\n- y", (0, "- ")),
    ],
)
def test_new_lines_go_on_with_what_was_begun(before: str, wanted: tuple[int, str]) -> None:
    assert next_line(before) == wanted


def test_code_is_open_until_its_fence_is_closed() -> None:
    assert is_in_code("```py\nx")
    assert not is_in_code("```py\nx\n```\n")
    assert not is_in_code("a ``` b")


def test_enter_in_code_is_a_line_and_control_enter_sends(qtbot: QtBot) -> None:
    composer = Composer()
    qtbot.addWidget(composer)
    sent: list[str] = []
    composer.submitted.connect(sent.append)
    composer.edit.setPlainText("")
    QTest.keyClicks(composer.edit, "- one")
    QTest.keyClick(composer.edit, Qt.Key.Key_Return, SHIFT)
    QTest.keyClicks(composer.edit, "two")
    QTest.keyClick(composer.edit, Qt.Key.Key_Return, SHIFT)
    QTest.keyClick(composer.edit, Qt.Key.Key_Return, SHIFT)
    QTest.keyClicks(composer.edit, "```py")
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    QTest.keyClicks(composer.edit, "  x")
    QTest.keyClick(composer.edit, Qt.Key.Key_Return)
    assert sent == []
    assert composer.text() == "- one\n- two\n```py\n  x\n  "
    QTest.keyClick(composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    # word for word
    assert sent == ["- one\n- two\n```py\n  x\n  "]


async def test_up_brings_back_what_was_asked(running: OpenApp) -> None:
    async with running() as app:
        chat, _ = await store(app, "Rivers", "First", "One.", "Second", "Two.")
        app.window.open_chat(chat.id)
        await app.controllers.settle()
        edit = app.window.composer.edit
        QTest.keyClick(edit, Qt.Key.Key_Up)
        assert edit.toPlainText() == "Second"
        QTest.keyClick(edit, Qt.Key.Key_Up)
        assert edit.toPlainText() == "First"
        QTest.keyClick(edit, Qt.Key.Key_Up)
        assert edit.toPlainText() == "First"
        QTest.keyClick(edit, Qt.Key.Key_Down)
        QTest.keyClick(edit, Qt.Key.Key_Down)
        assert edit.toPlainText() == ""
        QTest.keyClicks(edit, "mine")
        QTest.keyClick(edit, Qt.Key.Key_Up)
        assert edit.toPlainText() == "mine"


@pytest.mark.parametrize(("field", "ended"), [(MessageEditor, "submitted"), (ValueEdit, "entered")])
def test_enter_in_code_is_a_line_in_every_field_for_messages(
    qtbot: QtBot, field: type[MessageEditor | ValueEdit], ended: str
) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    edit, sent = field(parent), list[int]()
    getattr(edit, ended).connect(lambda: sent.append(1))
    edit.setPlainText("```py\n    x = 1")
    edit.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert edit.toPlainText() == "```py\n    x = 1\n    "
    assert sent == []
    QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert sent == [1]
    edit.setPlainText("words")
    edit.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert sent == [1, 1]
    QTest.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert edit.toPlainText() == "words\n"

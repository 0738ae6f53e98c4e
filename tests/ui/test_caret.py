"""The caret stops blinking where nobody types, and blinks again when somebody does."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from headstart.ui.shell import caret
from headstart.ui.shell.caret import RestingCaret


def test_it_rests_and_wakes(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    hints = QGuiApplication.styleHints()
    usual = hints.cursorFlashTime()
    monkeypatch.setattr(caret, "REST_MS", 50)
    edit = QPlainTextEdit()
    qtbot.addWidget(edit)
    hints.setCursorFlashTime(1000)
    try:
        resting = RestingCaret(edit)
        edit.show()
        edit.activateWindow()
        edit.setFocus()
        qtbot.waitUntil(lambda: hints.cursorFlashTime() == 0)
        QTest.keyClicks(edit, "a")
        assert hints.cursorFlashTime() == 1000
        qtbot.waitUntil(lambda: hints.cursorFlashTime() == 0)
        edit.moveCursor(edit.textCursor().MoveOperation.Start)
        qtbot.waitUntil(lambda: hints.cursorFlashTime() == 1000)
        resting.deleteLater()
    finally:
        hints.setCursorFlashTime(usual)

"""The window follows the desktop's font size and colours while it is open."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication

from headstart.ui.kit import theme
from tests.conftest import OpenApp


async def test_text_grows_when_the_desktops_font_does(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont))
    system = [usual]
    monkeypatch.setattr(QFontDatabase, "systemFont", lambda _kind: system[0])
    async with running() as app:
        window = app.window
        window.looks.apply()
        before = window.composer.edit.fontInfo().pixelSize()
        large = QFont(usual)
        large.setPixelSize(round(theme.USUAL_FONT_PX * 1.5))
        system[0] = large
        QApplication.sendEvent(window, QEvent(QEvent.Type.ThemeChange))
        after = window.composer.edit.fontInfo().pixelSize()
        assert after == theme.px(theme.READING_SIZE) >= 1.4 * before
        # and back
        system[0] = usual
        QApplication.sendEvent(window, QEvent(QEvent.Type.ThemeChange))
        assert window.composer.edit.fontInfo().pixelSize() == before

"""What is new is told once after an update, and can be read at any time."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton

from headstart import __version__
from headstart.core.events import NoticeKind
from headstart.ui.shell.news_window import NewsWindow
from tests.conftest import OpenApp


@pytest.mark.parametrize("before", ["", "0.0.9"])
async def test_an_update_is_told_once(running: OpenApp, before: str) -> None:
    async with running() as app:
        window, preferences = app.window, app.services.preferences
        preferences.state.update(told_version=before)
        window.news.tell()
        # a first start has no news
        assert window.banner.isVisible() == bool(before)
        assert preferences.state.current.told_version == __version__
        if before:
            assert __version__ in window.banner.text()
            offered = window.banner.findChild(QPushButton)
            assert offered is not None
            offered.click()
            (news,) = window.findChildren(NewsWindow)
            assert f"{__version__}" in news.text.toPlainText()
            assert "#" not in news.text.toPlainText().splitlines()[0]
            news.close()
            window.banner.dismiss()
        window.news.tell()
        assert not window.banner.isVisible()


async def test_news_do_not_cover_what_went_wrong(running: OpenApp) -> None:
    async with running() as app:
        app.services.preferences.state.update(told_version="0.0.9")
        app.window.banner.show_text(NoticeKind.START, "Something was lost.")
        app.window.news.tell()
        assert app.window.banner.text() == "Something was lost."

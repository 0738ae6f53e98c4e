"""The pages of the settings."""

from __future__ import annotations

from headstart.ui.settings.form import Page
from tests.conftest import OpenApp


async def test_no_page_is_wider_than_the_window(running: OpenApp) -> None:
    async with running() as app:
        app.window.settings.open("")
        settings = app.window.settings.page
        assert settings is not None
        pages = settings.findChildren(Page)
        assert len(pages) == 13
        for page in pages:
            content = page.widget()
            assert content is not None
            assert content.minimumSizeHint().width() <= settings.width()

"""Looking for a newer version in the window: only when it is wanted, and told where one looks."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton

from headstart.assembly import App
from headstart.core.errors import EnvironmentProblem
from headstart.core.updates import Release
from headstart.ui.settings.updates_section import UpdatesSection
from tests.conftest import OpenApp, until
from tests.support.plain import plain

ADDRESS = "https://updates.test/newest.json"


def _section(app: App) -> UpdatesSection:
    app.window.settings.open()
    page = app.window.settings.page
    assert page is not None
    return page.general.updates


async def test_without_an_address_nobody_can_be_asked(running: OpenApp) -> None:
    async with running() as app:
        section = _section(app)
        assert not section.box.isChecked()
        assert not section.box.isEnabled()
        assert not section.now.isEnabled()
        section.address.setText("ftp://updates.test")
        section.address.editingFinished.emit()
        assert "https://" in plain(section.said.text())
        assert not app.services.preferences.current.updates.address
        section.address.setText(ADDRESS)
        section.address.editingFinished.emit()
        assert app.services.preferences.current.updates.address == ADDRESS
        section.box.click()
        assert app.services.preferences.current.updates.look


@pytest.mark.parametrize(
    ("version", "said"),
    [("99.0", "99.0 is out"), ("0.0.1", "newest version"), ("", "could not be asked")],
)
async def test_who_asks_is_told(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch, version: str, said: str
) -> None:
    def ask(address: str) -> Release:
        if not version:
            raise EnvironmentProblem("updates-unreachable", address=address, reason="no network")
        return Release(version, "https://updates.test/get")

    monkeypatch.setattr("headstart.hub.online.updates.newest", ask)
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    async with running() as app:
        section = _section(app)
        section.address.setText(ADDRESS)
        section.address.editingFinished.emit()
        section.now.click()
        assert not section.now.isEnabled()
        await until(lambda: said in plain(section.said.text()))
        assert section.now.isEnabled()
        if version == "99.0":
            assert "99.0" in plain(app.window.banner.text())
            button = app.window.banner.findChild(QPushButton)
            assert button is not None
            button.click()
            assert opened == ["https://updates.test/get"]

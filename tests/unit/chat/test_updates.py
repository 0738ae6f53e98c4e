"""A newer version is looked for only where the user wants that, once a day, at one address."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from headstart import __version__
from headstart.chat.preferences import Preferences
from headstart.chat.updates import Updates
from headstart.core.errors import EnvironmentProblem
from headstart.core.settings.schema import Settings
from headstart.core.updates import PERIOD, Release, UpdateSettings, decode, may_ask
from headstart.storage.adapters.settings_file import SettingsFile

ADDRESS = "https://updates.test/newest.json"


class _Asked:
    def __init__(self, version: str = "99.0") -> None:
        self.addresses: list[str] = []
        self.version = version

    def __call__(self, address: str) -> Release:
        self.addresses.append(address)
        if not self.version:
            raise EnvironmentProblem("updates-unreachable", address=address, reason="no network")
        return Release(self.version, "https://updates.test/get")


def _preferences(folder: Path, **chosen: object) -> Preferences:
    updates = msgspec.convert({"address": ADDRESS, **chosen}, UpdateSettings)
    return Preferences(Settings(updates=updates), SettingsFile(folder / "settings.json"))


async def test_nobody_is_asked_before_the_user_wants_it(tmp_path: Path) -> None:
    asked = _Asked()
    assert await Updates(_preferences(tmp_path), asked, lambda: 1e9).look() is None
    none = _preferences(tmp_path, look=True, address="")
    assert await Updates(none, asked, lambda: 1e9).look() is None
    assert asked.addresses == []


async def test_it_is_asked_once_a_day(tmp_path: Path) -> None:
    asked, now = _Asked(), [1e9]
    updates = Updates(_preferences(tmp_path, look=True), asked, lambda: now[0])
    assert await updates.look() == Release("99.0", "https://updates.test/get")
    for step in (0, PERIOD - 1):
        now[0] = 1e9 + step
        assert await updates.look() is None
    assert asked.addresses == [ADDRESS]
    now[0] = 1e9 + PERIOD
    assert await updates.look() is not None
    # a clock that was wrong stops nothing
    now[0] = 5e8
    assert await updates.look() is not None
    assert len(asked.addresses) == 3


@pytest.mark.parametrize("version", [__version__, "0.0.1", __version__ + "rc1"])
async def test_what_is_not_newer_is_not_told(tmp_path: Path, version: str) -> None:
    updates = Updates(_preferences(tmp_path, look=True), _Asked(version), lambda: 1e9)
    assert await updates.look() is None


async def test_no_network_is_told_only_to_who_asks(tmp_path: Path) -> None:
    updates = Updates(_preferences(tmp_path, look=True), _Asked(""), lambda: 1e9)
    assert await updates.look() is None
    with pytest.raises(EnvironmentProblem, match="could not be asked"):
        await updates.look_now()


def test_the_page_is_on_the_site_that_was_asked() -> None:
    page = "https://updates.test/download#linux"
    assert Release("2", page).page_at(ADDRESS) == page
    for elsewhere in ("https://evil.test/x", "http://updates.test/x", "javascript:alert(1)", ""):
        assert Release("2", elsewhere).page_at(ADDRESS) == "https://updates.test/"


@pytest.mark.parametrize(
    ("address", "asked"),
    [
        (ADDRESS, True),
        ("http://127.0.0.1:8000/x", True),
        ("http://updates.test/x", False),
        ("file:///etc/passwd", False),
        ("https://", False),
        ("https://[bad", False),
        ("", False),
    ],
)
def test_addresses_that_are_asked(address: str, asked: bool) -> None:
    assert may_ask(address) == asked


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", b'{"version": 2}', b'{"version": "latest"}', b'{"version": ""}', b"\xff"],
)
def test_what_is_no_release(data: bytes) -> None:
    try:
        release = decode(data)
    except ValueError:
        return
    raise AssertionError(release)

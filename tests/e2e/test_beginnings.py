"""What begins by itself at a start and never ends: killed, the program starts, begins everything
else and says which it did not begin again. With --safe it begins nothing."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from headstart.core.beginnings import Beginning, BegunKind
from headstart.core.hub.downloads import DownloadState
from headstart.core.settings.schema import Settings
from headstart.core.tool_servers.state import ToolServerState
from headstart.home import Home
from headstart.storage.adapters.beginnings_file import BeginningsFile
from headstart.storage.adapters.settings_file import SettingsFile
from tests.conftest import OpenApp, until
from tests.support.hangs import KINDS, TOOL_SERVER, Prepared, prepared, starts_after_a_hang
from tests.support.keyrings import MemoryKeyring
from tests.support.program import free_port

# what is downloaded has random weights
NOT_A_MODEL = pytest.mark.logs("a request failed")


@pytest.mark.parametrize("kind", KINDS)
def test_what_hung_is_named_and_not_begun_again(kind: str, tmp_path: Path) -> None:
    assert starts_after_a_hang(kind, tmp_path, asked=kind == "folder") == ""


@pytest.mark.proof
@pytest.mark.parametrize("kind", KINDS)
def test_what_hung_begins_where_it_is_asked_for(kind: str, tmp_path: Path) -> None:
    assert starts_after_a_hang(kind, tmp_path) == ""


@pytest.fixture
def place(
    tmp_path: Path, loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Prepared]:
    from huggingface_hub import constants

    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    with prepared(tmp_path / "place") as place:
        address = f"{place.hub.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address)
        monkeypatch.setattr(constants, "ENDPOINT", place.hub.endpoint)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        yield place
    keyring.set_keyring(before)


def _mirrored(place: Prepared) -> bool:
    return any(place.mirror.glob("*.md"))


@NOT_A_MODEL
async def test_a_safe_start_begins_nothing_until_it_is_asked(
    running: OpenApp, place: Prepared
) -> None:
    async with running(place.home, safe=True) as app:
        services = app.services
        assert "wait until you begin them" in app.window.banner.text()
        (row,) = app.window.held.rows
        assert "safe mode" in row.text.text()
        with pytest.raises(Exception, match="safe mode"):
            await services.tools.servers.running.start(TOOL_SERVER)
        # what the window does by itself when it comes to the front
        app.controllers.knowledge.look_everywhere()
        await until(lambda: services.downloads.all)
        states = services.knowledge.knowledge.indexing.states
        assert [one.held for one in states.values()] == [True, True]
        assert not services.knowledge.knowledge.indexing.busy
        assert services.serving.state.address == ""
        (download,) = services.downloads.all
        assert (download.state, download.held) == (DownloadState.PAUSED, True)
        assert place.hub.sent == 0
        assert not _mirrored(place)
        page = app.window.settings.open("knowledge").knowledge
        await until(lambda: len(page.sources.rows) == 2)
        stuck = next(one for key, one in page.sources.rows.items() if key.endswith("stuck"))
        assert "only when you ask" in stuck.state.text()
        assert "only when you ask" in app.window.settings.open("server").server.told.text()
        assert "only when you ask" in app.window.settings.open("files").files.held.text()
        # one of them, by its row
        stuck.begin.click()
        await until(lambda: states[stuck.key].looked_at)
        assert [one.held for one in states.values()].count(True) == 1
        # and all the others
        row.button.click()
        await until(lambda: services.serving.state.address)
        await until(lambda: all(one.looked_at for one in states.values()))
        await until(lambda: services.downloads.all[0].state is DownloadState.DONE)
        await until(lambda: _mirrored(place))
        await services.tools.servers.running.start(TOOL_SERVER)
        assert app.window.held.rows == []
    assert not place.home.beginnings.exists()


@NOT_A_MODEL
async def test_a_download_that_a_safe_start_left_alone_goes_on_at_the_next(
    running: OpenApp, place: Prepared
) -> None:
    async with running(place.home, safe=True) as app:
        await until(lambda: app.services.downloads.all)
    async with running(place.home) as app:
        await until(lambda: app.services.downloads.all[0].state is DownloadState.DONE)


def _hold(home: Home, *held: Beginning) -> None:
    home.path.mkdir(parents=True, exist_ok=True)
    BeginningsFile(home.beginnings).write(held, wait=True)


@NOT_A_MODEL
async def test_an_index_in_the_making_may_be_left_in_order(
    running: OpenApp, place: Prepared
) -> None:
    async with running(place.home) as app:
        await until(lambda: app.services.knowledge.knowledge.indexing.busy)
    assert not place.home.beginnings.exists()
    async with running(place.home) as app:
        assert app.window.held.rows == []


async def test_what_is_gone_is_not_held_any_more(running: OpenApp, home: Home) -> None:
    _hold(
        home,
        Beginning(BegunKind.FOLDER, "/gone", "gone"),
        Beginning(BegunKind.MIRROR, title="/gone"),
        Beginning(BegunKind.SERVER),
        Beginning(BegunKind.TOOL_SERVER, "gone", "Gone"),
        Beginning(BegunKind.DOWNLOAD, "gone", "Gone"),
    )
    async with running() as app:
        await until(lambda: not app.services.beginnings.held)
        assert app.window.held.isHidden()


async def test_damaged_notes_hold_nothing(running: OpenApp, home: Home) -> None:
    home.path.mkdir(parents=True, exist_ok=True)
    home.beginnings.write_bytes(b"[{\xff")
    async with running() as app:
        assert app.services.beginnings.held == ()


@NOT_A_MODEL
async def test_a_held_tool_server_is_started_by_its_button(
    running: OpenApp, home: Home, place: Prepared
) -> None:
    _hold(place.home, Beginning(BegunKind.TOOL_SERVER, TOOL_SERVER, "Scripted"))
    async with running(place.home) as app:
        tools = app.services.tools.servers.running
        with pytest.raises(Exception, match="Headstart was starting it"):
            await tools.ready(TOOL_SERVER)
        assert tools.view(TOOL_SERVER).state is ToolServerState.ENDED
        (row,) = app.window.held.rows
        assert "The tool server “Scripted” is not started" in row.text.text()
        app.controllers.tools.servers.start(TOOL_SERVER)
        await until(lambda: tools.view(TOOL_SERVER).state is ToolServerState.READY)
        assert app.window.held.isHidden()


def test_the_server_without_a_window_says_it_too(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.path.mkdir(mode=0o700)
    SettingsFile(home.settings).save(Settings(mirror_folder=str(tmp_path / "mirror")))
    _hold(home, Beginning(BegunKind.MIRROR, title="mirror"), Beginning(BegunKind.SERVER))
    port = free_port()
    command = [sys.executable, "-m", "headstart", "--home", str(home.path), "serve"]
    environment = {**os.environ, "HEADSTART_SERVER_KEY": "hs-for-tests", "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(3)]
    finally:
        process.kill()
        process.communicate()
    assert "The mirror in “mirror” is not written" in said[0]
    assert "The server for other programs is not opened" in said[1]
    # it was asked for now
    assert said[2] == f"listening at http://127.0.0.1:{port}/v1\n"
    (left,) = BeginningsFile(home.beginnings).last()
    assert left.kind is BegunKind.MIRROR

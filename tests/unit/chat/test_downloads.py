"""Downloads through the verbs: each end is told once, however quickly it comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import DownloadEnded
from headstart.chat.library.downloads import Downloads
from headstart.chat.library.hub import Hub
from headstart.chat.preferences import Preferences
from headstart.core.hub.downloads import Download, DownloadState
from headstart.core.settings.schema import Settings
from headstart.storage.adapters.keychain import Keychain
from headstart.storage.adapters.settings_file import SettingsFile
from tests.support.gguf_files import make_gguf
from tests.support.hub_server import HubServer, Repo


def begin(folder: Path, endpoint: str) -> tuple[Downloads, Hub, list[Download]]:
    preferences = Preferences(Settings(), SettingsFile(folder / "settings.json"))
    hub = Hub(Keychain(), preferences, folder / "cache", endpoint)
    broadcast = Broadcast()
    ends: list[Download] = []
    broadcast.on(DownloadEnded, lambda change: ends.append(change.download))
    downloads = Downloads(hub, folder / "book.json", preferences, broadcast, Background())
    return downloads, hub, ends


async def fail_while_nobody_listens(downloads: Downloads, begun: Coroutine[Any, Any, None]) -> None:
    """Run `begun` and wait for its failure on the event loop's thread, which hears of nothing
    meanwhile."""
    ends = sum(one.ends for one in downloads.all)

    def block() -> None:
        while sum(one.ends for one in downloads.all) == ends:
            time.sleep(0.001)

    task = asyncio.ensure_future(begun)
    asyncio.get_running_loop().call_soon(block)
    await task
    await asyncio.sleep(0)


async def test_each_end_is_told_once_however_quickly_it_comes(tmp_path: Path) -> None:
    server = HubServer({"maker/Gated-GGUF": Repo({"g-Q8_0.gguf": make_gguf()}, gated=True)})
    try:
        downloads, hub, ends = begin(tmp_path, server.endpoint)
        details = await asyncio.to_thread(hub.client.details, "maker/Gated-GGUF")
        server.repos["maker/Gated-GGUF"].token = "hf_1"
        # the queue is made
        await downloads.pause([])
        wanted = details.wanted(details.variants[0])
        await fail_while_nobody_listens(downloads, downloads.add([wanted]))
        assert [one.reason.code for one in ends if one.reason] == ["hub-gated"]
        # the state is the same before and after
        await fail_while_nobody_listens(downloads, downloads.resume([ends[0].id]))
        assert len(ends) == 2
        await downloads.pause([])
        await asyncio.sleep(0)
        assert len(ends) == 2
        await downloads.close()

        again, _hub, told = begin(tmp_path, server.endpoint)
        await again.wake()
        await asyncio.sleep(0)
        # this one was told before the start
        assert [one.state for one in again.all] == [DownloadState.FAILED]
        assert told == []
        await again.close()
    finally:
        server.close()

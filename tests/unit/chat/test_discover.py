"""Finding models through the verbs: a real client, a hub of our own, models on a real disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.chat.library.discover import Discover, HubProblem
from headstart.chat.library.hub import Hub
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.servers import Servers
from headstart.core.catalog import Search
from headstart.core.library_settings import LibrarySettings
from headstart.core.settings import Settings, changed
from headstart.hub.shelf import Shelf
from headstart.hub.sources import Place, Source
from headstart.storage.keychain import Keychain
from headstart.storage.settings_file import SettingsFile
from tests.support.gguf_files import make_gguf
from tests.support.hub_server import Fault, HubServer, Repo

LARGE = {"total": 8_000_000_000, "architecture": "llama", "context_length": 8192}
SMALL = {"total": 500_000_000, "architecture": "llama", "context_length": 8192}


@pytest.fixture
def hub() -> Iterator[HubServer]:
    server = HubServer(
        {
            "maker/Family3-8B-GGUF": Repo(
                {
                    "Family3-8B-Q4_K_M.gguf": make_gguf(weights=4 << 20),
                    "Family3-8B-Q8_0.gguf": make_gguf(weights=8 << 20),
                },
                {"gguf": LARGE},
            ),
            "maker/Family3-0.5B-GGUF": Repo(
                {"Family3-0.5B-Q8_0.gguf": make_gguf(weights=1 << 20)}, {"gguf": SMALL}
            ),
            "maker/Other1-0.5B-GGUF": Repo(
                {"Other1-0.5B-Q8_0.gguf": make_gguf(weights=1 << 20)}, {"gguf": SMALL}
            ),
        }
    )
    yield server
    server.close()


class World:
    def __init__(self, hub: HubServer, folder: Path) -> None:
        self.server = hub
        self.folder = folder / "models"
        self.folder.mkdir()
        self.preferences = Preferences(Settings(), SettingsFile(folder / "settings.json"))
        keychain = Keychain()
        self.hub = Hub(keychain, self.preferences, folder / "cache", hub.endpoint)
        shelf = Shelf(folder / "known.json", lambda: [Place(Source.FOLDER, self.folder)])
        servers = Servers(self.preferences, keychain, None)  # type: ignore[arg-type]
        self.models = Models(self.preferences, servers, shelf)
        self.discover = Discover(self.hub, self.models, self.preferences)

    def install(self, name: str, data: bytes) -> None:
        path = self.folder / name
        path.write_bytes(data)
        os.utime(path, (1e9, 1e9))


@pytest.fixture
def world(hub: HubServer, tmp_path: Path) -> World:
    return World(hub, tmp_path)


async def test_a_search_pages_and_filters(world: World) -> None:
    found = world.discover.search(Search("0.5b"))
    page = await found.more()
    assert sorted(one.name for one in page) == ["Family3-0.5B-GGUF", "Other1-0.5B-GGUF"]
    assert await found.more() == []
    found = world.discover.search(Search("", largest=1))
    assert all(one.parameters < 1e9 for one in await found.more())


async def test_one_header_says_what_every_quantization_takes(hub: HubServer, world: World) -> None:
    details = await world.discover.details("maker/Family3-8B-GGUF")
    before = len(hub.requests)
    fits = await world.discover.fits(details)
    asked = [path for _, path, _, _ in hub.requests[before:] if path.startswith("/bytes/")]
    assert len(asked) == 1
    assert fits["Q8_0"].need - fits["Q4_K_M"].need == pytest.approx(4 << 20, rel=0.01)
    assert {fit.verdict for fit in fits.values()} == {"fits"}


async def test_a_context_of_the_settings_counts(world: World) -> None:
    details = await world.discover.details("maker/Family3-8B-GGUF")
    first = (await world.discover.fits(details))["Q8_0"]
    engine = changed(world.preferences.current.engine, context_length=1024)
    world.preferences.update(engine=engine)
    second = (await world.discover.fits(details))["Q8_0"]
    assert (first.context, second.context) == (8192, 1024)
    assert second.need < first.need


async def test_drafts_are_found_here_first_and_else_in_the_family(world: World) -> None:
    details = await world.discover.details("maker/Family3-8B-GGUF")
    variant = details.variants[1]
    offers = await world.discover.drafts(details, variant)
    chosen = next(offer for offer in offers if offer.works == "yes")
    # of its family, by the vocabulary; the other one was not even looked at
    assert chosen.name.startswith("Family3-0.5B")
    assert chosen.details is not None
    assert not any("Other1" in offer.name for offer in offers)
    world.install("tiny.gguf", make_gguf(weights=256 << 10))
    offers = await world.discover.drafts(details, variant)
    here = next(offer for offer in offers if offer.works == "yes")
    assert here.installed is not None
    assert here.name == "tiny"


async def test_a_hub_in_trouble_is_told_and_what_is_pasted_is_understood(
    hub: HubServer, world: World
) -> None:
    assert await world.discover.named("maker/Family3-8B-GGUF:Q8_0") == "maker/Family3-8B-GGUF"
    assert await world.discover.named(f"{hub.endpoint}/maker/Family3-8B-GGUF") == (
        "maker/Family3-8B-GGUF"
    )
    assert await world.discover.named("family three") == ""
    hub.api_fault = Fault("status", 0, 500)
    with pytest.raises(HubProblem) as caught:
        await world.discover.details("maker/Family3-8B-GGUF")
    assert caught.value.told.code == "hub-trouble"
    assert "problem of its own" in str(caught.value)


async def test_a_token_is_asked_of_the_keychain_only_where_there_is_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Keychain, "get", lambda _self, account: asked.append(account))
    await world.discover.details("maker/Family3-8B-GGUF")
    assert asked == []
    monkeypatch.setattr(Keychain, "set", lambda _self, _account, _key: None)
    world.server.repos["a/private"] = Repo({}, token="hf_x")
    assert await world.discover.set_token("hf_x") == ("ada", None)
    assert world.preferences.current.library == LibrarySettings(has_token=True)
    await world.discover.details("maker/Family3-8B-GGUF")
    assert asked
    assert all(account.startswith("hub localhost:") for account in asked)

"""Finding models through the verbs: a real client, a hub of our own, models on a real disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.chat.library.discover import Discover
from headstart.chat.library.hub import Hub
from headstart.chat.library.hub_problem import HubProblem
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.servers import Servers
from headstart.core.hub.catalog import Search
from headstart.core.models.draft_choice import Works
from headstart.core.models.installed import InstalledModel
from headstart.core.settings.library import LibrarySettings
from headstart.core.settings.schema import Settings, changed
from headstart.hub.library import ref
from headstart.hub.shelf import Shelf
from headstart.hub.sources import ModelFolder, ModelSource
from headstart.storage.adapters.keychain import Keychain
from headstart.storage.adapters.settings_file import SettingsFile
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
        shelf = Shelf(folder / "known.json", lambda: [ModelFolder(ModelSource.FOLDER, self.folder)])
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
    chosen = next(offer for offer in offers if offer.works is Works.YES)
    # of its family, by the vocabulary; the other one was not even looked at
    assert chosen.name.startswith("Family3-0.5B")
    assert chosen.details is not None
    assert not any("Other1" in offer.name for offer in offers)
    world.install("tiny.gguf", make_gguf(weights=256 << 10))
    offers = await world.discover.drafts(details, variant)
    here = next(offer for offer in offers if offer.works is Works.YES)
    assert here.installed is not None
    assert here.name == "tiny"


def head_file(**says: object) -> bytes:
    """Of a head that drafts blocks for the models of `make_gguf`."""
    metadata = {
        "general.architecture": "dflash",
        "dflash.block_count": 1,
        "dflash.block_size": 8,
        "dflash.context_length": 8192,
        "dflash.embedding_length": 256,
        "dflash.feed_forward_length": 512,
        "dflash.attention.head_count": 4,
        "dflash.attention.head_count_kv": 2,
        "dflash.target_layers": [1, 2],
        **says,
    }
    return make_gguf(metadata, weights=512 << 10)


async def test_a_head_of_the_hub_is_offered_for_the_model_it_was_made_for(world: World) -> None:
    world.server.repos |= {
        # made for another one, in spite of its name
        "some/Family3-8B-DFlash-GGUF": Repo(
            {"Family3-8B-DFlash-Q8_0.gguf": head_file(**{"dflash.embedding_length": 512})},
        ),
        "maker/Family3-8B-DSpark-GGUF": Repo({"Family3-8B-DSpark-Q8_0.gguf": head_file()}),
        "maker/Family3-80B-DSpark-GGUF": Repo({"Family3-80B-DSpark-Q8_0.gguf": head_file()}),
    }
    details = await world.discover.details("maker/Family3-8B-GGUF")
    (offer, *_) = await world.discover.drafts(details, details.variants[0])
    assert (offer.name, offer.works) == ("Family3-8B-DSpark-Q8_0", "yes")
    assert "made for models like this one" in offer.reason
    assert offer.details is not None
    assert offer.variant is not None
    wanted = offer.details.wanted(offer.variant)
    assert [file.path for file in wanted.files] == ["Family3-8B-DSpark-Q8_0.gguf"]
    # one that is here is not looked for
    world.install("dflash-Family3-8B.gguf", head_file())
    asked = len(world.server.requests)
    (offer, *_) = await world.discover.drafts(details, details.variants[0])
    assert offer.installed is not None
    assert not any("api/models" in path for _, path, _, _ in world.server.requests[asked:])


async def test_a_head_beside_the_model_comes_first(world: World) -> None:
    repo = world.server.repos["maker/Family3-8B-GGUF"]
    repo.files["dflash-Family3-8B-Q8_0.gguf"] = head_file()
    world.server.repos["maker/Family3-8B-DFlash-GGUF"] = Repo({"DFlash-Q8_0.gguf": head_file()})
    folder = world.hub.cache / "models--maker--Family3-8B-GGUF" / "snapshots" / "c"
    folder.mkdir(parents=True)
    path = folder / "Family3-8B-Q8_0.gguf"
    path.write_bytes(repo.files["Family3-8B-Q8_0.gguf"])
    model = InstalledModel(ref(path), "cache", "")
    (offer, *_) = await world.discover.drafts_for(model)
    assert offer.name == "dflash-Family3-8B-Q8_0"


async def test_a_repository_of_heads_says_what_it_has(world: World) -> None:
    world.server.repos["maker/Family3-8B-DFlash-GGUF"] = Repo(
        {"Family3-8B-DFlash-Q8_0.gguf": head_file(), "Family3-8B-DFlash-BF16.gguf": head_file()}
    )
    details = await world.discover.details("maker/Family3-8B-DFlash-GGUF")
    assert details.heads
    assert sorted(one.title for one in details.variants) == ["BF16", "Q8_0"]
    assert not details.companions
    assert set(await world.discover.fits(details)) == {"BF16", "Q8_0"}
    assert await world.discover.drafts(details, details.variants[0]) == []
    model = await world.discover.details("maker/Family3-8B-GGUF")
    assert not model.heads


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
    assert "reports an error" in str(caught.value)


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

"""What the loader knows of the models on this computer, from the events that it sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.chat.answering.idle_unload import IdleUnload
from headstart.chat.answering.loading import Loader
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ModelsLoaded, ReplyEnded
from headstart.chat.preferences import Preferences
from headstart.core.events import InMemory, Loading, ResidentModel, Unloaded
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.settings.library import LibrarySettings
from headstart.core.settings.schema import Settings, changed
from headstart.engine.runner import Runner
from headstart.storage.adapters.settings_file import SettingsFile
from tests.support.manual_time import ManualBackground

ENGINE = Settings().engine
FIRST, SECOND = (
    LoadRequest(ModelRef(Path(name), name, 1), ENGINE, None) for name in ("first", "second")
)


@pytest.fixture
def loader(tmp_path: Path) -> Loader:
    def nothing() -> None:
        raise AssertionError("no model is loaded here")

    preferences = Preferences(Settings(), SettingsFile(tmp_path / "settings.json"))
    return Loader(Runner(nothing), preferences, Broadcast())  # type: ignore[arg-type]


def _memory(*loaded: LoadRequest) -> InMemory:
    return InMemory(tuple(ResidentModel(one, False, 5, 4096) for one in loaded))


def test_a_model_whose_loading_was_cancelled_leaves_the_other_one(loader: Loader) -> None:
    loader.follow(_memory(FIRST), FIRST)
    loader.follow(Loading(SECOND.model, 0.0), SECOND)
    loader.follow(_memory(FIRST), SECOND)
    assert loader.has_loaded(FIRST.model)
    assert not loader.has_loaded(SECOND.model)


def test_a_model_that_made_room_is_not_loaded_any_more(loader: Loader) -> None:
    loader.follow(_memory(FIRST), FIRST)
    loader.follow(Unloaded(FIRST.model, SECOND.model), SECOND)
    loader.follow(_memory(SECOND), SECOND)
    assert loader.loaded == SECOND
    assert not loader.has_loaded(FIRST.model)


class Seconds:
    """An idle unloader with a time of its own, over a loader that only notes its calls."""

    def __init__(self, folder: Path, library: LibrarySettings) -> None:
        self.unloaded: list[list[str]] = []
        self.writing = self.loading = False
        self.served: set[str] = set()
        self.broadcast, self.background = Broadcast(), ManualBackground()
        settings = changed(Settings(), library=library)
        preferences = Preferences(settings, SettingsFile(folder / "settings.json"))
        self.idle = IdleUnload(
            self,  # type: ignore[arg-type]
            preferences,
            self.broadcast,
            self.background,
        )

    async def calls(self) -> list[list[str]]:
        """Keys of each call so far."""
        await self.background.close(5)
        return self.unloaded

    async def unload(self, keys: list[str]) -> None:
        self.unloaded.append(keys)

    def loaded(self, *wanted: LoadRequest) -> None:
        models = tuple(ResidentModel(one, False, 1, 512) for one in wanted)
        self.broadcast.tell(ModelsLoaded(models))


async def test_idle_models_are_unloaded_but_not_those_that_are_kept(tmp_path: Path) -> None:
    kept = (SECOND.model.key,)
    world = Seconds(tmp_path, LibrarySettings(unload_minutes=2, kept=kept))
    world.loaded(FIRST, SECOND)
    world.background.pass_time(119)
    assert await world.calls() == []
    # a reply begins the wait again
    world.broadcast.tell(ReplyEnded("chat", "message"))
    world.background.pass_time(119)
    assert await world.calls() == []
    world.background.pass_time(2)
    assert await world.calls() == [[FIRST.model.key]]


@pytest.mark.parametrize("library", [LibrarySettings(), LibrarySettings(unload_minutes=1)])
async def test_nothing_is_unloaded_unasked_or_while_it_writes(
    tmp_path: Path, library: LibrarySettings
) -> None:
    world = Seconds(tmp_path, library)
    world.writing = bool(library.unload_minutes)
    world.loaded(FIRST)
    world.background.pass_time(3600)
    assert await world.calls() == []


def test_what_is_in_memory_decides_what_counts_as_loaded(loader: Loader) -> None:
    loader.follow(_memory(SECOND, FIRST), FIRST)
    assert loader.loaded == FIRST
    assert loader.has_loaded(FIRST.model)
    assert loader.has_loaded(SECOND.model)
    loader.follow(_memory(), FIRST)
    assert loader.loaded is None

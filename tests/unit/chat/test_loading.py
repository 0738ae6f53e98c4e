"""What the loader knows of the models on this computer, from the events that it sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.chat.answering.loading import Loader
from headstart.chat.broadcast import Broadcast
from headstart.chat.preferences import Preferences
from headstart.core.events import Loaded, Loading, Unloaded
from headstart.core.model_ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.settings import Settings
from headstart.engine.runner import Runner
from headstart.storage.settings_file import SettingsFile

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


def _load(loader: Loader, wanted: LoadRequest) -> None:
    loader.follow(Loading(wanted.model, 0.0), wanted)
    loader.follow(Loaded(wanted.model, 4096, 0.1), wanted)


def test_a_model_whose_loading_was_cancelled_leaves_the_other_one(loader: Loader) -> None:
    _load(loader, FIRST)
    loader.follow(Loading(SECOND.model, 0.0), SECOND)
    assert not loader.has_loaded(FIRST.model)
    loader.settle()
    assert loader.has_loaded(FIRST.model)


def test_a_model_that_made_room_is_not_loaded_any_more(loader: Loader) -> None:
    _load(loader, FIRST)
    loader.follow(Loading(SECOND.model, 0.0), SECOND)
    loader.follow(Unloaded(FIRST.model, SECOND.model), SECOND)
    loader.settle()
    assert loader.loaded is None

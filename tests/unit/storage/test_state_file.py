"""The window's state comes back; what cannot be read of it costs nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headstart.chat.preferences import Preferences
from headstart.core.settings.schema import Settings
from headstart.core.settings.state import ReadingPlace, WindowState
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.adapters.state_file import StateFile

STATE = WindowState(
    show_sidebar=False,
    window_size=(1000, 700),
    open_chat="c",
    open_place=ReadingPlace("m", 2, 30),
    told_gains=("a\nb",),
)


def _file(folder: Path) -> StateFile:
    return StateFile(folder / "state.json", folder / "settings.json")


def test_it_comes_back(tmp_path: Path) -> None:
    _file(tmp_path).save(STATE)
    assert _file(tmp_path).load() == STATE
    assert _file(tmp_path / "new").load() == WindowState()


def test_it_is_taken_from_settings_of_older_versions(tmp_path: Path) -> None:
    old = {"theme": "dark", "window_size": [900, 600], "open_chat": "x", "show_inspector": True}
    (tmp_path / "settings.json").write_text(json.dumps(old))
    assert _file(tmp_path).load() == WindowState(
        window_size=(900, 600), open_chat="x", show_inspector=True
    )
    # and from there no more once it has a file
    _file(tmp_path).save(STATE)
    assert _file(tmp_path).load() == STATE


@pytest.mark.logs("the state of the window cannot be read")
@pytest.mark.parametrize("text", ["", "[1]", "{", '"x"', "nul"])
def test_a_damaged_file_is_an_empty_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)
    assert _file(tmp_path).load() == WindowState()


def test_single_values_fall_back_alone(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"window_size": "large", "maximized": true}')
    assert _file(tmp_path).load() == WindowState(maximized=True)


def test_the_state_of_older_settings_outlives_their_next_save(tmp_path: Path) -> None:
    settings = SettingsFile(tmp_path / "settings.json")
    (tmp_path / "settings.json").write_text('{"window_size": [900, 600]}')
    preferences = Preferences(settings.load()[0], settings, _file(tmp_path))
    preferences.close()
    settings.save(Settings(theme="dark"))
    assert _file(tmp_path).load() == WindowState(window_size=(900, 600))


@pytest.mark.parametrize("odd", [-1, 0, 1 << 31, 1 << 63, 10**400])
def test_sizes_that_no_window_has_fall_back(tmp_path: Path, odd: int) -> None:
    place = {"message": "m", "block": 1 << 31, "past": 5}
    state = {"window_size": [odd, 700], "open_place": place, "open_chat": "c"}
    (tmp_path / "state.json").write_text(json.dumps(state))
    assert _file(tmp_path).load() == WindowState(open_chat="c")

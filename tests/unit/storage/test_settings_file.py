"""settings.json: atomic, tolerant, never lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headstart.core.settings.fields import describe
from headstart.core.settings.knowledge import KnowledgeSettings
from headstart.core.settings.library import LibrarySettings
from headstart.core.settings.schema import (
    EngineSettings,
    Sampling,
    SamplingChoice,
    Settings,
    SettingsError,
    Speculation,
    changed,
)
from headstart.core.settings.server import ServerSettings
from headstart.core.updates import UpdateSettings
from headstart.storage.adapters.settings_file import SettingsFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def test_settings_round_trip(path: Path) -> None:
    settings = changed(Settings(), theme="dark", sampling=SamplingChoice(seed=3, stop=("END",)))
    SettingsFile(path).save(settings)
    assert SettingsFile(path).load() == (settings, None)
    assert not list(path.parent.glob("*.partial"))


def test_no_file_means_defaults_without_a_notice(path: Path) -> None:
    assert SettingsFile(path).load() == (Settings(), None)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b"\x00" * 64560, b"\xff\xfe", b'{"model":"\xff"}', b"[" * 99999]
)
def test_a_damaged_file_is_kept_aside_and_told(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    settings, notice = SettingsFile(path).load()
    assert settings == Settings()
    assert notice is not None
    assert "damaged" in notice.text
    (aside,) = path.parent.glob("settings-damaged-*.json")
    assert aside.read_bytes() == content
    SettingsFile(path).save(changed(settings, theme="light"))
    assert SettingsFile(path).load()[0].theme == "light"


def test_only_the_bad_values_fall_back(path: Path) -> None:
    values = {
        "theme": "purple",
        "system_prompt": "hi",
        "sampling": {"temperature": 9, "top_k": 7},
        "from_the_future": 1,
    }
    path.write_text(json.dumps(values))
    settings, notice = SettingsFile(path).load()
    assert settings.theme == "system"
    assert settings.system_prompt == "hi"
    assert settings.sampling == SamplingChoice(top_k=7)
    assert notice is not None
    assert "theme, sampling.temperature" in notice.text


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", -1),
        ("temperature", float("nan")),
        ("top_p", 1.5),
        ("seed", -1),
        ("stop", ("",)),
    ],
)
def test_values_out_of_bounds_are_refused(field: str, value: object) -> None:
    with pytest.raises(SettingsError):
        changed(Sampling(), **{field: value})


def test_every_described_default_is_within_its_bounds() -> None:
    for info in describe(Sampling).values():
        assert info.minimum is not None
        assert info.maximum is not None
        assert info.minimum <= info.default <= info.maximum


_PARTS = (
    "sampling",
    "engine",
    "speculation",
    "prefix",
    "library",
    "updates",
    "server",
    "knowledge",
)


def test_every_setting_is_in_the_docs() -> None:
    text = (Path(__file__).parents[3] / "docs" / "settings.md").read_text(encoding="utf-8")
    kinds = (
        (Settings, ""),
        (SamplingChoice, "sampling."),
        (EngineSettings, "engine."),
        (Speculation, "speculation."),
        (LibrarySettings, "library."),
        (UpdateSettings, "updates."),
        (ServerSettings, "server."),
        (KnowledgeSettings, "knowledge."),
    )
    for kind, prefix in kinds:
        for name in kind.__struct_fields__:
            if name not in _PARTS:
                assert f"`{prefix}{name}`" in text

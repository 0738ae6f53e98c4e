"""Settings of older versions: fields that have another name by now keep their values."""

from __future__ import annotations

import json
from pathlib import Path

from headstart.core.settings.schema import Settings, Speculation
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.tables.rows import decode_options

OLD_SPECULATION = {"repeats": False, "second_guesses": "never", "min_confidence": 0.4}


def test_a_settings_file_of_an_older_version_keeps_its_values(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    connection = {"id": "a", "name": "A", "url": "http://a/v1", "patience": 7}
    old = {
        "speculation": OLD_SPECULATION,
        "prefix": {"read_ahead": False},
        "engine": {"flash_attention": False},
        "connections": [connection],
        "models": [{"key": "m", "speculation": OLD_SPECULATION}],
    }
    path.write_text(json.dumps(old), encoding="utf-8")
    settings, notice = SettingsFile(path).load()
    assert notice is None
    wanted = Speculation(prompt_lookup=False, tree_branches="never", min_probability=0.4)
    assert settings.speculation == wanted
    assert settings.models[0].speculation == wanted
    assert not settings.prefix.prefill_ahead
    assert settings.connections[0].timeout == 7
    assert settings.engine.flash_attention == "off"


def test_what_was_on_by_default_is_automatic(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"engine": {"flash_attention": True}}), encoding="utf-8")
    assert SettingsFile(path).load() == (Settings(), None)


def test_the_options_of_an_older_chat_keep_their_values() -> None:
    options = decode_options(json.dumps({"speculation": OLD_SPECULATION}))
    assert options.speculation is not None
    assert not options.speculation.prompt_lookup
    assert options.speculation.min_probability == 0.4

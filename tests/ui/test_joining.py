"""Texts put together, and boxes with words that are longer than their place."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from headstart.core.text.languages import LANGUAGES
from headstart.ui.kit import languages
from headstart.ui.kit.joining import sentences, unit_suffix
from headstart.ui.kit.wrapped_check import WrappedCheckBox
from tests.support.plain import plain


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ((), ""),
        (("One",), "One"),
        (("One", "", "Two"), "One. Two"),
        (("One.", "Two"), "One. Two"),
        (("Is it?", "Two", "Three"), "Is it? Two. Three"),
        (("这是。", "那是。"), "这是。那是。"),
    ],
)
def test_parts_are_read_as_sentences(parts: tuple[str, ...], whole: str) -> None:
    assert plain(sentences(*parts)) == whole


@pytest.mark.parametrize(
    ("code", "unit", "suffix"),
    [
        ("en", "", ""),
        ("en", "s", " s"),
        ("ja", "秒", "秒"),
        ("ja", "MB", " MB"),
        ("zh-Hans", "秒", " 秒"),
    ],
)
def test_units_stand_behind_numbers_as_the_language_has_them(
    monkeypatch: pytest.MonkeyPatch, code: str, unit: str, suffix: str
) -> None:
    (language,) = (one for one in LANGUAGES if one.code == code)
    monkeypatch.setattr(languages, "current", lambda: language)
    assert unit_suffix(unit) == suffix


@pytest.mark.parametrize(
    "words",
    ["Für diesen Chat auf dem Datenträger behalten", "このチャットの分をディスクに残しておきます"],
)
def test_a_box_wraps_its_words_and_grows(qtbot: QtBot, words: str) -> None:
    place = QWidget()
    qtbot.addWidget(place)
    column = QVBoxLayout(place)
    box = WrappedCheckBox(words, place)
    column.addWidget(box)
    column.addStretch(1)
    place.resize(600, 200)
    place.show()
    assert box.text() == words
    low = box.height()
    place.resize(190, 200)
    qtbot.waitUntil(lambda: "\n" in box.text())
    assert box.text().replace("\n", " ").replace(" ", "") == words.replace(" ", "")
    qtbot.waitUntil(lambda: box.height() > low)
    assert box.accessibleName() == words
    assert all(box.fontMetrics().horizontalAdvance(line) < 190 for line in box.text().split("\n"))
    place.resize(600, 200)
    qtbot.waitUntil(lambda: box.text() == words)

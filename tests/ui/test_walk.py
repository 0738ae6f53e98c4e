"""Every page and sheet in every size, scale and look: nothing cut, off the screen or unnamed, and
nothing that looks as if the pointer or the keyboard were still there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from tests.support.walk import differ

ROOT = Path(__file__).parents[2]


def _walk(out: Path, scale: str, *sizes: str, language: str = "en") -> list[list[str]]:
    """In a process of its own: Qt takes the scale once, and the window its language."""
    environment = {**os.environ, "QT_SCALE_FACTOR": scale, "QT_QPA_PLATFORM": "offscreen"}
    environment["HEADSTART_LANGUAGE"] = language
    command = [sys.executable, "-m", "tests.support.walk", str(out), *sizes]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    found: list[list[str]] = json.loads(out.read_text())
    return found


def test_in_the_smallest_window_everything_is_there(tmp_path: Path) -> None:
    assert _walk(tmp_path / "found.json", "1", "dark", "720x480") == []


@pytest.mark.proof
@pytest.mark.parametrize("scale", ["1", "1.5", "2"])
def test_everything_is_there_in_every_size(tmp_path: Path, scale: str) -> None:
    assert _walk(tmp_path / "found.json", scale) == []


def test_texts_that_are_longer_fit_the_smallest_window(tmp_path: Path) -> None:
    """In the pseudo-locale, as long as German and Russian are."""
    assert _walk(tmp_path / "found.json", "1", "light", "720x480", language="qps") == []


@pytest.mark.proof
@pytest.mark.parametrize("language", ["qps", "qps-mirrored"])
def test_texts_that_are_longer_fit_in_every_size(tmp_path: Path, language: str) -> None:
    sizes = "720x480", "1000x700", "1400x900"
    assert _walk(tmp_path / "found.json", "1", *sizes, language=language) == []


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de", "fr", "ru", "uk", "vi", "pt-BR", "ja", "ar"])
def test_languages_with_long_words_fit_the_smallest_window(tmp_path: Path, language: str) -> None:
    """Short texts grow by more than the pseudo-locale's: German ones by 70 %."""
    assert _walk(tmp_path / "found.json", "1", "720x480", language=language) == []


def test_everything_that_is_shown_comes_from_a_table(tmp_path: Path) -> None:
    assert _walk(tmp_path / "found.json", "1", "words", "1440x900") == []


def test_everything_is_heard_and_the_focus_is_seen(tmp_path: Path) -> None:
    """Names, roles and states as a screen reader gets them, on every page and sheet; and a control
    that Tab reaches looks different then."""
    assert _walk(tmp_path / "found.json", "1", "heard", "1366x768") == []


@pytest.mark.proof
def test_words_and_icons_are_seen_in_both_themes(tmp_path: Path) -> None:
    """4.5 : 1 for words, 3 : 1 for icons, measured in the pictures."""
    assert _walk(tmp_path / "found.json", "2", "contrast", "1366x768") == []


@pytest.mark.proof
def test_text_twice_as_large_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WALK_TEXT", "200")
    assert _walk(tmp_path / "found.json", "1", "1024x700", "1366x768") == []


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de", "fr", "uk", "pl", "ja", "ar"])
def test_long_words_twice_as_large_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setenv("WALK_TEXT", "200")
    assert _walk(tmp_path / "found.json", "1", "1000x700", language=language) == []


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
@pytest.mark.parametrize(
    ("width", "height", "colour", "everywhere"),
    [
        (1, 1, "#000000", True),
        # the ground under a pointer that has left
        (20, 10, "#f0f0ee", True),
        (2, 2, "#f0f0ee", True),
        # an edge that is blended in another way, which happens between whole pixels only
        (40, 1, "#f5f5f4", False),
        (0, 0, "#000000", None),
    ],
)
def test_two_pictures_differ_but_for_edges_between_pixels(
    qapp: QApplication, ratio: float, width: int, height: int, colour: str, everywhere: bool | None
) -> None:
    one = QImage(60, 60, QImage.Format.Format_RGB32)
    one.fill(QColor("#fbfbfa"))
    one.setDevicePixelRatio(ratio)
    other = one.copy()
    for x in range(width):
        for y in range(height):
            other.setPixelColor(5 + x, 5 + y, QColor(colour))
    expected = bool(width) and (bool(everywhere) or ratio != 1.5)
    assert differ(one, other) is expected

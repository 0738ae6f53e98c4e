"""Japanese, Chinese and Korean written with ibus, and read while a word is being composed.

Needs Xvfb, openbox, xdotool, ibus and its engines (`ibus-anthy`, `ibus-libpinyin`, `ibus-hangul`);
part of `make proof`.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.home import Home
from tests.support.input_method import Composing, ibus, missing
from tests.support.patience import PATIENCE, wait_for

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(sys.platform != "linux" or bool(missing()), reason="needs ibus, a screen"),
]
# what is typed, and what is shown then
WRITTEN = {
    "anthy": ("nihongo", "にほんご"),
    "libpinyin": ("nihao", "你好"),
    "hangul": ("gksrnr", "한국"),
}


@pytest.fixture
def composing(tmp_path: Path) -> Iterator[Composing]:
    with ibus(tmp_path) as found:
        yield found


@pytest.mark.parametrize("engine", WRITTEN)
def test_a_word_counts_while_it_is_composed(
    composing: Composing, engine: str, tmp_path: Path
) -> None:
    if not composing.has(engine):
        pytest.skip(f"needs ibus-{engine}")
    home = Home(tmp_path / "kept")
    screen, (typed, shown) = composing.screen, WRITTEN[engine]
    program = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("print_places.py")), str(home.path)],
        env=screen.environment,
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    with program, program.stdout:
        try:
            field, send, search = json.loads(program.stdout.readline())
            composing.choose(engine)
            # a click on Send leaves the keyboard where it is
            composing.click(field)
            composing.write(typed)
            composing.click(send)
            wait_for(lambda: _first_words(home) == [shown])
            # a click elsewhere takes it along
            composing.click(search)
            composing.write(typed)
            composing.click(field)
            program.terminate()
            searched = program.stdout.read().split()
            assert program.wait(PATIENCE) == 0
        finally:
            program.kill()
    assert searched[-1:] == [shown]
    assert _first_words(home) == [shown]


def _first_words(home: Home) -> list[str]:
    """The first message of each chat."""
    if not home.database.exists():
        return []
    database = sqlite3.connect(home.database)
    try:
        found = database.execute("SELECT text FROM parts ORDER BY rowid LIMIT 1").fetchall()
        return [text for (text,) in found]
    except sqlite3.OperationalError:
        # its tables are being made
        return []
    finally:
        database.close()

"""Typing a long message into the real window: what prefilling ahead saves, and what it costs.

A 200-word message at 60 words a minute, compressed in time with all pauses kept in proportion.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent

from headstart.assembly import App
from headstart.core.settings.prefix import PrefixSettings
from headstart.core.settings.schema import SamplingChoice, Speculation
from headstart.core.started_with import StartedWith
from headstart.home import Home
from headstart.launch import Start, run
from tests.benchmarks.answering import stats_of
from tests.benchmarks.peers import bench_cache
from tests.benchmarks.report import Report, spread
from tests.conftest import until
from tests.support.driver import ask, reply_done
from tests.support.prefix_engine import prose

WORDS = 200
WORDS_A_MINUTE = 60
# the word that is being typed is told by the composer a few times a second: what is settled of it
_HISTORY = "Hello! Please answer in one short sentence."


@dataclass
class Typed:
    first_token: float
    keys: list[float]  # seconds from a key to its paint


class _Paints(QObject):
    """Says when the composer has been painted after a key."""

    def __init__(self, app: App) -> None:
        super().__init__()
        self._waiting: asyncio.Future[float] | None = None
        app.window.composer.edit.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            # this is called before the widget paints itself
            asyncio.get_event_loop().call_soon(_stamp, waiting)
        return super().eventFilter(watched, event)

    async def key(self, app: App, character: str) -> float:
        edit = app.window.composer.edit
        waiting: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._waiting = waiting
        began = perf_counter()
        key = Qt.Key.Key_Space if character == " " else Qt.Key(ord(character.upper()))
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            event = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, character)
            QCoreApplication.postEvent(edit, event)
        return await asyncio.wait_for(waiting, 10) - began


def _stamp(waiting: asyncio.Future[float]) -> None:
    if not waiting.done():
        waiting.set_result(perf_counter())


async def _type(app: App, text: str, factor: float, model: Path) -> Typed:
    paints = _Paints(app)
    app.window.composer.edit.setFocus()
    pause = 60 / WORDS_A_MINUTE / (len(text) / WORDS) / factor
    keys = []
    due = perf_counter()
    for character in text:
        due += pause
        keys.append(await paints.key(app, character))
        await asyncio.sleep(max(0.0, due - perf_counter()))
    app.window.composer.button.click()
    await until(lambda: app.controllers.reply.writing)
    stats = stats_of(await reply_done(app), str(model))
    assert stats.first_token_seconds is not None
    return Typed(stats.first_token_seconds, keys)


async def _measure(
    app: App, factor: float, rounds: int, result: list[list[Typed]], model: Path
) -> int:
    app.services.preferences.update(
        sampling=SamplingChoice(temperature=0.0, max_tokens=4),
        speculation=Speculation(enabled=False),
    )
    for number in range(rounds):
        for ahead in (True, False):
            app.services.preferences.update(prefix=PrefixSettings(prefill_ahead=ahead))
            app.window.new_chat()
            await app.controllers.settle()
            await ask(app, f"{_HISTORY} {number} {ahead}")
            await asyncio.sleep(0.5)
            text = prose(WORDS, 2 * number + ahead)
            result[ahead].append(await _type(app, text, factor, model))
    return 0


def _run(model: Path, factor: float, rounds: int) -> tuple[list[Typed], list[Typed]]:
    result: list[list[Typed]] = [[], []]
    with tempfile.TemporaryDirectory(dir=bench_cache()) as folder:
        code = run(
            Home(Path(folder)),
            Start(
                StartedWith(model=str(model)),
                script=lambda app: _measure(app, factor, rounds, result, model),
            ),
        )
    if code:
        sys.exit(code)
    return result[True], result[False]


def typing_figures(report: Report, small: Path, wide: Path) -> None:
    for name, model, factor, rounds in (("smollm2", small, 10.0, 3), ("wide", wide, 4.0, 2)):
        ahead, without = _run(model, factor, rounds)
        ratios = [
            one.first_token / other.first_token for one, other in zip(ahead, without, strict=True)
        ]
        keys = sorted(1000 * key for typed in ahead for key in typed.keys)
        plain = sorted(1000 * key for typed in without for key in typed.keys)
        report.add(
            f"typing_ttft_ratio_{name}",
            statistics.median(ratios),
            "<= 0.25",
            f"{spread(ratios)} {ahead[0].first_token:.3f} s against {without[0].first_token:.3f} s",
        )
        report.add(
            f"typing_p99_ms_{name}",
            keys[int(len(keys) * 0.99)],
            "<= 16",
            f"median {statistics.median(keys):.1f}; without reading ahead "
            f"p99 {plain[int(len(plain) * 0.99)]:.1f}",
        )

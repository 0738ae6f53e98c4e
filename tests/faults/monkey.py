"""Clicks, types and resizes at random in the real window, with a model that answers:
`python -m tests.faults.monkey SECONDS SEED` is the process, and prints what went wrong as JSON.

It must not end, tell an error of ours, log one, leave a hole in the transcript, or damage the
database; and the window must be there.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QDesktopServices, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QFileDialog,
    QLineEdit,
    QMenu,
    QWidget,
)

from headstart.assembly import App, close_app, open_app
from headstart.home import Home
from headstart.launch import make_application
from headstart.ui.kit.error_window import ErrorWindow
from tests.faults.outcome import Outcome, Row, sound
from tests.support.blank_blocks import blank_blocks
from tests.support.driver import use_sampling
from tests.support.fits import visible
from tests.ui.looks import fill

SECONDS = 900
# events between two looks at everything, and seconds that one event may take
EACH, LONGEST = 40, 5.0
KEYS = (
    Qt.Key.Key_Tab, Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Up, Qt.Key.Key_Down,
    Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown, Qt.Key.Key_Space, Qt.Key.Key_Delete, Qt.Key.Key_Backspace, Qt.Key.Key_F6,
)  # fmt: skip
# with Ctrl: everything that has a key, but what ends the program
CTRL = "abcdefghijklmnoprstuvxyz0123456789,.-+"
TEXTS = (
    "What is a river?", "def f(x): return x\n", "\u05e9\u05dc\u05d5\u05dd", "\u65e5\u672c",
    "\u0645\u0631\u062d\u0628\u0627",
    "\U0001f30a\U0001f469\u200d\U0001f467", "$x^2$", "# a\n- b\n",
    "\ud83c", "a\0b", "x" * 3000, "|a|b|\n|-|-|\n|1|2|", "{{name}}", "/", "@", " ",
)  # fmt: skip


class _Errors(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f": {record.exc_info[1]!r}"
        self.found.append(text[:300])


class Monkey:
    def __init__(self, app: App, seed: int) -> None:
        self.app, self.random = app, random.Random(seed)
        self.done: Counter[str] = Counter()
        self.problems: list[str] = []
        self.longest, self.last = 0.0, ""
        self.chats: list[str] = []
        # the palette can end the program
        self.quits = 0
        app.window.closing.connect(self._on_closing)

    def widgets(self) -> list[QWidget]:
        menu = QApplication.activePopupWidget()
        if menu is not None:
            return [menu]
        window = QApplication.activeWindow() or self.app.window
        found = list(visible(window))
        return found or [self.app.window]

    def click(self) -> None:
        chosen = [
            one
            for one in self.widgets()
            if isinstance(one, QAbstractButton | QAbstractItemView | QLineEdit | QMenu)
        ]
        widget = self.random.choice(chosen or self.widgets())
        place = QPoint(
            self.random.randrange(max(1, widget.width())),
            self.random.randrange(max(1, widget.height())),
        )
        if isinstance(widget, QAbstractItemView):
            widget = widget.viewport()
        button = self.random.choice((*[Qt.MouseButton.LeftButton] * 5, Qt.MouseButton.RightButton))
        QTest.mouseClick(widget, button, Qt.KeyboardModifier.NoModifier, place)

    def key(self) -> None:
        QTest.keyClick(self._focused(), self.random.choice(KEYS))

    def control(self) -> None:
        modifier = Qt.KeyboardModifier.ControlModifier
        if self.random.random() < 0.2:
            modifier |= Qt.KeyboardModifier.ShiftModifier
        QTest.keyClick(self._focused(), Qt.Key(ord(self.random.choice(CTRL.upper()))), modifier)

    def type(self) -> None:
        target = self._focused()
        text = self.random.choice(TEXTS)
        insert = getattr(target, "insertPlainText", None) or getattr(target, "insert", None)
        if insert is not None and self.random.random() < 0.5:
            insert(text)
            return
        QTest.keyClicks(target, "".join(one for one in text[:20] if " " <= one <= "~"))

    def send(self) -> None:
        composer = self.app.window.composer
        composer.edit.setPlainText(self.random.choice(TEXTS))
        QTest.keyClick(composer.edit, Qt.Key.Key_Return)

    def wheel(self) -> None:
        widget = self.random.choice(self.widgets())
        turn = QPoint(0, self.random.choice((-2400, -240, 240, 2400)))
        event = QWheelEvent(
            QPointF(3, 3), QPointF(widget.mapToGlobal(QPoint(3, 3))), QPoint(), turn,
            Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(widget, event)

    def resize(self) -> None:
        self.app.window.resize(self.random.randrange(720, 1900), self.random.randrange(480, 1100))

    def open(self) -> None:
        if self.chats:
            self.app.window.open_chat(self.random.choice(self.chats))

    def _focused(self) -> QWidget:
        return QApplication.focusWidget() or self.app.window

    async def run(self, seconds: float) -> None:
        ways: list[tuple[Callable[[], None], int]] = [
            (self.click, 10), (self.key, 4), (self.control, 2), (self.type, 3), (self.send, 1),
            (self.wheel, 2), (self.resize, 1), (self.open, 1),
        ]  # fmt: skip
        chosen = [way for way, weight in ways for _ in range(weight)]
        end, number = time.monotonic() + seconds, 0
        while time.monotonic() < end and len(self.problems) < 20:
            way = self.random.choice(chosen)
            began = time.monotonic()
            # a button's menu holds the click until it is answered
            QTimer.singleShot(40, self.app.window, self._answer)
            await self._from_qt(way)
            await asyncio.sleep(self.random.choice((0, 0, 0.01, 0.05)))
            took = time.monotonic() - began
            if took > self.longest:
                self.longest, self.last = took, way.__name__
            self.done[way.__name__] += 1
            number += 1
            self._leave_dialogs()
            if number % EACH == 0:
                await self.look()

    def _on_closing(self) -> None:
        self.quits += 1

    async def _from_qt(self, way: Callable[[], None]) -> None:
        """As an event, not in a task: within one, the loop of a menu could run no other."""
        done = asyncio.get_running_loop().create_future()

        def act() -> None:
            try:
                way()
            finally:
                done.set_result(None)

        QTimer.singleShot(0, self.app.window, act)
        await done

    def _answer(self) -> None:
        menu = QApplication.activePopupWidget()
        if not isinstance(menu, QMenu):
            return
        actions = [one for one in menu.actions() if one.isEnabled() and not one.menu()]
        if actions and self.random.random() < 0.6:
            menu.setActiveAction(self.random.choice(actions))
            QTest.keyClick(menu, Qt.Key.Key_Return)
        menu.close()

    def _leave_dialogs(self) -> None:
        for widget in QApplication.topLevelWidgets():
            if isinstance(widget, QFileDialog) and widget.isVisible():
                # what lies on this computer is nobody's toy
                widget.reject()

    async def look(self) -> None:
        for widget in QApplication.topLevelWidgets():
            if isinstance(widget, ErrorWindow) and widget.isVisible():
                self.problems.append(f"an error of ours was told after {dict(self.done)}")
                widget.close()
        if not self.app.window.isVisible():
            if not self.quits:
                self.problems.append("the window is gone")
            self.app.window.show()
        self.quits = 0
        summaries = await self.app.storage.run(lambda store: store.chats.summaries())
        self.chats = [chat.id for chat in summaries]
        if self.longest > LONGEST:
            self.problems.append(f"{self.last} took {self.longest:.1f} s")
            self.longest = 0.0
        view = self.app.window.transcript
        await asyncio.sleep(0.1)
        if view.isVisible() and blank_blocks(view):
            # what is being laid out has a moment for it
            await asyncio.sleep(1.0)
            if view.isVisible() and (holes := blank_blocks(view)):
                self.problems.append(f"holes in the transcript: {holes[:3]}")


async def _visit(folder: Path, seconds: float, seed: int) -> list[str]:
    errors = _Errors()
    logging.getLogger().addHandler(errors)
    app = await open_app(Home(folder))
    await fill(app)
    use_sampling(app)
    app.window.resize(1200, 800)
    app.window.show()
    app.window.activateWindow()
    monkey = Monkey(app, seed)
    await monkey.run(seconds)
    await monkey.look()
    print(f"{sum(monkey.done.values())} events: {dict(monkey.done)}", file=sys.stderr)
    await close_app(app)
    return [*monkey.problems, *errors.found]


def main() -> None:
    seconds, seed = float(sys.argv[1]), int(sys.argv[2])
    QDesktopServices.openUrl = lambda _url: True  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "home")
        loop = qasync.QEventLoop(make_application())
        asyncio.set_event_loop(loop)
        with loop:
            problems = loop.run_until_complete(_visit(folder, seconds, seed))
            if not sound(folder):
                problems.append("the database is not sound")
            # and again, as it was left
            problems += loop.run_until_complete(_visit(folder, 5.0, seed + 1))
        asyncio.set_event_loop(None)
    print(json.dumps(problems))


def run(seconds: float, seed: int, tell: Callable[[str], None]) -> Row:
    row = Row()
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "QT_QPA_PLATFORM": "offscreen"}
    with tempfile.TemporaryDirectory() as place:
        environment |= {"HOME": place, "XDG_CACHE_HOME": place, "XDG_DATA_HOME": place}
        command = [sys.executable, "-m", "tests.faults.monkey", str(seconds), str(seed)]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
    lines = done.stdout.decode(errors="replace").splitlines()
    if done.returncode or not lines:
        why = f"it ended with {done.returncode}: {done.stderr[-600:].decode(errors='replace')}"
    else:
        why = "; ".join(json.loads(lines[-1]))
    tell(done.stderr.decode(errors="replace")[-300:])
    row.add(Outcome(not why, 0, 0, why), tell)
    return row


if __name__ == "__main__":
    main()

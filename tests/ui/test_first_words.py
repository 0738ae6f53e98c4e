"""Words typed while the program starts are in one place, whenever the last chat comes."""

from __future__ import annotations

import asyncio
import random

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtTest import QTest

from headstart.ui.shell.arrivals import Arrivals
from tests.conftest import OpenApp
from tests.support.sampled import sampled
from tests.ui.test_searching import store

TYPED = "hello early bird"


class _Shown(QObject):
    """Notes each time a widget is shown."""

    def __init__(self, seen: list[QEvent], parent: QObject) -> None:
        super().__init__(parent)
        self._seen = seen

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Show:
            self._seen.append(event)
        return super().eventFilter(watched, event)


@pytest.mark.parametrize("seed", sampled(range(50), 0, 1, 2, 3, 4))
async def test_words_typed_at_the_start_are_in_one_place(running: OpenApp, seed: int) -> None:
    draw = random.Random(seed)
    async with running() as app:
        chat, _ = await store(app, "Animals", "Name one", "A walrus.")
        app.services.preferences.state.update(open_chat=chat.id)
        window, edit = app.window, app.window.composer.edit
        arrivals = Arrivals(window, app.controllers, app.services.preferences)
        arrivals.expect(fresh=False)
        assert not window.greeting.isVisible()
        begin = draw.randrange(len(TYPED))
        for number, letter in enumerate(TYPED):
            if number == begin:
                arrivals.open_last(fresh=False)
            QTest.keyClicks(edit, letter)
            for _ in range(draw.choice((0, 0, 1, 3))):
                await asyncio.sleep(draw.choice((0.0, 0.0, 0.002)))
        await app.controllers.settle()
        kept = {app.controllers.open.id: app.controllers.open.unsent}
        assert window.composer.text() == TYPED
        kept |= {chat.id: app.controllers.open.unsent_in(chat.id).text}
        assert sorted(kept.values()) in ([TYPED], ["", TYPED])


async def test_nothing_typed_opens_the_last_chat_without_a_greeting(running: OpenApp) -> None:
    async with running() as app:
        chat, _ = await store(app, "Animals", "Name one", "A walrus.")
        app.services.preferences.state.update(open_chat=chat.id)
        arrivals = Arrivals(app.window, app.controllers, app.services.preferences)
        arrivals.expect(fresh=False)
        seen: list[QEvent] = []
        app.window.greeting.installEventFilter(_Shown(seen, app.window))
        arrivals.open_last(fresh=False)
        await app.controllers.settle()
        assert app.controllers.open.id == chat.id
        assert seen == []
        assert app.window.transcript.isVisible()

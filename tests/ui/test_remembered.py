"""What a window remembers for the next start."""

from __future__ import annotations

import pytest

from headstart.assembly import App
from headstart.ui.shell.arrivals import Arrivals
from tests.conftest import OpenApp, until
from tests.support.sampled import sampled
from tests.ui.test_searching import store


def _arrivals(app: App) -> Arrivals:
    return Arrivals(app.window, app.controllers, app.services.preferences)


@pytest.mark.parametrize("share", sampled([0.0, 0.31, 0.74], 0.31))
async def test_a_chat_opens_where_it_was_being_read(running: OpenApp, share: float) -> None:
    texts = [f"Question {number}\n\n" + "Words about rivers. " * 80 for number in range(80)]
    async with running() as app:
        chat, _ = await store(app, "Rivers", *texts)
        app.window.open_chat(chat.id)
        await app.controllers.settle()
        view = app.window.transcript
        view.column.want_earlier()
        await until(lambda: len(view.column.items) == len(texts))
        bar = view.verticalScrollBar()
        bar.setValue(round(bar.maximum() * share))
        await app.controllers.settle()
        place = view.reaching.reading_place()
        assert place is not None
        app.window.close()
    async with running() as app:
        _arrivals(app).open_last(fresh=False)
        await until(lambda: app.controllers.open.id == chat.id)
        await app.controllers.settle()
        assert app.window.transcript.reaching.reading_place() == place


async def test_a_chat_that_was_read_to_its_end_opens_at_its_end(running: OpenApp) -> None:
    async with running() as app:
        chat, _ = await store(app, "Rivers", *["Words.\n\n" * 12 for _ in range(12)])
        app.window.open_chat(chat.id)
        await app.controllers.settle()
        app.window.close()
        assert app.services.preferences.state.current.open_place is None
    async with running() as app:
        _arrivals(app).open_last(fresh=False)
        await until(lambda: app.controllers.open.id == chat.id)
        await app.controllers.settle()
        assert app.window.transcript.column.following


async def test_a_fresh_start_opens_no_chat(running: OpenApp) -> None:
    async with running() as app:
        chat, _ = await store(app, "Rivers", "Why?", "Because.")
        app.window.open_chat(chat.id)
        await app.controllers.settle()
        app.window.close()
    async with running() as app:
        _arrivals(app).open_last(fresh=True)
        await app.controllers.settle()
        assert not app.controllers.open.stored

"""A draft of this computer for a server's model, in the real window: chosen, learned of, used."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headstart.assembly import App
from headstart.core.chats.parts import Origin
from headstart.core.chats.values import Message
from headstart.core.events import DraftStage, Speculating
from headstart.core.models.ref import ModelRef
from headstart.core.servers import Connection, ServerModel
from headstart.core.settings.schema import SamplingChoice
from tests.conftest import OpenApp, until
from tests.support.driver import ask, begin, branch, reply_done
from tests.support.eager_gain import EagerOnceKnown
from tests.support.scoring_server import ScoringServer

QUESTION = "Write a short text about rivers."


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether drafting pays here and now has tests of its own, and a benchmark."""
    monkeypatch.setattr("headstart.engine.remote.drafting.gain.ServerGain", EagerOnceKnown)


@pytest.fixture
def slow_server(starter: ModelRef) -> Iterator[ScoringServer]:
    """It takes its time for every token."""
    with ScoringServer(starter.path, exact=True, pause=0.05) as server:
        yield server


def _use(app: App, server: ScoringServer) -> ServerModel:
    """The server's model in the open chat."""
    connection = Connection("s", "Slow", server.url, "", 30, True, "vllm")
    model = ServerModel(connection, "harbour-7b", 2048)
    app.services.preferences.update(
        connections=(connection,),
        sampling=SamplingChoice(temperature=0, max_tokens=40),
    )
    app.controllers.models.choose(model)
    return model


async def _offered(app: App, draft: ModelRef) -> None:
    """The list of drafts is the one for the server's model."""
    box = app.window.inspector.speculation.draft_box

    def offered() -> bool:
        row = box.findData(draft.key)
        return row > 0 and "checks them" in str(box.itemData(row, role=3))

    await until(offered)


async def _drafted(app: App, server: ScoringServer) -> Message:
    """The same question, until what was learned after a reply is used."""
    await until(lambda: server.checks >= 3)
    for _ in range(4):
        app.controllers.conversation.regenerate((await branch(app))[-1].id)
        await until(lambda: app.controllers.reply.writing)
        reply = await reply_done(app)
        if reply.stats is not None and reply.stats.speculation is not None:
            return reply
    raise AssertionError("nothing was drafted")


async def test_a_chosen_draft_is_learned_of_and_then_used(
    running: OpenApp, slow_server: ScoringServer, starter: ModelRef
) -> None:
    async with running() as app:
        _use(app, slow_server)
        await until(app.window.header.remote.isVisible)
        panel = app.window.inspector.speculation
        await _offered(app, starter)
        assert not panel.calibrate.isVisible()
        panel.draft_box.setCurrentIndex(panel.draft_box.findData(starter.key))
        first = await ask(app, QUESTION)
        assert first.stats is not None
        assert first.stats.speculation is None
        told: list[Speculating] = []
        app.controllers.reply.speculating.connect(told.append)
        again = await _drafted(app, slow_server)
        assert again.text == first.text
        assert again.stats is not None
        speculation = again.stats.speculation
        assert speculation is not None
        assert speculation.draft_accepted > 5
        assert {run.origin for run in again.parts[0].origins} == {Origin.DRAFT, Origin.TARGET}
        activities = [event.activity for event in told if event is not None]
        assert any(one is not None and one.stage is DraftStage.DRAFTING for one in activities)
        assert "of" in panel.live.values["inspector.accepted"].text()


async def test_a_stop_ends_a_drafted_reply_at_once(
    running: OpenApp, slow_server: ScoringServer, starter: ModelRef
) -> None:
    async with running() as app:
        _use(app, slow_server)
        await until(app.window.header.remote.isVisible)
        panel = app.window.inspector.speculation
        await _offered(app, starter)
        panel.draft_box.setCurrentIndex(panel.draft_box.findData(starter.key))
        await ask(app, QUESTION)
        await _drafted(app, slow_server)
        checks = slow_server.checks
        await begin(app, "And now one about lakes.")
        await until(lambda: slow_server.checks > checks)
        app.controllers.conversation.stop()
        stopped = await reply_done(app)
        assert stopped.text
        assert stopped.stats is not None
        assert stopped.stats.generated_tokens < 40


async def test_what_cannot_be_drafted_is_said(running: OpenApp, slow_server: ScoringServer) -> None:
    async with running() as app:
        _use(app, slow_server)
        await until(app.window.header.remote.isVisible)
        app.services.preferences.update(sampling=SamplingChoice(temperature=0.7, max_tokens=8))
        panel = app.window.inspector.speculation
        await until(lambda: "temperature 0" in panel.verdict.text())
        await ask(app, QUESTION)
        await app.controllers.settle()
        assert slow_server.checks == 0

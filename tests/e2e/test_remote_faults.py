"""Streams that break in random places: no reply hangs, loses a word or ends the program."""

from __future__ import annotations

import asyncio
import random
import time

import pytest

from headstart.assembly import App
from headstart.core.chats.values import Message, MessageStatus
from headstart.core.servers import Connection, ServerModel
from headstart.core.settings.schema import changed
from tests.conftest import OpenApp
from tests.support.faulty_proxy import FaultyProxy, Passed, kept
from tests.support.patience import PATIENCE
from tests.support.scripted_server import Answer, Asked, ScriptedServer

# seconds after which a silent server is given up
SILENCE = 5
SIDE_BY_SIDE = 6
WORDS = [f" word{number}" for number in range(60)]


async def tell(asked: Asked, answer: Answer) -> None:
    await answer.stream()
    await answer.words(WORDS, pause=0.001)
    await answer.end()


async def survive(app: App, upstream: int, seeds: range) -> list[str]:
    """Ask through a proxy for each seed, several at a time; returns what went wrong."""
    wrong: list[str] = []
    waiting = list(seeds)

    async def worker() -> None:
        while waiting:
            seed = waiting.pop()
            async with FaultyProxy(upstream, random.Random(seed)) as proxy:
                connection, _ = await app.services.servers.save(
                    Connection("", f"server {seed}", proxy.url, timeout=SILENCE), None
                )
                app.services.servers.allow(connection.id)
                model = ServerModel(changed(connection, allowed=True), "m")
                wrong.extend(await _ask(app, proxy, model, seed))
                await app.services.servers.remove(connection.id)

    await asyncio.gather(*(worker() for _ in range(SIDE_BY_SIDE)))
    return wrong


async def _ask(app: App, proxy: FaultyProxy, model: ServerModel, seed: int) -> list[str]:
    began = time.monotonic()
    async with _CHOOSING:
        # the model of new chats is one for all
        app.services.preferences.update(model=model.key)
        chat_id = app.services.chat_list.begin().id
        await app.services.conversation.send(chat_id, f"Question {seed}")
    while app.services.replies.reply_in(chat_id) is not None:
        if time.monotonic() - began > PATIENCE:
            return [f"{seed}: hangs"]
        await asyncio.sleep(0.02)
    reply = (await app.services.branches.whole(chat_id))[-1]
    return [f"{seed}: {wrong}" for passed in proxy.answers for wrong in _wrong(passed, reply)]


_CHOOSING = asyncio.Lock()


def _wrong(passed: Passed, reply: Message) -> list[str]:
    found = []
    if not kept(passed, reply.text):
        found.append(f"{passed.fault}: {reply.text!r} instead of {passed.words!r}")
    if passed.fault == "none" and reply.status is not MessageStatus.COMPLETE:
        found.append(f"an unbroken reply is {reply.status}: {reply.error}")
    if reply.status is MessageStatus.FAILED and not reply.error:
        found.append(f"{passed.fault}: nothing is told")
    if reply.error and "Internal error" in reply.error:
        found.append(f"{passed.fault}: {reply.error}")
    return found


@pytest.mark.logs("a request failed")
@pytest.mark.parametrize(
    "count", [18, pytest.param(200, marks=pytest.mark.proof)], ids=["some", "all"]
)
async def test_random_faults_are_survived(running: OpenApp, count: int) -> None:
    with ScriptedServer(handler=tell) as server:
        async with running() as app:
            assert await survive(app, server.port, range(count)) == []

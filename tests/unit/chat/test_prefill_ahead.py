"""Requests to prefill ahead: the latest counts, and one that goes on is let go on. The engine is a
fake here."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from headstart.chat.answering.battery import Battery
from headstart.chat.answering.prefill_ahead import PrefillAhead
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import AheadState, Change
from headstart.chat.preferences import Preferences
from headstart.core.chats.unsent import Unsent
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import GenerationEvent, PrefilledAhead
from headstart.core.models.ref import ModelRef
from headstart.core.requests import AheadRequest, LoadRequest
from headstart.core.settings.prefix import PrefixSettings
from headstart.core.settings.schema import Settings
from headstart.storage.adapters.settings_file import SettingsFile

MODEL = ModelRef(Path("m.gguf"), "m", 1)


class FakeStream:
    def __init__(self, request: AheadRequest) -> None:
        self.request = request
        self.cancelled = False
        self._events: asyncio.Queue[GenerationEvent | None] = asyncio.Queue()

    def cancel(self) -> None:
        self.cancelled = True
        self._events.put_nowait(None)

    def finish(self, tokens: int = 5) -> None:
        self._events.put_nowait(PrefilledAhead(tokens, tokens))
        self._events.put_nowait(None)

    def __aiter__(self) -> FakeStream:
        return self

    async def __anext__(self) -> GenerationEvent:
        event = await self._events.get()
        if event is None:
            raise StopAsyncIteration
        return event


class FakeRunner:
    """`streams` are what it was asked for, in order."""

    def __init__(self) -> None:
        self.streams: list[FakeStream] = []

    def ahead(self, request: AheadRequest) -> FakeStream:
        self.streams.append(FakeStream(request))
        return self.streams[-1]


class FullBattery(Battery):
    async def low(self) -> bool:
        return False


class World:
    def __init__(self, folder: Path) -> None:
        self.preferences = Preferences(Settings(), SettingsFile(folder / "settings.json"))
        runner = FakeRunner()
        self.streams = runner.streams
        self.told: list[Change] = []
        self.fails = False
        broadcast = Broadcast()
        broadcast.on(AheadState, self.told.append)
        self.ahead = PrefillAhead(
            runner,  # type: ignore[arg-type]
            self.preferences,
            self.prepare,
            broadcast,
            FullBattery(),
        )

    async def prepare(self, unsent: Unsent) -> AheadRequest | None:
        await asyncio.sleep(0)
        if self.fails:
            raise EnvironmentProblem("as-written", message="The disk is gone.", remedy="")
        chat_id = unsent.chat_id
        return None if chat_id == "unready" else self.request(chat_id, unsent.text)

    @staticmethod
    def request(chat_id: str, typed: str) -> AheadRequest:
        return AheadRequest(LoadRequest(MODEL), (), chat_id, typed)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def _soon() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_what_is_read_of_a_chat_goes_on_while_its_user_types(world: World) -> None:
    world.ahead.show("a")
    first = asyncio.ensure_future(world.ahead.typed("a", "one "))
    await _soon()
    await world.ahead.typed("a", "one two ")
    await world.ahead.typed("a", "one two three ")
    assert not world.streams[0].cancelled
    world.streams[0].finish()
    await _soon()
    # the words between were never worth a read of their own
    assert [stream.request.typed for stream in world.streams] == ["one ", "one two three "]
    world.streams[1].finish(7)
    await first
    assert world.told == [AheadState("a", 5, 5), AheadState("a", 7, 7)]


async def test_another_chat_ends_what_is_read(world: World) -> None:
    world.ahead.show("a")
    first = asyncio.ensure_future(world.ahead.prefill("a"))
    await _soon()
    world.ahead.show("b")
    await world.ahead.prefill("b")
    await _soon()
    assert world.streams[0].cancelled
    assert world.streams[1].request.chat_id == "b"
    world.streams[1].finish()
    await first


async def test_what_is_typed_into_a_chat_that_is_not_shown_is_not_read(world: World) -> None:
    world.ahead.show("b")
    await world.ahead.typed("a", "late ")
    assert world.streams == []


async def test_a_message_that_was_sent_is_not_read_as_the_next_one(world: World) -> None:
    world.ahead.show("a")
    first = asyncio.ensure_future(world.ahead.typed("a", "hello "))
    await _soon()
    world.ahead.sent("a")
    assert world.streams[0].cancelled
    await first
    again = asyncio.ensure_future(world.ahead.prefill("a"))
    await _soon()
    assert world.streams[1].request.typed == ""
    world.streams[1].finish()
    await again


async def test_switching_it_off_ends_what_is_read(world: World) -> None:
    world.ahead.show("a")
    first = asyncio.ensure_future(world.ahead.prefill("a"))
    await _soon()
    world.preferences.update(prefix=PrefixSettings(prefill_ahead=False))
    assert world.streams[0].cancelled
    await first
    counted = asyncio.ensure_future(world.ahead.prefill("a"))
    await _soon()
    # tokens are counted all the same, and nothing else
    assert not world.streams[1].request.prefills
    world.streams[1].finish()
    await counted


async def test_trouble_is_nobodys_error_and_the_next_wish_is_followed(world: World) -> None:
    world.ahead.show("a")
    world.fails = True
    await world.ahead.prefill("a")
    world.fails = False
    await world.ahead.prefill("unready")
    first = asyncio.ensure_future(world.ahead.prefill("a"))
    await _soon()
    world.streams[0].finish()
    await first


async def test_a_chat_that_is_only_looked_at_is_restored_and_not_read(world: World) -> None:
    async def asked(chat_id: str) -> AheadRequest:
        reading = asyncio.ensure_future(world.ahead.prefill(chat_id))
        await _soon()
        world.streams[-1].finish()
        await reading
        return world.streams[-1].request

    world.ahead.show("a")
    assert (await asked("a")).restores_only
    # nothing was typed: an empty composer says so as well
    emptied = asyncio.ensure_future(world.ahead.typed("a", ""))
    await _soon()
    assert world.streams[-1].request.restores_only
    world.streams[-1].finish()
    await emptied
    world.ahead.used("a")
    assert not (await asked("a")).restores_only
    world.ahead.show("b")
    assert (await asked("b")).restores_only
    world.ahead.sent("b")
    assert not (await asked("b")).restores_only

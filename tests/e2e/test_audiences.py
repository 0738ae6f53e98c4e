"""State that one audience has computed is never told to another: window, private chats, keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import keyring
import pytest

from headstart.core.audiences import WINDOW, Audience, of_key, private
from headstart.core.models.ref import ModelRef
from headstart.core.requests import PromptMessage
from headstart.core.retention import Retention
from headstart.core.settings.prefix import PrefixSettings
from headstart.core.settings.schema import SamplingChoice, Speculation
from headstart.engine.prefix import speeds
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.hub.library import open_model
from tests.conftest import OpenApp
from tests.models.tiny import make_tiny
from tests.support.driver import ask as say
from tests.support.driver import stored_chat
from tests.support.keyrings import MemoryKeyring
from tests.support.prefix_engine import PrefixEngine, prose, system, user
from tests.support.program import Plain, beside, opened

pytestmark = pytest.mark.usefixtures("unhurried")

AUDIENCES = {
    "window": WINDOW,
    "one private chat": private("one"),
    "another private chat": private("other"),
    "a key": of_key("a"),
    "another key": of_key("b"),
    "a key that shares": of_key("c", shares_window=True),
}
# who may reuse whose state, beside their own
READS = {(name, "window") for name, one in AUDIENCES.items() if one.reads}
# a cache that can be cut, one with a window, one that cannot be cut, and both
CACHES = [
    "llama",
    "granitehybrid",
    *(pytest.param(one, marks=pytest.mark.proof) for one in ("gemma2", "mamba2", "lfm2", "qwen35")),
]


@pytest.fixture(autouse=True)
def kept_keys() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def reading_is_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny models read faster than a file is opened; here everything kept comes back."""
    monkeypatch.setattr(speeds, "load", lambda *_: PrefixSpeeds(token_seconds=10.0))
    monkeypatch.setattr(PrefixSpeeds, "observe_prefill", lambda *_: None)


def owner(engine: PrefixEngine, name: str) -> str:
    """A chat's id, or a session's, with the row that its records refer to."""
    if "key" not in name:
        return engine.chat(name)
    found = f"server:{name}"
    engine.storage.submit(lambda store: store.sessions.use(found, "agent")).result()
    return found


def rules(number: int, between: bool = False) -> list[PromptMessage]:
    """A prompt that no other number has."""
    return [system(f"{number} {between} {prose(300)}"), user("What follows?")]


def retention(audience: Audience) -> Retention:
    return Retention.MEMORY if audience.name.startswith("private") else Retention.DISK


@pytest.mark.usefixtures("reading_is_dear")
@pytest.mark.parametrize("family", CACHES)
def test_only_its_audience_finds_what_was_computed(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    engine = PrefixEngine(tmp_path, open_model(path))
    owners = {name: owner(engine, name) for name in AUDIENCES}

    def ask(name: str, text: list[PromptMessage]) -> tuple[int, str]:
        audience = AUDIENCES[name]
        more: Any = {"retention": retention(audience), "served": "key" in name}
        found = engine.ask(owners[name], text, 2, audience=audience, **more)
        return found.reused, found.text

    pairs = [(one, other) for one in AUDIENCES for other in AUDIENCES if one != other]
    for number, (writer, reader) in enumerate(pairs):
        # from the live sequence, and from what is kept
        for between in (False, True):
            text = rules(number, between)
            _, words = ask(writer, text)
            engine.rest()
            if between:
                ask(reader, [user("Zebras.")])
            reused, _ = ask(reader, [*text[:-1], user("And then?")])
            assert (reused > 200) is ((reader, writer) in READS), (writer, reader, reused)
            if (reader, writer) not in READS:
                # the template's first words, from a text of its own
                assert reused < 20
            # nobody's question has cost the writer anything
            engine.rest()
            again, same = ask(writer, text)
            assert again > 200
            assert same == words
    # what is on disk is found by the same ones
    for number, name in enumerate(AUDIENCES, 1000):
        ask(name, rules(number))
        engine.rest()
    assert engine.store.flush(60)
    engine.restart()
    for number, name in enumerate(AUDIENCES, 1000):
        reused, _ = ask(name, rules(number))
        assert (reused > 200) is (retention(AUDIENCES[name]) is Retention.DISK), name
    engine.stop()


@pytest.mark.usefixtures("reading_is_dear")
def test_a_private_chat_reads_without_a_trace(starter: ModelRef, tmp_path: Path) -> None:
    path = make_tiny("llama", starter.path, tmp_path / "model.gguf")
    engine = PrefixEngine(tmp_path, open_model(path))
    text = [system(prose(300)), user("What follows?")]
    engine.ask(engine.chat("kept"), text, 2)
    engine.leave()
    engine.restart()
    engine.store.wait_until_ready()

    def state() -> list[tuple[object, ...]]:
        return [
            (entry.info.key, entry.used, entry.reads, entry.payload is None, sorted(entry.chats))
            for entry in engine.store.records.catalogue
        ]

    before = state()
    alone: Any = {"audience": private("one"), "retention": Retention.MEMORY}
    assert engine.ask("one", text, 2, **alone).reused > 200
    assert [one for one in state() if one in before] == before
    engine.rest()
    # once it is closed for good, nothing of it is left anywhere
    engine.store.controls.forget_chat("one", for_good=True)
    engine.rest()
    assert state() == before
    assert engine.generator.loaded.resident.tokens == []
    engine.stop()


@pytest.mark.usefixtures("reading_is_dear")
def test_a_deleted_chats_state_in_memory_goes_with_it(starter: ModelRef, tmp_path: Path) -> None:
    path = make_tiny("llama", starter.path, tmp_path / "model.gguf")
    engine = PrefixEngine(tmp_path, open_model(path))
    text = [system(prose(300)), user("What follows?")]
    # two chats that the user wants in memory only, with the same beginning
    for name in ("one", "other"):
        engine.ask(engine.chat(name), text, 2, retention=Retention.MEMORY)
        engine.rest()
    engine.store.controls.forget_chat("one", for_good=True)
    engine.ask("third", [user("Zebras.")], 2)
    assert engine.ask("other", text, 2, retention=Retention.MEMORY).reused > 200
    engine.rest()
    engine.store.controls.forget_chat("other", for_good=True)
    engine.rest()
    engine.store.controls.forget_chat("third", for_good=True)
    assert len(engine.store.records.catalogue) == 0
    engine.stop()


def test_drafts_and_their_texts_are_of_one_audience(shallow: ModelRef, tmp_path: Path) -> None:
    engine = PrefixEngine(tmp_path, shallow)
    drafts = Speculation(draft="")
    text = [user("Name some rivers, one in each line.")]
    engine.ask(engine.chat("kept"), text, 40, speculation=drafts)
    engine.rest()
    state = engine.generator.loaded.speculation
    assert state.earlier is not None
    kept = state.earlier.of(WINDOW)
    assert len(kept.recycling)
    # the same question of a program drafts from nothing
    program = of_key("a")
    more: Any = {"audience": program, "served": True, "speculation": drafts}
    request = engine.request(owner(engine, "a key"), text, 2, **more)
    found = state.earlier_for(request)
    assert found is not kept
    assert found is not None
    assert len(found.recycling) == 0
    assert len(found.history) == found.history.waiting == 0
    before = len(kept.recycling)
    engine.ask("server:a key", text, 40, **more)
    assert len(kept.recycling) == before
    # nor does a private chat, which leaves nothing either
    alone: Any = {"audience": private("one"), "retention": Retention.MEMORY, "speculation": drafts}
    assert state.earlier_for(engine.request("one", text, 2, **alone)) is None
    encoder = engine.generator.loaded.encoder
    engine.ask("one", [user("A word that nobody else has typed.")], 2, **alone)
    words = "A word that nobody else has typed."
    assert any(words in known for known in encoder.texts.own.known)
    encoder.texts.enter(WINDOW)
    assert not any(words in known for known in encoder.texts.own.known)
    engine.stop()


# --- through the window and the server -------------------------------------------------------


def cached(program: Plain, text: str) -> int:
    """The tokens of a question that were computed before."""
    body = {"messages": [{"role": "user", "content": text}], "max_tokens": 1}
    status, found = program.post("/v1/chat/completions", body)
    assert status == 200, found
    count = found["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert count or "why" not in json.dumps(found)
    return int(count)


SECRET = f"{prose(60, 4)} The number of my card is 4711."


@pytest.mark.parametrize("kept", [False, True], ids=["private", "kept"])
async def test_a_program_learns_nothing_of_the_windows_chats(running: OpenApp, kept: bool) -> None:
    async with running() as app:
        app.services.preferences.update(sampling=SamplingChoice(max_tokens=4))
        port, key = await opened(app)
        program = Plain(port, key)
        if not kept:
            app.window.new_private_chat()
        await say(app, SECRET)
        assert await beside(partial(cached, program, SECRET)) == 0
        # the window still has what it computed, and the program what it did
        stats = (await say(app, "And now?")).stats
        assert stats is not None
        assert stats.reused_tokens > 60
        assert await beside(partial(cached, program, SECRET)) > 60
        # programs with another key begin from nothing
        program = Plain(port, await app.services.serving.new_key())
        assert await beside(partial(cached, program, SECRET)) == 0
        # shared by the user's word, a kept chat is found, and a private one still is not
        program = Plain(port, await app.services.serving.new_key())
        app.services.serving.change(share_window=True)
        assert (await beside(partial(cached, program, SECRET)) > 60) is kept


async def test_of_a_private_chat_that_was_closed_nothing_is_left(running: OpenApp) -> None:
    async with running() as app:
        app.services.preferences.update(
            sampling=SamplingChoice(max_tokens=4), prefix=PrefixSettings(prefill_ahead=False)
        )
        app.window.new_private_chat()
        await say(app, SECRET)
        chat_id = stored_chat(app)
        assert chat_id is not None
        await app.services.prefixes.forget(chat_id, for_good=True)
        app.window.new_chat()
        stats = (await say(app, SECRET)).stats
        assert stats is not None
        assert stats.reused_tokens == 0

"""Requests of programs beside the window's: they pause for it, and go on word for word."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import keyring
import pytest

from headstart.assembly import App
from headstart.chat.serving.serving import KeptPrompts
from headstart.core.serving.line import LineState
from headstart.core.settings.schema import EngineSettings, SamplingChoice
from tests.conftest import OpenApp, until
from tests.support.driver import reply_done
from tests.support.keyrings import MemoryKeyring
from tests.support.prefix_engine import prose
from tests.support.program import Plain, beside, opened

SYSTEM = {"role": "system", "content": prose(500, 3)}
STORY: Any = {
    "messages": [{"role": "user", "content": "Tell me a long story about a river and a town."}],
    "max_tokens": 320, "temperature": 0.9, "seed": 11,
}  # fmt: skip


@pytest.fixture(autouse=True)
def kept_keys() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


def has_written(app: App, tokens: int) -> bool:
    return app.services.serving.log.lines[0].written >= tokens


async def ask_window(app: App, text: str) -> None:
    """A question in the window, with a short answer."""
    app.window.composer.set_text(text)
    app.window.composer.button.click()
    await until(lambda: app.controllers.reply.writing)
    await until(lambda: not app.controllers.reply.writing)
    reply = await reply_done(app)
    assert reply.text


@pytest.mark.words
async def test_a_paused_reply_is_the_same_reply(running: OpenApp) -> None:
    async with running() as app:
        app.services.preferences.update(
            engine=EngineSettings(exact=True), sampling=SamplingChoice(max_tokens=8)
        )
        program = Plain(*await opened(app))
        log = app.services.serving.log

        def ask() -> Any:
            status, found = program.post("/v1/chat/completions", STORY)
            assert status == 200
            return found

        whole = await beside(ask)
        asking = asyncio.ensure_future(beside(ask))
        await until(lambda: len(log.lines) == 2)
        paused = 0
        for number, written in enumerate((3, 20, 40)):
            await until(partial(has_written, app, written))
            assert log.lines[0].under_way
            await ask_window(app, f"Question {number}?")
            paused += 1
        again = await asking
        assert paused == 3
        assert again["choices"] == whole["choices"]
        assert again["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"]
        assert log.lines[0].state is LineState.DONE


@pytest.mark.words
async def test_a_prompt_that_is_processed_pauses_too(running: OpenApp) -> None:
    async with running() as app:
        app.services.preferences.update(sampling=SamplingChoice(max_tokens=4))
        program = Plain(*await opened(app))
        log = app.services.serving.log
        await ask_window(app, "Hello?")
        long = [{"role": "user", "content": prose(2400, 8)}]

        def ask() -> Any:
            body = {"messages": long, "max_tokens": 6, "temperature": 0}
            return program.post("/v1/chat/completions", body)

        asking = asyncio.ensure_future(beside(ask))
        await until(lambda: log.lines and log.lines[0].state is LineState.PROCESSING)
        await until(lambda: log.lines[0].done > 512)
        await ask_window(app, "And now?")
        # the window's reply did not wait for the prompt
        assert log.lines[0].under_way
        status, found = await asking
        assert status == 200
        assert found["usage"]["completion_tokens"] == 6
        usage = found["usage"]
        # what was processed before it paused counts as processed, not as reused
        assert usage["prompt_tokens_details"]["cached_tokens"] < 512


async def test_requests_wait_in_their_order(running: OpenApp) -> None:
    async with running() as app:
        program = Plain(*await opened(app))

        def ask(number: int) -> int:
            body = {
                "messages": [SYSTEM, {"role": "user", "content": f"Number {number}"}],
                "max_tokens": 3,
            }
            return program.post("/v1/chat/completions", body)[0]

        found = await asyncio.gather(*(beside(partial(ask, number)) for number in range(8)))
        assert found == [200] * 8
        lines = app.services.serving.log.lines
        assert len(lines) == 8
        # all but the first one reuse the system text
        assert sum(line.reused > 400 for line in lines) == 7


async def test_too_many_requests_are_told_to_come_back(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headstart.server.routes.MOST_REQUESTS", 2)
    async with running() as app:
        program = Plain(*await opened(app))
        body = {"messages": STORY["messages"], "max_tokens": 400, "stream": True}

        def ask() -> tuple[int, dict[str, str], bytes]:
            return program.ask("POST", "/v1/chat/completions", body)

        first = [asyncio.ensure_future(beside(ask)) for _ in range(2)]
        await until(lambda: app.services.serving.log.under_way == 2)
        status, headers, _ = await beside(ask)
        assert (status, headers["retry-after"]) == (429, "5")
        for line in app.services.serving.log.lines:
            app.services.serving.log.stop(line.number)
        for one in first:
            await one
        states = {line.state for line in app.services.serving.log.lines}
        assert states == {LineState.STOPPED}


TOOL: Any = {
    "type": "function",
    "function": {
        "name": "look",
        "description": "Looks at a place.",
        "parameters": {
            "type": "object",
            "properties": {"place": {"enum": ["here", "there"]}, "far": {"type": "boolean"}},
            "required": ["place", "far"],
        },
    },
}


async def test_an_agent_goes_on_after_a_restart(running: OpenApp) -> None:
    """Three steps with calls that come back in other spelling, and a restart after each: only new
    text is processed."""
    messages: list[Any] = [SYSTEM, {"role": "user", "content": "Look around."}]
    for number in range(3):
        async with running() as app:
            program = Plain(*await opened(app))
            body = {
                "messages": messages, "tools": [TOOL], "tool_choice": "required",
                "parallel_tool_calls": False, "max_tokens": 80, "seed": number,
            }  # fmt: skip
            status, found = await beside(partial(program.post, "/v1/chat/completions", body))
            assert status == 200
            (line,) = app.services.serving.log.lines
            if number:
                assert line.from_disk > 500
                # what the program says is new to it; a tail in memory is gone with the program
                assert line.processed < 200, line
            assert line.recomputed == 0
            (choice,) = found["choices"]
            (call,) = choice["message"]["tool_calls"]
            given = json.loads(call["function"]["arguments"])
            # no program sends them back as they were written
            spelled = json.dumps(dict(reversed(given.items())), separators=(",", ":"))
            again = {**call, "function": {"name": "look", "arguments": spelled}}
            messages += [
                {"role": "assistant", "content": None, "tool_calls": [again]},
                {"role": "tool", "tool_call_id": call["id"], "content": f"Place {number}."},
            ]
            kept = await app.services.serving.kept()
            assert kept.sessions == 1
    async with running() as app:
        assert (await app.services.serving.kept()).size > 0
        await app.services.serving.forget_kept()
        assert await app.services.serving.kept() == KeptPrompts(0, 0)


async def test_prompts_are_kept_only_where_the_user_allows_it(running: OpenApp) -> None:
    async with running() as app:
        program = Plain(*await opened(app, keep_prompts=False))
        body = {"messages": STORY["messages"], "max_tokens": 2}
        await beside(partial(program.post, "/v1/chat/completions", body))
        await beside(partial(program.post, "/v1/chat/completions", body))
        assert app.services.serving.log.lines[0].reused > 0
        assert await app.services.serving.kept() == KeptPrompts(0, 0)
        use = await app.services.prefixes.use()
        assert use is not None
        assert use.total == 0


async def test_a_title_beside_a_session_costs_the_session_nothing(running: OpenApp) -> None:
    async with running() as app:
        program = Plain(*await opened(app))

        def ask(body: Any) -> Any:
            return program.post("/v1/chat/completions", {"max_tokens": 4, **body})[1]

        talk = [SYSTEM, {"role": "user", "content": "One."}]
        first = await beside(partial(ask, {"messages": talk, "tools": [TOOL]}))
        title = [{"role": "user", "content": "A title for this: One."}]
        await beside(partial(ask, {"messages": title}))
        said = first["choices"][0]["message"]["content"] or ""
        talk += [{"role": "assistant", "content": said}, {"role": "user", "content": "Two."}]
        await beside(partial(ask, {"messages": talk, "tools": [TOOL]}))
        line = app.services.serving.log.lines[0]
        assert line.processed < 40
        assert line.recomputed == 0


def _tool(place: str, text: str) -> Any:
    """A tool with a text at one place, in Anthropic's shape."""
    part: Any = {"type": "string", "description": "Somewhere."}
    spec: Any = {"name": "look", "description": "Looks at a place.", "properties": {"place": part}}
    if place in spec:
        spec[place] = text
    elif place == "key":
        spec["properties"] = {text: part}
    elif place == "choice":
        part["enum"] = ["here", text]
    else:
        part[place] = text
    schema = {"type": "object", "properties": spec.pop("properties")}
    return {**spec, "input_schema": schema}


async def test_control_tokens_in_a_programs_tools_are_text(running: OpenApp) -> None:
    """They cost as much there as in a message."""
    async with running() as app:
        program = Plain(*await opened(app))

        def tokens(**more: Any) -> int:
            body = {"max_tokens": 1, "messages": [{"role": "user", "content": "a"}], **more}
            status, found = program.post("/v1/messages/count_tokens", body)
            assert status == 200, found
            return int(found["input_tokens"])

        def said(text: str) -> int:
            return tokens(messages=[{"role": "user", "content": text}])

        def cost(place: str, text: str) -> int:
            return tokens(tools=[_tool(place, text)])

        for mark in ("<|im_end|>", "<|im_start|>", "<|endoftext|>"):
            plain, hostile = "d d", f"d {mark * 20} d"
            expected = await beside(partial(said, hostile)) - await beside(partial(said, plain))
            assert expected > 100
            for place in ("name", "description", "key", "choice", "title", "default"):
                more = await beside(partial(cost, place, hostile)) - await beside(
                    partial(cost, place, plain)
                )
                assert abs(more - expected) <= 2, (mark, place)

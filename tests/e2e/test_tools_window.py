"""Tools as the user meets them: switched on, asked for, allowed by keyboard, stopped, taken up
again after a restart. The model is a server that is scripted."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from headstart.assembly import App
from headstart.chat.agent.permissions import Permission
from headstart.chat.requests import Asked as AskedMessages
from headstart.chat.transfer.export_request import ExportJobRun
from headstart.core.chats.parts import CallEnd, Part, TextPart, ToolCallPart, ToolResultPart
from headstart.core.chats.sections import CallState
from headstart.core.chats.steps import has_calls
from headstart.core.chats.values import MessageStatus
from headstart.core.own_tools import own_specs
from headstart.core.servers import Connection
from headstart.core.settings.schema import SamplingChoice
from headstart.core.tools import Choosing, ToolChoice, Tools
from headstart.exchange import own_format
from headstart.ui.transcript.call_box import CallBox
from tests.conftest import OpenApp, until
from tests.support.driver import begin, branch, reply_done, shown_text, use_sampling
from tests.support.scripted_server import Answer, Asked, Handler, ScriptedServer, chunk

TERM = {"term": "19.99 * 3"}


def call(name: str, arguments: dict[str, Any], words: str = "", count: int = 1) -> Handler:
    """A reply that says some words and calls a tool."""

    async def answer(_asked: Asked, answer: Answer) -> None:
        await answer.stream()
        if words:
            await answer.words([words])
        for index in range(count):
            head = {"name": name, "arguments": ""}
            first = {"index": index, "id": f"x{index}", "type": "function", "function": head}
            await answer.event(chunk({"tool_calls": [first]}))
            text = json.dumps(arguments)
            for piece in (text[:5], text[5:]):
                more = {"index": index, "function": {"arguments": piece}}
                await answer.event(chunk({"tool_calls": [more]}))
        await answer.end("tool_calls")

    return answer


def say(words: str) -> Handler:
    async def answer(_asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words([words])
        await answer.end()

    return answer


async def use(app: App, server: ScriptedServer, *tools: str) -> None:
    """Choose the server's model, and switch tools on in the panel."""
    services = app.services
    connection = Connection("lab", "Lab", server.url, allowed=True)
    services.preferences.update(connections=(connection,))
    (offered,) = await services.servers.offers()
    app.controllers.models.choose(offered.models[0])
    await app.controllers.settle()
    app.window.show_tools()
    for name in tools:
        app.window.inspector.tools.switches[name].click()
    await app.controllers.settle()


def calls(app: App) -> list[CallBox]:
    """The calls of the last message, as they are shown."""
    item = app.window.transcript.column.items[-1]
    widget = app.window.transcript.widget_of(item.message.id)
    assert widget is not None
    return list(widget.body.calls.values())


async def question(app: App) -> CallBox:
    """Wait for a call that asks, and is shown: what is not shown takes no keys."""
    await until(lambda: any(box.asks and box.isVisible() for box in calls(app)))
    return next(box for box in calls(app) if box.asks)


async def open_again(app: App, chat_id: str) -> None:
    app.window.open_chat(chat_id)
    await app.controllers.settle()
    await until(lambda: app.window.transcript.column.items)


def kinds(parts: tuple[Part, ...]) -> list[type]:
    return [type(part) for part in parts]


def answer_by_keyboard(app: App, permission: Permission) -> None:
    """The shortcut of the question, then Tab to the answer, then Space."""
    app.window.commands.run("reply.answer_tool")
    assert app.window.focusWidget() in next(box for box in calls(app) if box.asks).answers.values()
    for one in Permission:
        if one is permission:
            break
        QTest.keyClick(app.window.focusWidget(), Qt.Key.Key_Tab)
    QTest.keyClick(app.window.focusWidget(), Qt.Key.Key_Space)


async def test_a_call_is_asked_for_allowed_by_keyboard_and_shown(
    running: OpenApp, server: ScriptedServer
) -> None:
    async with running() as app:
        await use(app, server, "calculate")
        app.window.composer.edit.setFocus()
        server.script = [call("calculate", TERM, "Let me see."), say("Three cost 59.97 euros.")]
        await begin(app, "What do three cost?")
        box = await question(app)
        assert app.window.composer.edit.hasFocus(), "a question takes no focus"
        assert box.head.words[0] == "May the model use “Calculator”?"
        assert box.arguments.text == '{"term": "19.99 * 3"}'
        assert all(button.accessibleName() for button in box.answers.values())
        chat_id = app.controllers.open.id
        index = app.window.sidebar.model.index_of(chat_id)
        assert index is not None
        assert "Waiting for you" in str(index.data(Qt.ItemDataRole.AccessibleTextRole))
        # Enter in the composer never allows anything
        QTest.keyClick(app.window.composer.edit, Qt.Key.Key_Return)
        assert box.asks
        answer_by_keyboard(app, Permission.ONCE)
        reply = await reply_done(app)
        assert kinds(reply.parts) == [TextPart, ToolCallPart, ToolResultPart, TextPart]
        assert reply.text == "Let me see.\n\nThree cost 59.97 euros."
        (box,) = calls(app)
        assert box.call.state is CallState.DONE
        assert box.head.words[:3] == ("Calculator", "19.99 * 3", "59.97")
        assert shown_text(app, 1) == "Let me see.\nThree cost 59.97 euros."
        # in their order, and none over another
        item = app.window.transcript.column.items[1]
        widget = app.window.transcript.widget_of(item.message.id)
        assert widget is not None
        first, last = widget.text.widgets()
        assert first.geometry().bottom() < box.geometry().top()
        assert box.geometry().bottom() < last.geometry().top()
        # a chat without tools sends none
        assert "tools" in server.asked[-1].body
        app.window.new_chat()
        server.script = [say("Hello.")]
        await begin(app, "Hi")
        await reply_done(app)
        assert "tools" not in server.asked[-1].body


async def test_always_lists_the_tool_in_the_settings_and_ask_again_takes_it_away(
    running: OpenApp, server: ScriptedServer
) -> None:
    async with running() as app:
        await use(app, server, "calculate")
        server.script = [call("calculate", TERM), say("One."), call("calculate", TERM), say("Two.")]
        await begin(app, "Compute.")
        await question(app)
        answer_by_keyboard(app, Permission.ALWAYS)
        await reply_done(app)
        chat_id = app.controllers.open.id
    async with running() as app:
        await open_again(app, chat_id)
        app.window.settings.open("tools")
        page = app.window.settings.page
        assert page is not None
        assert list(page.tools.buttons) == ["calculate"]
        app.window.escape()
        await begin(app, "Once more.")
        assert (await reply_done(app)).text == "Two."
        page.tools.buttons["calculate"].click()
        assert app.services.preferences.current.allowed_tools == ()
        assert not page.tools.nothing.isHidden()
        server.script = [call("calculate", TERM), say("As you like.")]
        await begin(app, "And again.")
        box = await question(app)
        box.answers[Permission.DENIED].click()
        reply = await reply_done(app)
        result = reply.parts[1]
        assert isinstance(result, ToolResultPart)
        assert result.end is CallEnd.DENIED
        assert calls(app)[0].head.words[2] == "You denied it"


async def test_a_call_that_runs_is_stopped_alone_and_the_reply_goes_on(
    running: OpenApp, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as app:
        await use(app, server, "search_chats")

        async def never(_words: str) -> list[Any]:
            await asyncio.Event().wait()
            return []

        monkeypatch.setattr(app.services.finding, "find", never)
        server.script = [call("search_chats", {"words": "harbour"}), say("Then without.")]
        await begin(app, "Search.")
        (await question(app)).answers[Permission.CHAT].click()
        await until(lambda: calls(app)[0].call.state is CallState.RUNNING)
        (box,) = calls(app)
        assert box.stop_button is not None
        await until(lambda: box.stop_button is not None and box.stop_button.isVisible())
        box.stop_button.click()
        reply = await reply_done(app)
        assert reply.status is MessageStatus.COMPLETE
        assert reply.text == "Then without."
        assert calls(app)[0].call.state is CallState.STOPPED
        # Esc stops the call and the reply
        server.script = [call("search_chats", {"words": "sea"}), say("Never.")]
        await begin(app, "Search again.")
        await until(lambda: calls(app) and calls(app)[0].call.state is CallState.RUNNING)
        app.window.escape()
        reply = await reply_done(app)
        assert reply.status is MessageStatus.STOPPED
        assert server.script


async def test_a_call_that_waited_when_the_program_ended_is_interrupted(
    running: OpenApp, server: ScriptedServer
) -> None:
    """Nothing runs by itself after a restart; Continue goes on."""
    async with running() as app:
        await use(app, server, "calculate", "current_time")
        server.script = [call("calculate", TERM, "Let me see."), say("No result, then.")]
        await begin(app, "Compute.")
        await question(app)
        chat_id = app.controllers.open.id
    asked_before = len(server.asked)
    async with running() as app:
        await open_again(app, chat_id)
        reply = (await branch(app))[-1]
        assert reply.status is MessageStatus.STOPPED or reply.status is MessageStatus.INTERRUPTED
        (box,) = calls(app)
        assert box.call.state in (CallState.INTERRUPTED, CallState.STOPPED)
        assert not box.asks
        assert len([one for one in server.asked[asked_before:] if "chat" in one.path]) == 0
        app.controllers.conversation.continue_reply(reply.id)
        await until(lambda: app.controllers.reply.writing)
        after = await reply_done(app)
        assert after.text == "Let me see.\n\nNo result, then."
        assert len(calls(app)) == 1


async def test_a_chat_opened_again_shows_the_question_that_waits(
    running: OpenApp, server: ScriptedServer
) -> None:
    async with running() as app:
        await use(app, server, "calculate")
        server.script = [call("calculate", TERM, "Let me see.", 2), say("Done.")]
        await begin(app, "Compute.")
        await question(app)
        chat_id = app.controllers.open.id
        app.window.new_chat()
        await app.controllers.settle()
        await open_again(app, chat_id)
        box = await question(app)
        states = [one.call.state for one in calls(app)]
        assert states == [CallState.ASKED, CallState.WAITING]
        box.answers[Permission.CHAT].click()
        reply = await reply_done(app)
        assert reply.text.endswith("Done.")
        assert [one.call.state for one in calls(app)] == [CallState.DONE] * 2


@pytest.fixture
def held_to_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first step of each reply has to be a call: small models seldom call by themselves."""

    def tools(asked: AskedMessages) -> Tools:
        first = not has_calls(asked.written)
        choice = ToolChoice(Choosing.REQUIRED if first else Choosing.AUTO)
        return Tools(own_specs(asked.chat.options.tools), choice, several=False)

    monkeypatch.setattr(AskedMessages, "tools", property(tools))


async def test_a_whole_loop_with_the_starter_model(
    running: OpenApp, held_to_a_call: None, tmp_path: Path
) -> None:
    async with running() as app:
        app.services.preferences.update(allowed_tools=("current_time",))
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=64))
        await begin(app, "Hello.")
        await reply_done(app)
        app.window.show_tools()
        panel = app.window.inspector.tools
        panel.switches["current_time"].click()
        await app.controllers.settle()
        # counted by the model that is loaded
        await until(lambda: "About" not in panel.notes["current_time"].text())
        assert "1 tool" in app.window.composer.tools.text()
        await begin(app, "Which day is it?")
        reply = await reply_done(app)
        called, result = reply.parts[:2]
        assert isinstance(called, ToolCallPart)
        assert (called.name, json.loads(called.text)) == ("current_time", {})
        assert isinstance(result, ToolResultPart)
        assert not result.failed
        assert reply.stats is not None
        # the second step processed the result, and nothing of the first step again
        new = reply.stats.prompt_tokens - reply.stats.reused_tokens
        assert new < 100 < reply.stats.reused_tokens
        # another version has calls of its own; the first one stays as it was
        app.controllers.conversation.regenerate(reply.id)
        await until(lambda: app.controllers.reply.writing)
        other = await reply_done(app)
        assert (other.versions, other.id != reply.id) == (2, True)
        assert isinstance(other.parts[0], ToolCallPart)
        assert other.parts[0].id != called.id
        chat_id = app.controllers.open.id
        path = tmp_path / "chat.json"
        await export(app, chat_id, path)
        read = own_format.from_json(path.read_bytes())
        assert [node.parts for node in read.nodes if node.id == reply.id] == [reply.parts]
    async with running() as app:
        await open_again(app, chat_id)
        again = (await branch(app))[-1]
        assert again.parts == other.parts
        assert [box.call.state for box in calls(app)] == [CallState.DONE]
        await begin(app, "And tomorrow?")
        after = await reply_done(app)
        assert after.stats is not None
        # steps come back from the disk as the model wrote them
        assert after.stats.reused_tokens > 100


async def export(app: App, chat_id: str, path: Path) -> None:
    wanted = app.services.exporting.wanted(
        [chat_id], "headstart", reasoning=True, stats=True, branches=True
    )
    await app.services.exporting.write(wanted, path, ExportJobRun())

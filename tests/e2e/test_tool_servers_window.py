"""Tool servers as the user meets them: added, imported, started, switched on in a chat, asked for,
their questions answered, their prompts and resources used. The model is a server that is scripted.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from headstart.assembly import App
from headstart.chat.agent.permissions import Permission
from headstart.core.chats.parts import ToolResultPart
from headstart.core.chats.sections import CallState
from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.state import ToolServerState
from headstart.ui.settings.tool_import_sheet import ToolImportSheet
from headstart.ui.settings.tool_server_dialog import ToolServerDialog
from headstart.ui.settings.tools_page import ToolsPage
from tests.conftest import OpenApp, until
from tests.e2e.test_tools_window import call, calls, say, use
from tests.support import odd_tool_server
from tests.support.driver import branch, reply_done
from tests.support.keyrings import MemoryKeyring
from tests.support.scripted_server import ScriptedServer
from tests.support.tool_servers import scripted

PICTURES = os.environ.get("TOOL_PICTURES", "")


@pytest.fixture(autouse=True)
def kept_keys(shallow_starter: None) -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


async def picture(app: App, name: str) -> None:
    """A picture of the window, where pictures are wanted."""
    if PICTURES:
        await asyncio.sleep(0.3)
        app.window.grab().save(f"{PICTURES}/{name}.png")


async def page_of(app: App) -> ToolsPage:
    settings = app.window.settings.open("tools")
    await app.controllers.settle()
    return settings.tools


async def added(app: App, *faults: str) -> str:
    """An entry for the scripted server, added by the service."""
    server_id, _ = await app.services.tools.servers.entries.save(scripted(*faults), {})
    await app.controllers.settle()
    return server_id


def asks(app: App, number: int = 1) -> bool:
    """True while the call with this number is the last one, and waits for an answer."""
    found = calls(app) if app.window.transcript.column.items else []
    return len(found) == number and found[-1].asks


async def test_a_server_is_added_started_looked_at_and_removed(running: OpenApp) -> None:
    async with running() as app:
        page = await page_of(app)
        await picture(app, "page-empty")
        page.add.click()
        await asyncio.sleep(0)
        dialog = app.window.findChild(ToolServerDialog)
        assert dialog is not None
        entry = scripted(name="Files & more")
        dialog.save.click()
        assert "command" in dialog.problem.text()
        dialog.name.setText(entry.name)
        dialog.command.setText(entry.target)
        assert dialog.problem.isHidden()
        dialog.add.click()
        row = dialog.variables[0]
        QTest.keyClicks(row.name, "API_TOKEN")
        assert row.secret.isChecked()
        assert row.value.echoMode() is QLineEdit.EchoMode.Password
        QTest.keyClicks(row.value, "hush-hush")
        await picture(app, "dialog")
        dialog.save.click()
        await until(lambda: len(page.servers.rows) == 1)
        [stored] = app.services.preferences.current.tool_servers
        assert stored.target == entry.target
        assert stored.prefix == "Files_more"
        assert [(one.name, one.value) for one in stored.environment] == [("API_TOKEN", "")]
        [shown] = page.servers.rows.values()
        assert "Not running" in shown.state.text()
        shown.switch.click()
        await until(lambda: shown.state.text().startswith("Running"))
        assert "14 tools" in shown.state.text()
        await picture(app, "page")
        shown.details.click()
        sheet = page.details
        assert sheet is not None
        assert sheet.tools.topLevelItemCount() == 14
        first = sheet.tools.topLevelItem(0)
        assert first is not None
        first.setCheckState(0, Qt.CheckState.Unchecked)
        await until(lambda: app.services.preferences.current.tool_servers[0].off == ("echo",))
        sheet.brief.click()
        await until(lambda: app.services.preferences.current.tool_servers[0].brief)
        await picture(app, "details")
        sheet.end.click()
        await until(lambda: shown.state.text().startswith("Not running"))
        sheet.accept()
        # a change keeps the secret that is not typed again
        page.change(stored.id)
        dialog = app.window.findChildren(ToolServerDialog)[-1]
        dialog.name.setText("Files")
        dialog.save.click()
        await until(lambda: shown.name.text() == "Files")
        again = app.services.tools.servers.entries
        assert await again.values(again.all[0]) == {"API_TOKEN": "hush-hush"}
        page.remove_requested.emit(stored.id)
        await until(lambda: not page.servers.rows)
        assert app.services.preferences.current.tool_servers == ()


async def test_entries_of_other_programs_are_shown_whole_and_start_nothing(
    running: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    cursor = tmp_path / ".cursor" / "mcp.json"
    cursor.parent.mkdir()
    servers = {
        "files": {"command": "npx", "args": ["-y", "a server", "/data"], "env": {"TOKEN": "abc"}},
        "old": {"url": "https://example.org/sse"},
        "resting": {"command": "uvx", "args": ["x"], "disabled": True},
    }
    cursor.write_text(json.dumps({"mcpServers": servers}))
    async with running() as app:
        page = await page_of(app)
        page.import_button.click()
        sheet = page.importing
        assert isinstance(sheet, ToolImportSheet)
        await until(lambda: len(sheet.boxes) == 2)
        await picture(app, "import")
        assert [box.isChecked() for box, _ in sheet.boxes] == [True, False]
        assert sheet.boxes[0][1].server.target == "npx -y 'a server' /data"
        sheet.pasted.emit('{"command": "uvx", "args": ["mcp-server-time"]}')
        await until(lambda: len(sheet.boxes) == 3)
        sheet.pasted.emit("nonsense")
        await until(lambda: bool(sheet.state.text()) and not sheet.state.isHidden())
        sheet.add.click()
        await until(lambda: len(page.servers.rows) == 2)
        names = [one.name for one in app.services.preferences.current.tool_servers]
        assert names == ["files", "mcp-server-time"]
        running_tools = app.services.tools.servers.running
        for one in app.services.preferences.current.tool_servers:
            assert running_tools.view(one.id).state is ToolServerState.OFF
        assert running_tools.child is None


async def test_a_chat_gets_the_tools_of_a_server(running: OpenApp, server: ScriptedServer) -> None:
    async with running() as app:
        server_id = await added(app)
        await use(app, server)
        panel = app.window.inspector.tools.servers
        await until(lambda: server_id in panel.rows)
        panel.rows[server_id].switch.click()
        await until(lambda: len(app.window.composer.tool_chips.chips) == 1)
        assert "starts with the next message" in app.window.composer.tool_chips.chips[0].text()
        await picture(app, "chip-new")
        server.script = [
            call("Scripted__delete_all", {}, "I will clean up."),
            call("Scripted__picture", {}),
            call("Scripted__wait", {"seconds": 2}),
            say("Done."),
        ]
        app.window.composer.set_text("Clean up, and show me.")
        app.window.composer.button.click()

        await until(lambda: asks(app, 1))
        [box] = calls(app)
        assert "delete_all" in box.head.words[0]
        assert "may delete" in box.about.text()
        assert "scripted_tool_server.py" in box.about.text()
        await picture(app, "asked")
        box.answers[Permission.ONCE].click()
        await until(lambda: asks(app, 2))
        calls(app)[1].answers[Permission.CHAT].click()
        await until(lambda: asks(app, 3))
        calls(app)[2].answers[Permission.ALWAYS].click()
        await until(lambda: "%" in calls(app)[2].head.words[2])
        await picture(app, "progress")
        await reply_done(app)
        assert [one.call.state for one in calls(app)] == [CallState.DONE] * 3
        await until(lambda: "14 tools" in app.window.composer.tool_chips.chips[0].text())
        await picture(app, "done")
        parts = (await branch(app))[-1].parts
        sources = [part.source for part in parts if isinstance(part, ToolResultPart)]
        assert sources == ["Scripted"] * 3
        page = await page_of(app)
        [approval] = app.services.preferences.current.tool_approvals
        page.buttons[approval].click()
        await until(lambda: not app.services.preferences.current.tool_approvals)


async def test_an_odd_tool_and_an_answer_without_a_bound_cost_themselves_only(
    running: OpenApp, server: ScriptedServer
) -> None:
    async with running() as app:
        servers = app.services.tools.servers
        for what in ("no schema", "lists"):
            arguments = (odd_tool_server.__file__, what)
            entry = ToolServer("", what, command=sys.executable, arguments=arguments)
            await servers.entries.save(entry, {})
        page = await page_of(app)
        odd, fat = page.servers.rows.values()
        odd.switch.click()
        await until(lambda: odd.state.text().startswith("Running"))
        odd.details.click()
        sheet = page.details
        assert sheet is not None
        shown = [sheet.tools.topLevelItem(row) for row in range(sheet.tools.topLevelItemCount())]
        assert [one.text(0) for one in shown if one is not None] == ["echo", "odd"]
        said = "“bad” of “tools” is left out: its “inputSchema” is not as the protocol has it."
        assert sheet.left_out.text() == said
        await until(lambda: said in sheet.log.toPlainText())
        await picture(app, "odd")
        sheet.accept()
        fat.details.click()
        assert page.details is not None
        assert page.details.left_out.isHidden()
        page.details.accept()

        await use(app, server)
        app.services.preferences.update(tools_from=tuple(one.id for one in servers.entries.all))
        server.script = [
            call("lists__odd", {}, "I will see."),
            call("no_schema__echo", {"text": "here"}),
            say("Done."),
        ]
        app.window.composer.set_text("Look.")
        app.window.composer.button.click()
        await until(lambda: asks(app, 1))
        calls(app)[0].answers[Permission.ONCE].click()
        await until(lambda: asks(app, 2))
        calls(app)[1].answers[Permission.ONCE].click()
        await reply_done(app)
        found = [one for one in (await branch(app))[-1].parts if isinstance(one, ToolResultPart)]
        assert [one.failed for one in found] == [True, False]
        assert "200,000 values" in found[0].text
        assert found[1].text == "here"


async def test_a_question_of_a_server_says_who_asks(
    running: OpenApp, server: ScriptedServer
) -> None:
    async with running() as app:
        server_id = await added(app)
        await use(app, server)
        app.services.preferences.update(tools_from=(server_id,))
        server.script = [call("Scripted__ask", {}), call("Scripted__ask", {}), say("Thanks.")]
        app.window.composer.set_text("Ask me.")
        app.window.composer.button.click()
        await until(lambda: asks(app))
        calls(app)[0].answers[Permission.CHAT].click()
        offers = next(one for one in app.window.children() if type(one).__name__ == "ToolOffers")
        await until(lambda: offers.sheet is not None)
        sheet = offers.sheet
        assert sheet.windowTitle() == "Scripted asks"
        await picture(app, "question")
        sheet.send.click()
        assert "needed" in sheet.problem.text()
        line = sheet.findChild(QLineEdit)
        QTest.keyClicks(line, "Ann")
        sheet.send.click()
        # the next one is closed, which is no answer
        await until(lambda: offers.sheet is not None and offers.sheet is not sheet)
        offers.sheet.reject()
        await reply_done(app)
        results = [one.call.result for one in calls(app)]
        assert json.loads(results[0])["content"]["name"] == "Ann"
        assert json.loads(results[1])["action"] == "cancel"


async def test_prompts_and_resources_come_into_the_message(running: OpenApp) -> None:
    async with running() as app:
        server_id = await added(app)
        await app.services.tools.servers.running.ready(server_id)
        edit = app.window.composer.edit
        edit.setFocus()
        QTest.keyClicks(edit, "/summ")
        await until(lambda: "A summary (Scripted)" in app.window.composer.slash.titles)
        await picture(app, "slash")
        slash = app.window.composer.slash
        slash.list.setCurrentRow(slash.titles.index("A summary (Scripted)"))
        QTest.keyClick(edit, Qt.Key.Key_Return)
        offers = next(one for one in app.window.children() if type(one).__name__ == "ToolOffers")
        await until(lambda: offers.asking is not None)
        offers.asking.fields["topic"].setPlainText("rain")
        offers.asking.take()
        await until(lambda: edit.toPlainText() == "Summarize rain in a line.")
        await until(lambda: app.window.composer.attach.menu() is not None)
        menu = app.window.composer.below.attach_menu
        menu.aboutToShow.emit()
        action = next(one for one in menu.actions() if "today" in one.text())
        action.trigger()
        await until(lambda: bool(app.controllers.attaching.shown))
        await until(lambda: app.controllers.attaching.shown[0].part is not None)
        assert app.controllers.attaching.shown[0].part.text == "Note of note://today"

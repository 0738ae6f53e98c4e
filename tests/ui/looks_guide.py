"""The pictures of the user's guide: `python -m tests.ui.looks_guide docs/guide`.

One for each page, of real windows with the starter model; `faster.png` makes the wide model of the
benchmarks first, if it is not there.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from huggingface_hub import constants
from PySide6.QtWidgets import QScrollArea, QWidget

from headstart.assembly import App, close_app, open_app
from headstart.core.chats.saved_prompts import PROMPTS
from headstart.core.events import NoticeKind
from headstart.core.servers import Connection
from headstart.core.settings.schema import Preset, SamplingChoice, SavedPrompt, changed
from headstart.core.told import told
from headstart.core.tool_servers.entry import ToolServer
from headstart.home import Home
from headstart.hub.library import starter_model
from headstart.launch import make_application
from tests.benchmarks.peers import bench_cache
from tests.e2e.test_tools_window import call, say
from tests.models.wide import make_wide
from tests.support import conversation_files as files
from tests.support.documents import pdf
from tests.support.hub_server import HubServer
from tests.support.scripted_server import ScriptedServer
from tests.support.tool_servers import SCRIPT
from tests.ui import looks_models
from tests.ui.looks import fill
from tests.ui.looks_reading import _order

QUESTIONS = ("What is a binary search, in two sentences?", "Write it as a short Python function.")
PAGES = [
    f"{number}. The tenant gives three months' notice in writing. The deposit earns interest."
    for number in range(1, 7)
]


class Guide:
    """A window, what a user does in it, and pictures of that."""

    def __init__(self, app: App, out: Path) -> None:
        self.app, self.window, self._out = app, app.window, out

    async def settle(self, seconds: float = 0.4) -> None:
        await self.app.controllers.settle()
        await asyncio.sleep(seconds)

    async def shot(self, name: str, widget: QWidget | None = None, seconds: float = 0.4) -> None:
        await self.settle(seconds)
        (widget or self.window).grab().save(str(self._out / f"{name}.png"))

    async def unfold(self, name: str, shown: QWidget) -> None:
        """Open a section beside the chat, and scroll to it."""
        self.window.panels.open_inspector()
        self.window.inspector.folds[name].button.click()
        await self.settle()
        area = self.window.inspector.findChild(QScrollArea)
        assert area is not None
        area.ensureWidgetVisible(shown)

    async def fold(self, name: str) -> None:
        self.window.inspector.folds[name].button.click()
        await self.settle()

    async def ask(self, text: str) -> None:
        self.window.composer.set_text(text)
        self.window.composer.button.click()
        while not self.app.controllers.reply.writing:
            await asyncio.sleep(0.01)
        while self.app.controllers.reply.writing:
            await asyncio.sleep(0.05)
        await self.settle()


async def chat(guide: Guide) -> None:
    for question in QUESTIONS:
        await guide.ask(question)
    await guide.shot("first-chat")
    await guide.unfold("prefix", guide.window.inspector.prefix)
    await guide.shot("long-chats")
    await guide.fold("prefix")
    guide.window.commands.run("view.inspector")


async def attached(guide: Guide, place: Path) -> None:
    window = guide.window
    window.new_chat()
    (place / "lease.pdf").write_bytes(pdf(PAGES))
    (place / "rents.csv").write_text("year,rent\n2025,1200\n2026,1230\n", encoding="utf-8")
    guide.window.note.dismiss.click()
    window.open_files([str(place / "lease.pdf"), str(place / "rents.csv")])
    while not window.composer.attachments.ready:
        await asyncio.sleep(0.05)
    window.composer.set_text("What notice do I have to give?")
    await guide.shot("files", seconds=3.0)
    for one in list(window.composer.attachments.chips):
        guide.app.controllers.attaching.remove(one)
    window.composer.set_text("")


async def order_and_branches(guide: Guide) -> None:
    window = guide.window
    long = await fill(guide.app)
    lease, _hotel = await _order(guide.app)
    guide.app.controllers.chat_list.list()
    window.open_chat(long)
    await guide.settle()
    window.commands.run("chat.branches")
    await guide.shot("branches")
    window.commands.run("chat.branches")
    window.open_chat(lease)
    await guide.settle()
    window.sidebar.search.setFocus()
    window.sidebar.search.insert("deposit")
    await asyncio.sleep(0.4)
    window.sidebar.results.choose_first()
    await guide.shot("order")
    window.sidebar.search.clear()
    window.find_bar.leave()


async def prompts(guide: Guide) -> None:
    window = guide.window
    known = (*PROMPTS, SavedPrompt("Minutes", "Minutes of the meeting of {{date}}:"))
    preset = changed(Preset(name="Proof-reader"), system_prompt="Correct spelling and grammar.")
    guide.app.services.preferences.update(prompts=known, presets=(preset,))
    window.new_chat()
    window.activateWindow()
    window.composer.edit.setFocus()
    window.composer.edit.setPlainText("/")
    window.composer.edit.moveCursor(window.composer.edit.textCursor().MoveOperation.End)
    await guide.shot("prompts")
    window.composer.edit.setPlainText("")


async def transfer(guide: Guide, place: Path) -> None:
    path = place / "conversations.json"
    titles = ("Trip to Lisbon", "A sorting question", "Names for a cat", "Letter to the landlord")
    chats = [files.chatgpt(conversation_id=title, title=title) for title in titles]
    path.write_bytes(files.dumps([*chats, {"mapping": 3}]))
    guide.window.transfer.import_files([str(path)])
    await guide.settle()
    assert guide.window.transfer.importing is not None
    await guide.shot("transfer")
    guide.window.transfer.importing.end.click()


async def servers(guide: Guide, server: ScriptedServer) -> None:
    server.models = [{"id": "Qwen3-30B-A3B-Instruct", "owned_by": "vllm", "max_model_len": 32768}]
    await guide.app.services.servers.save(Connection("", "Workstation", server.url), "key")
    guide.window.settings.open("servers")
    settings = guide.window.settings.page
    assert settings is not None
    settings.servers.test_requested.emit(guide.app.services.servers.connections[0].id)
    await guide.shot("servers", seconds=1.0)
    settings.closed.emit()


async def tool_servers(guide: Guide, server: ScriptedServer, place: Path) -> None:
    """A question about a tool of a server, in a chat with a scripted model."""
    app, window = guide.app, guide.window
    server.models = [{"id": "Qwen3-30B-A3B-Instruct", "owned_by": "vllm", "max_model_len": 32768}]
    services = app.services
    before = services.preferences.current.connections
    connection = Connection("tools", "Workstation", server.url, allowed=True)
    services.preferences.update(connections=(*before, connection))
    # a command without the paths of this computer
    program = place / "bin" / "notes-server"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{SCRIPT}"\n')
    program.chmod(0o755)
    os.environ["PATH"] = os.pathsep.join((str(program.parent), os.environ["PATH"]))
    entry = ToolServer("", "Notes", command="notes-server", arguments=("--folder", "Notes"))
    server_id, _ = await services.tools.servers.entries.save(entry, {})
    await services.tools.servers.running.ready(server_id)
    window.new_chat()
    await guide.settle()
    offers = await services.servers.offers()
    model = next(
        one for each in offers for one in each.models if one.connection.id == connection.id
    )
    app.controllers.models.choose(model)
    await guide.settle()
    server.script = [call("Notes__delete_all", {}, "I will clear the notes of last week."), say("")]
    window.show_tools()
    window.inspector.tools.servers.rows[server_id].switch.click()
    await guide.settle()
    window.composer.set_text("Clear my notes of last week.")
    window.composer.button.click()
    await guide.shot("tool-servers", seconds=2.0)
    app.controllers.conversation.stop()
    await guide.settle(1.0)
    services.preferences.update(connections=before)
    await services.tools.servers.running.forget(server_id)
    await services.tools.servers.entries.remove(server_id)


async def knowledge(guide: Guide, server: ScriptedServer, place: Path) -> None:
    """A question about a folder, its passages, and citations that were checked."""
    app, window = guide.app, guide.window
    folder = place / "Manuals"
    folder.mkdir()
    (folder / "heat pump.md").write_text(
        "# Heat pump\n\nThe pump runs at 45 °C in winter.\n\n## Coolant\n\nThe tank holds 20 "
        "litres of coolant. Change it every two years, in spring, with the pump switched off.\n",
        encoding="utf-8",
    )
    (folder / "solar panels.md").write_text(
        "# Solar panels\n\nClean the panels once a year. The inverter is covered for ten years.\n",
        encoding="utf-8",
    )
    server.models = [{"id": "Qwen3-30B-A3B-Instruct", "owned_by": "vllm", "max_model_len": 32768}]
    services = app.services
    before = services.preferences.current.connections
    connection = Connection("files", "Workstation", server.url, allowed=True)
    services.preferences.update(connections=(*before, connection))
    window.new_chat()
    await guide.settle()
    offers = await services.servers.offers()
    model = next(
        one for each in offers for one in each.models if one.connection.id == connection.id
    )
    app.controllers.models.choose(model)
    app.controllers.knowledge.add(str(folder))
    await guide.settle()
    await services.knowledge.knowledge.indexing.settled()
    window.knowledge.switch_on(str(folder))
    await guide.settle()
    server.script = [
        say(
            "The manual says: “Change it every two years, in spring, with the pump switched off” "
            "[1]. You need 20 litres of it [1]."
        )
    ]
    window.panels.open_inspector(False)
    window.composer.set_text("When is the coolant of the heat pump changed, and how much is it?")
    window.composer.button.click()
    await guide.shot("knowledge", seconds=2.0)
    services.preferences.update(connections=before)
    await services.knowledge.knowledge.remove(str(folder))


async def trouble(guide: Guide) -> None:
    banner = guide.window.banner
    banner.show_text(NoticeKind.START, told("died-writing", model="SmolLM2-135M-Instruct").text)
    banner.offer("Details…", lambda: None)
    await guide.shot("trouble")
    banner.dismiss()


async def models(guide: Guide) -> None:
    window, discover = guide.window, guide.app.controllers.discover
    window.commands.run("models.show")
    page = window.pages.models
    assert page is not None
    page.discover.row.field.setText("family3")
    page.discover.row.search()
    await guide.settle(1.0)
    discover.open(looks_models.REPO)
    await guide.shot("models", seconds=1.5)
    window.commands.run("models.show")


async def faster(guide: Guide) -> None:
    """The wide model, drafted for by the starter: measured, then two replies."""
    starter = starter_model()
    assert starter is not None
    path = bench_cache() / "wide-1.2b-q8_0.gguf"
    if not path.exists():
        make_wide(starter.path, path)
    window, controllers = guide.window, guide.app.controllers
    window.new_chat()
    await guide.settle()
    controllers.models.open_file(str(path))
    await guide.settle()
    # the draft is chosen by itself, and what it costs is learned meanwhile
    await guide.settle(15.0)
    for question in QUESTIONS:
        await guide.ask(question)
    await guide.unfold("speculation", window.inspector.speculation)
    await guide.shot("faster", seconds=8.0)


async def walk(home: Home, out: Path, hub: HubServer) -> None:
    app = await open_app(home)
    sampling = SamplingChoice(temperature=0.3, seed=3, max_tokens=220)
    app.services.preferences.update(theme="light", sampling=sampling)
    app.window.show()
    guide, place = Guide(app, out), home.path
    app.window.resize(1180, 820)
    await guide.settle(1.0)
    try:
        await chat(guide)
        await attached(guide, place)
        await order_and_branches(guide)
        await prompts(guide)
        await transfer(guide, place)
        with ScriptedServer() as server:
            await servers(guide, server)
            await tool_servers(guide, server, place)
            await knowledge(guide, server, place)
        await trouble(guide)
        await models(guide)
        await faster(guide)
    finally:
        await close_app(app)
        hub.close()


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    hub, folder = looks_models.make_hub(), Path(tempfile.mkdtemp())
    constants.ENDPOINT, constants.HF_HUB_CACHE = hub.endpoint, str(folder / "hub")
    address = f"{hub.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    constants.HUGGINGFACE_CO_URL_TEMPLATE = address
    application = make_application()
    loop = qasync.QEventLoop(application, already_running=False)
    asyncio.set_event_loop(loop)
    with loop:
        loop.run_until_complete(walk(Home(folder / "home"), out, hub))
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""The model's file tools keep to the files that a chat names: the model is somebody's server, and
what it is told leaves this computer. The server is scripted, the window and the index are real."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from headstart.assembly import App
from headstart.core.knowledge.pinned import PinnedDocument
from headstart.core.settings.schema import ChatOptions, ModelOptions
from tests.conftest import OpenApp, until
from tests.e2e.test_tools_window import call, say, use
from tests.support.driver import ask, begin, branch, reply_done
from tests.support.knowledge_window import read
from tests.support.scripted_server import Answer, Asked, ScriptedServer

TOOLS = ("search_files", "read_file")
# words of private files: nothing that is sent has them
PRIVATE = ("ZEPHYR", "MISTRAL", "SIROCCO")


@pytest.fixture(autouse=True)
def quick(shallow_starter: None) -> None:
    """No test here needs the starter model's words."""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "diary.md").write_text("# Work\n\nThe meeting is about the harbour crane.\n")
    (folder / "plan.md").write_text("# Plan\n\nThe crane is painted in spring.\n")
    (folder / "sub" / "notes.md").write_text("# Notes\n\nThe crane lifts nine tons.\n")
    return folder


@pytest.fixture
def home_folder(tmp_path: Path, work: Path) -> Path:
    """A private folder: a file of the same name, one with the same bytes, and more."""
    folder = tmp_path / "home notes"
    folder.mkdir()
    (folder / "diary.md").write_text("# Home\n\nThe crane is called ZEPHYR by the doctor.\n")
    (folder / "MISTRAL.md").write_bytes((work / "plan.md").read_bytes())
    (folder / "letter.md").write_text("# Letter\n\nMy crane and I: SIROCCO.\n")
    return folder


async def _prepare(app: App, server: ScriptedServer, *folders: Path) -> None:
    for folder in folders:
        app.controllers.knowledge.add(str(folder))
    await read(app)
    await use(app, server)
    app.services.preferences.update(allowed_tools=TOOLS)


async def _options(app: App, **changes: Any) -> None:
    """The open chat's own options, with the tools on."""
    options = replace(app.controllers.open.chat.options, tools=TOOLS, **changes)
    await app.services.choices.set_options(app.controllers.open.id, options)
    await app.controllers.settle()


def _results(server: ScriptedServer) -> list[str]:
    """The results of tools in the last request."""
    last = [one.body["messages"] for one in server.asked if "messages" in one.body][-1]
    return [one["content"] for one in last if one["role"] == "tool"]


def _sent(server: ScriptedServer) -> str:
    return json.dumps([one.body for one in server.asked], ensure_ascii=False)


def _names(home_folder: Path, work: Path) -> list[str]:
    """Ways to name a private file."""
    return [
        "letter.md", "MISTRAL.md", "home notes/diary.md", "home notes/letter.md",
        "../home notes/letter.md", str(home_folder / "letter.md"), str(home_folder),
    ]  # fmt: skip


async def test_tools_find_what_the_chat_names_and_nothing_else(
    running: OpenApp, server: ScriptedServer, work: Path, home_folder: Path
) -> None:
    async with running() as app:
        await _prepare(app, server, work, home_folder)
        names = _names(home_folder, work)
        calls = [call("search_files", {"question": question}) for question in ("crane", "letter")]
        for pair in (names[:4], names[4:]):
            app.window.new_chat()
            await app.controllers.settle()
            await _options(app, files_from=(str(work),))
            server.asked.clear()
            server.script = [
                *calls, call("read_file", {"path": "diary.md"}),
                *(call("read_file", {"path": name}) for name in pair), say("Done."),
            ]  # fmt: skip
            await ask(app, "What is lifted, and by whom?")
            crane, letter, diary, *others = _results(server)
            assert "sub/notes.md" in crane
            # the same bytes have another name in the private folder
            assert "plan.md" in crane
            assert letter.startswith("Nothing was found")
            assert "harbour crane" in diary
            for name, result in zip(pair, others, strict=True):
                assert "that the user chose for this chat have no" in result, name
            # but for the name that the model itself wrote
            sent = _sent(server).replace("MISTRAL.md", "")
            assert not [word for word in PRIVATE if word in sent]


async def test_every_level_names_files_and_none_names_all(
    running: OpenApp, server: ScriptedServer, work: Path, home_folder: Path
) -> None:
    async with running() as app:
        await _prepare(app, server, work, home_folder)
        services = app.services
        (offered,) = await services.servers.offers()
        key = offered.models[0].key
        sources = (str(work),)
        path = await services.folders.make("Cranes")
        levels: dict[str, dict[str, Any]] = {
            "none": {}, "chat": {"files_from": sources}, "folder": {}, "model": {}, "settings": {},
            "file": {"files_from": (f"{work}/plan.md",)},
            "gone": {"files_from": ("/no/such/place",)}, "off": {"files_from": ()},
        }  # fmt: skip
        app.controllers.knowledge.add(f"{work}/plan.md")
        await read(app)
        for level, own in levels.items():
            app.window.new_chat()
            await app.controllers.settle()
            await _options(app, **own)
            server.asked.clear()
            server.script = [say("Hello.")]
            await ask(app, "Hello")
            chat_id = app.controllers.open.id
            if level == "folder":
                await services.folders.set_options(path, ChatOptions(files_from=sources), None)
                await services.chat_list.move([chat_id], path)
            own_of_model = ModelOptions(key=key, files_from=sources)
            services.preferences.update(
                models=(own_of_model,) if level in ("model", "off") else (),
                files_from=sources if level == "settings" else (),
            )
            await app.controllers.settle()
            server.script = [
                call("search_files", {"question": "crane"}),
                call("read_file", {"path": "plan.md"}),
                call("read_file", {"path": "letter.md"}),
                say("Done."),
            ]
            await ask(app, "What is lifted?")
            crane, plan, letter = _results(server)
            chosen = level not in ("none", "gone", "off")
            assert ("painted in spring" in crane) == chosen, (level, crane)
            assert ("painted in spring" in plan) == chosen, (level, plan)
            assert ("nine tons" in crane) == (chosen and level != "file"), (level, crane)
            assert ("has chosen no folder" in letter) == (not chosen), (level, letter)
            assert not [word for word in PRIVATE if word in _sent(server)], level
        services.preferences.update(files_from=(), models=())


async def test_what_is_switched_off_in_mid_reply_is_off(
    running: OpenApp, server: ScriptedServer, work: Path, home_folder: Path
) -> None:
    go_on = threading.Event()

    def later(name: str, arguments: dict[str, Any]) -> Any:
        async def answer(asked: Asked, answer: Answer) -> None:
            while not go_on.is_set():
                await asyncio.sleep(0.01)
            await call(name, arguments)(asked, answer)

        return answer

    async with running() as app:
        await _prepare(app, server, work, home_folder)
        both = (str(work), str(home_folder))
        await _options(app, files_from=both)
        server.script = [
            call("read_file", {"path": "sub/notes.md"}),
            later("search_files", {"question": "crane"}),
            call("read_file", {"path": "letter.md"}),
            call("read_file", {"path": "diary.md"}),
            say("Done."),
        ]
        await begin(app, "What is lifted?")
        await until(lambda: len([one for one in server.asked if "messages" in one.body]) == 2)
        await _options(app, files_from=(str(work),))
        go_on.set()
        await reply_done(app)
        notes, crane, letter, diary = _results(server)
        assert "nine tons" in notes
        assert "nine tons" in crane
        assert "have no letter.md" in letter
        assert "harbour" in diary
        # what stands before the first result was chosen when it was asked
        results = json.dumps(_results(server))
        assert not [word for word in PRIVATE if word in results]
        assert len((await branch(app))[-1].parts) > 4


async def test_names_in_several_folders_and_whole_documents(
    running: OpenApp, server: ScriptedServer, work: Path, home_folder: Path, tmp_path: Path
) -> None:
    third = tmp_path / "third"
    shutil.copytree(work, third)
    (third / "diary.md").write_text("# Third\n\nA quay is older.\n")
    async with running() as app:
        await _prepare(app, server, work, third, home_folder)
        pinning = app.services.knowledge.pinning
        document: PinnedDocument = await pinning.read(str(home_folder / "letter.md"))
        await _options(app, files_from=(str(work), str(third)), pinned=(document,))
        names = ["diary.md", "third/diary.md", "work/diary.md", "plan.md", "letter.md"]
        server.script = [
            *(call("read_file", {"path": name}) for name in [*names, "MISTRAL.md"]), say("Done."),
        ]  # fmt: skip
        await ask(app, "What is lifted?")
        both, of_third, of_work, plan, letter, other = _results(server)
        assert "third/diary.md, work/diary.md" in both
        assert ("quay" in of_third, "harbour" in of_work) == (True, True)
        # the same bytes in both
        assert "painted in spring" in plan
        # it stands first in the chat: the user put it there
        assert "SIROCCO" in letter
        assert "have no MISTRAL.md" in other
        assert "ZEPHYR" not in _sent(server)

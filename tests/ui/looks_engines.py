"""Pictures of what servers and engines look like: `python -m tests.ui.looks_engines OUT`.

A person looks at them; nothing is asserted.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


from headstart.assembly import App
from headstart.core.servers import Connection
from headstart.core.settings.schema import EngineSettings
from headstart.home import Home
from headstart.hub.library import starter_model
from headstart.launch import Start, run
from headstart.ui.kit.sheet import sheet_over
from headstart.ui.settings.servers_page import ConnectionDialog
from tests.models.tiny_mlx import make_tiny_mlx
from tests.support.scripted_server import WORDS, Answer, Asked, ScriptedServer, tell_story
from tests.support.sheets import agree
from tests.ui.looks import LONG


async def cut(asked: Asked, answer: Answer) -> None:
    await answer.stream()
    await answer.words(WORDS[:5])
    await asyncio.sleep(0.1)
    await answer.cut()


async def take(app: App, out: Path, server: ScriptedServer, folder: Path) -> int:
    window, services = app.window, app.services
    server.models = [
        {"id": "Qwen3-30B-A3B-Instruct", "owned_by": "vllm", "max_model_len": 32768},
        {"id": f"org/{LONG.replace(' ', '-')}", "owned_by": "vllm"},
    ]
    await services.servers.save(Connection("", "Workstation", server.url), "key")
    await services.servers.save(Connection("", "Old laptop", "http://192.168.1.77:8080/v1"), "")
    starter = starter_model()
    assert starter is not None
    make_tiny_mlx("llama", starter.path, folder / "SmolLM2-135M-4bit")
    app.controllers.models.open_file(str(folder / "SmolLM2-135M-4bit"))
    await app.controllers.settle()

    async def shot(name: str) -> None:
        await asyncio.sleep(0.3)
        window.grab().save(str(out / f"{name}.png"))

    for scheme in ("light", "dark"):
        app.services.preferences.update(theme=scheme)
        window.resize(1360, 860)
        await shot(f"{scheme}-refused")
        window.banner.dismiss()
        for page in ("general", "expert", "servers"):
            settings = window.settings.open(page)
            await asyncio.sleep(0.8)
            if page == "servers":
                settings.servers.test_requested.emit(services.servers.connections[0].id)
                await asyncio.sleep(0.5)
            await shot(f"{scheme}-settings-{page}")
        settings.servers.change_button.click()
        await asyncio.sleep(0.2)
        await shot(f"{scheme}-connection")
        dialog = sheet_over(window)
        assert isinstance(dialog, ConnectionDialog)
        dialog.reject()
        window.escape()
        await services.servers.offers(fresh=True)
        window.header.pill.choices.popup(window.pos())
        await asyncio.sleep(0.6)
        window.header.pill.choices.grab().save(str(out / f"{scheme}-menu.png"))
        window.header.pill.choices.close()
        offered = services.servers.known()[0]
        if not offered.connection.allowed:
            app.controllers.models.choose(offered.models[0])
            await asyncio.sleep(0.4)
            await shot(f"{scheme}-consent")
            agree(window)
            await app.controllers.settle()
        window.new_chat()
        await shot(f"{scheme}-server-empty")
        for handler, text in ((tell_story, "Tell me a story."), (cut, "And a longer one?")):
            server.script = [handler]
            window.composer.set_text(text)
            window.composer.button.click()
            await asyncio.sleep(0.8)
        await app.controllers.settle()
        await shot(f"{scheme}-server-chat")
        window.resize(900, 600)
        await shot(f"{scheme}-server-narrow")
    app.services.preferences.update(engine=EngineSettings(threads=1))
    return 0


if __name__ == "__main__":
    target = Path(sys.argv[-1])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, ScriptedServer() as scripted:
        sys.exit(
            run(
                Home(Path(place) / "home"),
                Start(script=lambda app: take(app, target, scripted, Path(place))),
            )
        )

"""Pictures of how chats go out and come in: `python -m tests.ui.looks_transfer FOLDER`."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync

from headstart.assembly import close_app, open_app
from headstart.home import Home
from headstart.launch import make_application
from tests.support import conversation_files as files


async def walk(home: Home, out: Path, look: str, size: tuple[int, int]) -> None:
    app = await open_app(home)
    app.services.preferences.update(theme="dark" if look == "dark" else "light")
    app.window.resize(*size)
    app.window.show()

    async def shot(name: str, widget: object = None) -> None:
        await app.controllers.settle()
        await asyncio.sleep(0.3)
        shown = widget or app.window
        shown.grab().save(str(out / f"{look}-{name}.png"))  # type: ignore[attr-defined]

    path = home.path / "conversations.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    chats = [files.chatgpt(conversation_id=f"{n}", title=f"Chat number {n}") for n in range(30)]
    path.write_bytes(files.dumps([*chats, {"mapping": 3}, 5]))
    app.window.transfer.import_files([str(path)])
    await app.controllers.settle()
    window = app.window.transfer.importing
    assert window is not None
    await shot("import", window)
    window.take.click()
    await shot("imported", window)
    window.tabs.setCurrentIndex(1)
    await shot("left-out", window)
    window.end.click()
    summaries = await app.services.chat_list.summaries()
    app.window.open_chat(summaries[0].id)
    await shot("chat")
    app.window.commands.run("chat.export")
    assert app.window.transfer.exporting is not None
    await shot("export", app.window.transfer.exporting)
    app.window.transfer.exporting.end.click()
    app.window.commands.run("chats.export")
    await shot("export-all", app.window.transfer.exporting)
    app.window.transfer.exporting.end.click()
    app.window.settings.open("files")
    await shot("files")
    await close_app(app)


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    application = make_application()
    loop = qasync.QEventLoop(application, already_running=False)
    asyncio.set_event_loop(loop)
    folder = Path(tempfile.mkdtemp())

    async def both() -> None:
        for look, size in (("light", (1360, 860)), ("dark", (1360, 860)), ("narrow", (720, 480))):
            await walk(Home(folder / look), out, look, size)

    with loop:
        loop.run_until_complete(both())


if __name__ == "__main__":
    main(Path(sys.argv[1]))

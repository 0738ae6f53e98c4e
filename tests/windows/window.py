"""The window on Qt's own platform for this system, with an answer, and a picture of the screen."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QApplication

from headstart.assembly import App
from headstart.chat.changes import ReplyEnded
from headstart.home import Home
from headstart.launch import Start, run

QUESTION = "Name three colours."


async def ask(app: App, picture: Path) -> int:
    ended = asyncio.Event()
    app.services.broadcast.on(ReplyEnded, lambda _: ended.set())
    app.window.showMaximized()
    app.window.composer.set_text(QUESTION)
    app.window.composer.button.click()
    await ended.wait()
    await app.controllers.settle()
    await asyncio.sleep(1)
    screen = app.window.screen()
    # of the window, where a screen gives nothing away
    grabbed = screen.grabWindow(0)
    (app.window.grab() if grabbed.isNull() else grabbed).save(str(picture))
    branch = await app.storage.run(lambda store: store.messages.branch(app.controllers.open.id))
    answer = branch[-1].text
    print(json.dumps([bool(answer.strip()), f"{QApplication.platformName()}: {answer[:60]!r}"]))
    return int(not answer.strip())


def main() -> int:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        script = partial(ask, picture=Path(sys.argv[1]))
        return run(Home(Path(folder, "home")), Start(script=script))


if __name__ == "__main__":
    sys.exit(main())

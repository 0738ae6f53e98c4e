"""Run as its own process by test_recovery: asks for a long story in the real window.

Prints one JSON line per event, with the time and all text so far, until it is killed.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from headstart.assembly import App
from headstart.chat.changes import ReplyEvent
from headstart.core.events import TextAdded
from headstart.core.settings.schema import EngineSettings, SamplingChoice
from headstart.home import Home
from headstart.launch import Start, run
from tests.conftest import until

QUESTION = "Tell a very long story about a dog, a cat and a river, at least 1000 words."


async def write(app: App) -> int:
    text = ""

    def follow(change: ReplyEvent) -> None:
        nonlocal text
        if isinstance(change.event, TextAdded):
            text += "".join(piece.text for piece in change.event.pieces)
            print(json.dumps({"at": time.monotonic(), "text": text}), flush=True)

    app.services.broadcast.on(ReplyEvent, follow)
    app.services.preferences.update(
        sampling=SamplingChoice(temperature=0.9, seed=5), engine=EngineSettings(threads=1)
    )
    print(json.dumps({"at": time.monotonic(), "text": None}), flush=True)
    app.window.composer.set_text(QUESTION)
    app.window.composer.button.click()
    await until(lambda: app.controllers.reply.writing)
    await until(lambda: not app.controllers.reply.writing, 600)
    return 0


if __name__ == "__main__":
    sys.exit(run(Home(Path(sys.argv[1])), Start(script=write)))

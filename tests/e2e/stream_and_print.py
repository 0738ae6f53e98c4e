"""Run as its own process by test_recovery: asks for a long story in the real window.

Prints one JSON line per event, with all text so far, and one for each write of the journal with
what is stored then, until it is killed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from headstart.assembly import App
from headstart.chat.changes import ReplyEvent
from headstart.chat.reply import Reply
from headstart.core.events import TextAdded
from headstart.core.settings.schema import EngineSettings, SamplingChoice
from headstart.home import Home
from headstart.launch import Start, run
from tests.conftest import until

QUESTION = "Tell a very long story about a dog, a cat and a river, at least 1000 words."


def tell_stored() -> None:
    """Print what the journal has, each time that it was written."""

    def tell(reply: Reply, upto: int) -> None:
        vars(reply)["_upto"] = upto
        if upto:
            stored = "".join(piece.text for piece in reply.written[:upto])
            print(json.dumps({"stored": stored}), flush=True)

    Reply.journaled = property(lambda reply: vars(reply)["_upto"], tell)  # type: ignore[assignment]


async def write(app: App) -> int:
    text = ""

    def follow(change: ReplyEvent) -> None:
        nonlocal text
        if isinstance(change.event, TextAdded):
            text += "".join(piece.text for piece in change.event.pieces)
            print(json.dumps({"text": text}), flush=True)

    app.services.broadcast.on(ReplyEvent, follow)
    app.services.preferences.update(
        sampling=SamplingChoice(temperature=0.9, seed=5), engine=EngineSettings(threads=1)
    )
    tell_stored()
    print(json.dumps({"begun": ""}), flush=True)
    app.window.composer.set_text(QUESTION)
    app.window.composer.button.click()
    await until(lambda: app.controllers.reply.writing)
    await until(lambda: not app.controllers.reply.writing)
    return 0


if __name__ == "__main__":
    sys.exit(run(Home(Path(sys.argv[1])), Start(script=write)))

"""`make run` on a computer without a screen: the same window, offscreen.

It asks one question, prints the streamed answer with its stats, and leaves a screenshot and the
conversation as Markdown under demo/.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from headstart.assembly import App
from headstart.chat.changes import ModelState, ReplyEnded, ReplyEvent
from headstart.chat.transfer.export_request import ExportJobRun
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import Failed, Finished, Loaded, TextAdded
from headstart.core.settings.schema import ChatOptions, SamplingChoice
from headstart.core.told import AS_WRITTEN, told
from headstart.ui.transcript.words import figures_text

QUESTION = "Write a short Python function that checks if a number is prime, and explain it."
FOLDER = Path("demo").absolute()


async def run_demo(app: App, model: str = "") -> int:
    """Drive the window as a user would; returns the exit code. `model`: the path of the one that
    answers; no other one does in its place."""
    if model:
        why = await _chosen(app, Path(model))
        if why:
            print(f"headstart: {why}", file=sys.stderr)
            return 1
    ended = asyncio.Event()
    failed: list[Failed] = []

    def follow(change: ReplyEvent) -> None:
        match change.event:
            case TextAdded(pieces=pieces):
                sys.stdout.write("".join(piece.text for piece in pieces))
                sys.stdout.flush()
            case Loaded(model=model, seconds=seconds):
                print(f"[{model.name} loaded in {seconds:.2f} s]\n")
            case Finished(stats=stats):
                print(f"\n\n[{figures_text(stats, whole=True)}]")
            case Failed() as event:
                failed.append(event)

    def give_up(message: str, remedy: str) -> None:
        failed.append(Failed(told(AS_WRITTEN, message=message, remedy=remedy)))
        ended.set()

    app.services.broadcast.on(ReplyEvent, follow)
    app.services.broadcast.on(ReplyEnded, lambda _ended: ended.set())
    app.controllers.problems.told.connect(give_up)
    # a small model can go on for ever: limit the reply, and fix the seed for the same text each
    # time
    app.controllers.chat.set_options(
        app.controllers.open.id, ChatOptions(sampling=SamplingChoice(seed=7, max_tokens=320))
    )
    print("No screen here: the window runs offscreen and answers one question.\n")
    print(f"> {QUESTION}\n")
    app.window.composer.set_text(QUESTION)
    app.window.composer.button.click()
    await ended.wait()
    if failed:
        print(failed[0].told.text, file=sys.stderr)
        return 1
    await app.controllers.settle()
    # code is coloured on a worker thread, and painted in the next frames
    await asyncio.sleep(0.5)
    FOLDER.mkdir(exist_ok=True)
    picture, words = FOLDER / "headstart.png", FOLDER / "conversation.md"
    app.window.grab().save(str(picture))
    exporting = app.services.exporting
    wanted = exporting.wanted(
        [app.controllers.open.id], "markdown", reasoning=True, stats=False, branches=False
    )
    await exporting.write(wanted, words, ExportJobRun())
    print(f"[screenshot: {picture}]\n[conversation: {words}]")
    return 0


async def _chosen(app: App, path: Path) -> str:
    """Make the model at `path` that of the open chat; returns why it is not."""
    services, chat = app.services, app.controllers.open.chat
    troubles: list[str] = []

    def follow(change: ModelState) -> None:
        if change.problem:
            troubles.append(change.problem)

    services.broadcast.on(ModelState, follow)
    try:
        model = await services.models.open_file(path)
        await services.chat_models.choose(chat, model)
    except EnvironmentProblem as problem:
        return str(problem)
    answers, _name = await services.chat_models.find(chat.id)
    if answers == model:
        return ""
    return troubles[-1] if troubles else told("model-missing", path=path).text

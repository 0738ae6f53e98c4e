"""A whole document in several chats, in a real window: `python -m tests.benchmarks.knowledge_pinned
HOME STEP FILE [DOCUMENT]`, a child of `knowledge` for each start of the program.

Steps: `first` (nothing is known of the document), `second` (a chat with other instructions, the
same start), `after` (the same after a restart), both without work ahead; `as shipped`: after
another restart, four seconds between the document and the question; `turns` (20 turns with
passages); `every first` and `every second`: a question asked of every document of a folder, and
another one after a restart.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from headstart.assembly import App
from headstart.chat.answering.loading import Loader
from headstart.chat.changes import ReplyEvent
from headstart.chat.requests import Asked
from headstart.core.chats.values import TurnStats
from headstart.core.events import DocumentsRead, Prefilling
from headstart.core.settings.schema import EngineSettings, SamplingChoice
from headstart.ui.kit.asking import Question
from tests.benchmarks.answering import stats_of
from tests.benchmarks.starting import run_watched

CONTEXT, TURNS = 8_192, 20
# tokens of notes
SHORT, LONG = 3, 48


async def _until(done: Any, seconds: float = 600.0) -> None:
    ends = asyncio.get_running_loop().time() + seconds
    while not done():
        if asyncio.get_running_loop().time() > ends:
            raise SystemExit("nothing came")
        await asyncio.sleep(0.02)


async def ask(app: App, text: str) -> TurnStats:
    app.window.composer.set_text(text)
    app.window.composer.button.click()
    await _until(lambda: app.controllers.reply.writing)
    await _until(lambda: not app.controllers.reply.writing)
    await app.controllers.settle()
    branch = await app.services.branches.whole(app.controllers.open.id)
    return stats_of(branch[-1], app.services.preferences.current.model)


async def pinned_chat(app: App, document: str, instructions: str) -> TurnStats:
    """A new chat over the document; returns the stats of its first answer."""
    app.services.preferences.update(system_prompt=instructions)
    app.window.new_chat()
    await app.controllers.settle()
    app.window.knowledge.pin([document])
    await _until(lambda: app.window.findChild(Question) is not None)
    question = app.window.findChild(Question)
    assert isinstance(question, Question)
    question.yes.click()
    await app.controllers.settle()
    if app.services.preferences.current.prefix.prefill_ahead:
        # a user needs this long to type a question
        await asyncio.sleep(4.0)
    return await ask(app, "What does it say? Answer in a few words.")


def _ahead(app: App, on: bool) -> Any:
    return replace(app.services.preferences.current.prefix, prefill_ahead=on)


async def _measure(app: App, step: str, model: str, document: str) -> dict[str, Any]:
    services = app.services
    services.preferences.update(
        sampling=SamplingChoice(temperature=0.0, max_tokens=8),
        engine=EngineSettings(context_length=CONTEXT),
        model_files=(model,),
        model=model,
        prefix=_ahead(app, False),
    )
    await app.controllers.settle()
    # the model is loaded by a short chat: loading is not what is measured
    app.window.new_chat()
    await app.controllers.settle()
    await ask(app, "Hello.")
    if step == "turns":
        return await _turns(app, document)
    if step.startswith("every"):
        question = (
            "Which year is named first?" if step.endswith("first") else "Which place is last?"
        )
        return await _every(app, document, question)
    instructions = {"first": "Be brief.", "second": "Answer in verse.", "after": "Be a pirate."}
    instructions["as shipped"] = "Be friendly."
    found = []
    if step == "as shipped":
        services.preferences.update(prefix=_ahead(app, True))
    for name in ("first", "second") if step == "first" else (step,):
        stats = await pinned_chat(app, document, instructions[name])
        found.append(
            {
                "step": name,
                "ttft": stats.first_token_seconds,
                "prompt": stats.prompt_tokens,
                "reused": stats.reused_tokens,
            }
        )
    # the state is written while nothing is asked
    await asyncio.sleep(8)
    return {"found": found}


async def _turns(app: App, folder: str) -> dict[str, Any]:
    """A chat of 20 questions about a folder; tokens that are processed again in each turn."""
    app.controllers.knowledge.add(folder)
    await app.controllers.settle()
    await services_settled(app)
    app.window.new_chat()
    await app.controllers.settle()
    app.window.knowledge.switch_on(folder)
    await app.controllers.settle()
    recomputed, passages = [], 0
    questions = json.loads((Path(folder).parent / "questions.json").read_text("utf-8"))
    for question in questions[:TURNS]:
        stats = await ask(app, question)
        recomputed.append(stats.prefix.recomputed)
        branch = await app.services.branches.whole(app.controllers.open.id)
        passages += len(branch[-2].others)
    return {"recomputed": recomputed, "passages": passages}


async def _every(app: App, folder: str, question: str) -> dict[str, Any]:
    """Seconds from a question until the last document's note, tokens, and those reused. A made
    model writes noise, so the lengths of notes are those of one that answers: a word for four
    documents of five, `LONG` tokens for the fifth."""
    surveying = app.services.knowledge.surveying
    app.controllers.knowledge.add(folder)
    await app.controllers.settle()
    await services_settled(app)
    app.window.new_chat()
    await app.controllers.settle()
    app.window.knowledge.switch_on(folder)
    await app.controllers.settle()
    make, number = surveying.request, 0

    async def request(*given: Any) -> Asked:
        nonlocal number
        asked = await make(*given)
        assert asked.chat.options.sampling is not None
        sampling = replace(asked.chat.options.sampling, max_tokens=SHORT if number % 5 else LONG)
        number += 1
        options = replace(asked.chat.options, sampling=sampling)
        return replace(asked, chat=replace(asked.chat, options=options))

    object.__setattr__(surveying, "request", request)
    prompts, ended = list[tuple[int, int]](), 0.0
    follow = Loader.follow

    def watched(loader: Loader, event: Any, wanted: Any) -> None:
        if isinstance(event, Prefilling) and event.done == event.reused:
            prompts.append((event.total, event.reused))
        follow(loader, event, wanted)

    setattr(Loader, "follow", watched)  # noqa: B010

    def note(change: ReplyEvent) -> None:
        nonlocal ended
        event = change.event
        if isinstance(event, DocumentsRead) and event.done == event.total and not ended:
            ended = time.perf_counter()

    app.services.broadcast.on(ReplyEvent, note)
    began = time.perf_counter()
    app.controllers.conversation.send(question, every=True)
    await _until(lambda: app.controllers.reply.writing)
    await _until(lambda: not app.controllers.reply.writing, 3_600)
    whole = time.perf_counter() - began
    await app.controllers.settle()
    branch = await app.services.branches.whole(app.controllers.open.id)
    stats_of(branch[-1], app.services.preferences.current.model)
    read = prompts[: len(prompts) - 1]
    # the state is written while nothing is asked
    await asyncio.sleep(8)
    return {
        "seconds": ended - began,
        "whole": whole,
        "prompt": sum(one for one, _ in read),
        "reused": sum(one for _, one in read),
        "documents": len(read),
    }


async def services_settled(app: App) -> None:
    await app.services.knowledge.knowledge.indexing.settled()
    await app.controllers.settle()


def main() -> None:
    home, step, model, document = sys.argv[1:5]
    out = Path(tempfile.gettempdir()) / f"pinned-{Path(home).name}.json"

    async def script(app: App) -> int:
        out.write_text(json.dumps(await _measure(app, step, model, document)))
        return 0

    run_watched(Path(home), lambda _app: None, script)
    print(out.read_text())
    out.unlink()


if __name__ == "__main__":
    main()

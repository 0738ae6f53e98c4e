"""A PDF of 30 pages: the first question about it, and the second one after a restart."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from headstart.assembly import App
from headstart.core.settings.schema import EngineSettings, SamplingChoice, changed
from tests.benchmarks.answering import starter_key, stats_of
from tests.benchmarks.searching import words
from tests.conftest import until
from tests.support.documents import pdf
from tests.support.driver import branch, reply_done

PAGES, LINES = 30, 20
CONTEXT = 8_192
QUESTIONS = ("What is this about?", "What is said on page 12?")
SECONDS = 300.0


def write_pdf(folder: Path) -> Path:
    rng = random.Random(9)
    pages = ["\n".join(_line(rng) for _ in range(LINES)) for _ in range(PAGES)]
    path = folder / "report.pdf"
    path.write_bytes(pdf(pages))
    return path


def _line(rng: random.Random) -> str:
    """Words of one script: random characters of Chinese are three tokens each."""
    return " ".join(word for word in words(rng, 7).split() if word.isascii())


async def _ask(app: App, text: str) -> dict[str, Any]:
    app.window.composer.set_text(text)
    app.window.composer.button.click()
    await until(lambda: app.controllers.reply.writing, SECONDS)
    await until(lambda: not app.controllers.reply.writing, SECONDS)
    stats = stats_of(await reply_done(app), starter_key())
    return {
        "first": stats.first_token_seconds, "tokens": stats.prompt_tokens,
        "reused": stats.reused_tokens,
    }  # fmt: skip


def _prepare(app: App, ahead: bool) -> None:
    settings = app.services.preferences.current
    app.services.preferences.update(
        engine=changed(EngineSettings(), context_length=CONTEXT),
        sampling=SamplingChoice(temperature=0.0, max_tokens=24),
        prefix=changed(settings.prefix, prefill_ahead=ahead),
    )


async def first_question(app: App) -> dict[str, Any]:
    """Attached and asked: all of it is read."""
    _prepare(app, ahead=False)
    folder = app.home.path
    app.window.open_files([str(write_pdf(folder))])
    composer = app.window.composer
    await until(lambda: composer.attachments.chips and composer.attachments.ready, SECONDS)
    found = await _ask(app, QUESTIONS[0])
    return {**found, "chat": app.controllers.open.id, "messages": len(await branch(app))}


async def second_question(app: App) -> dict[str, Any]:
    """After a restart, in the chat as it was left; nothing of it is read before it is asked."""
    _prepare(app, ahead=False)
    (chat,) = [one.id for one in await app.services.chat_list.summaries()]
    app.window.open_chat(chat)
    await app.controllers.settle()
    return await _ask(app, QUESTIONS[1])

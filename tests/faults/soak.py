"""Thousands of turns in one program: memory, files, threads and sequences come to rest.

Whole window, real weights: questions, edits, other versions, replies that are stopped, other chats
and other models, in an order that is drawn. Samples are taken at rest, with the same model loaded,
after the chats of a round are deleted.
"""

from __future__ import annotations

import asyncio
import gc
import random
import statistics
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
from llama_cpp import llama_cpp as lib

from headstart.assembly import App, close_app, open_app
from headstart.core.models.ref import ModelRef
from headstart.core.settings.prefix import PrefixSettings
from headstart.core.settings.schema import EngineSettings, SamplingChoice
from headstart.engine.backends.llama_cpp.context import LlamaContext
from headstart.home import Home
from headstart.hub.checked import CheckedModelsFile
from headstart.hub.library import starter_model
from tests.conftest import until
from tests.models.drafts import drop_layers

TOKENS = 8
# turns between two samples, and the share of them that warms up
ROUND, WARM = 40, 0.2
KEPT_MB = 64
_QUESTIONS = ("Name a river.", "And a lake?", "Why is it blue?", "Say it again.", "Count to nine.")


@dataclass(frozen=True, slots=True)
class Sample:
    """At rest. `unique`: bytes of memory that only this process has; `sequences`: of the models'
    contexts, beyond the one that holds the chat."""

    turns: int
    unique: int
    files: int
    threads: int
    sequences: int
    contexts: int


@dataclass(frozen=True, slots=True)
class Soaked:
    turns: int
    replies: int
    stopped: int
    failed: tuple[str, ...]
    samples: tuple[Sample, ...]

    @property
    def settled(self) -> tuple[Sample, ...]:
        """After the warm-up, and with as many models in memory as there ever were."""
        most = max(sample.contexts for sample in self.samples)
        rest = self.samples[max(1, int(len(self.samples) * WARM)) :]
        return tuple(sample for sample in rest if sample.contexts == most)

    @property
    def growth(self) -> float:
        """Of memory after the warm-up: the last third against the first, as a share."""
        settled = self.settled
        third = max(1, len(settled) // 3)
        first = statistics.median(sample.unique for sample in settled[:third])
        return statistics.median(sample.unique for sample in settled[-third:]) / first - 1

    def grew(self, what: Callable[[Sample], int]) -> int:
        """How much more there is at the end than at most in the first third after the warm-up."""
        settled = self.settled
        third = max(1, len(settled) // 3)
        return min(map(what, settled[-third:])) - max(map(what, settled[:third]))


class _Soak:
    def __init__(self, app: App, models: tuple[ModelRef, ...], random_: random.Random) -> None:
        self._app = app
        self._models = models
        self._random = random_
        self._chats: list[str] = []
        self.turns = self.replies = self.stopped = 0
        self.failed: list[str] = []
        app.controllers.problems.told.connect(lambda message, _: self.failed.append(message))

    async def turn(self) -> None:
        self.turns += 1
        app, draw = self._app, self._random.random()
        items = app.window.transcript.column.items
        if not items or draw < 0.08:
            app.window.new_chat()
            await self._settle()
            await self._ask()
        elif draw < 0.45:
            await self._ask()
        elif draw < 0.60:
            question = self._random.choice([item.message for item in items[::2]])
            app.controllers.versions.submit_edit(
                question.id, self._random.choice(_QUESTIONS), "answer"
            )
            await self._reply()
        elif draw < 0.72:
            await self._verb(app.controllers.conversation.regenerate, items[-1].message.id)
        elif draw < 0.84:
            message = self._random.choice(items).message
            if message.versions > 1:
                app.controllers.conversation.show_version(message.id, self._random.choice((-1, 1)))
                await self._settle()
            await self._ask()
        elif draw < 0.92 and self._chats:
            app.window.open_chat(self._random.choice(self._chats))
            await self._settle()
            await self._ask()
        else:
            app.controllers.models.choose(self._random.choice(self._models))
            await self._settle()
            await self._ask()

    async def _ask(self) -> None:
        app = self._app
        app.window.composer.set_text(self._random.choice(_QUESTIONS))
        app.window.composer.button.click()
        await self._reply()
        if app.controllers.open.stored and app.controllers.open.id not in self._chats:
            self._chats.append(app.controllers.open.id)

    async def _verb(self, verb: Callable[[str], object], message_id: str) -> None:
        verb(message_id)
        await self._reply()

    async def _reply(self) -> None:
        reply, told = self._app.controllers.reply, len(self.failed)
        await asyncio.sleep(0)
        await self._settle()
        await until(lambda: reply.writing or len(self.failed) >= told, 30)
        if self._random.random() < 0.12 and reply.writing:
            await asyncio.sleep(self._random.uniform(0.0, 0.15))
            if reply.writing:
                self._app.services.replies.stop(self._app.controllers.open.id)
                self.stopped += 1
        await until(lambda: not reply.writing)
        await self._settle()
        self.replies += 1

    async def _settle(self) -> None:
        await self._app.controllers.settle()

    async def sample(self) -> Sample:
        """The chats of this round go, the first model answers once more, then all is at rest."""
        app = self._app
        chats, self._chats = self._chats, []
        app.window.new_chat()
        await self._settle()
        for chat_id in chats:
            await app.services.chat_list.delete(chat_id)
        await app.services.chat_list.delete_for_good(chats)
        app.controllers.chat_list.list()
        app.controllers.models.choose(self._models[0])
        await self._settle()
        await self._ask()
        await asyncio.sleep(1.5)
        for _ in range(60):
            # what is tried in times of rest takes its time on a busy computer
            if not sum(map(_sequences, _contexts())):
                break
            await asyncio.sleep(0.25)
        gc.collect()
        process = psutil.Process()
        contexts = _contexts()
        return Sample(
            self.turns,
            process.memory_full_info().uss,
            process.num_fds(),
            threading.active_count(),
            sum(map(_sequences, contexts)),
            len(contexts),
        )


def _contexts() -> list[LlamaContext]:
    return [one for one in gc.get_objects() if isinstance(one, LlamaContext)]


def _sequences(context: LlamaContext) -> int:
    """Those that hold something, beside the chat's; none of one that is closed."""
    if not context.context:
        return 0
    others = range(1, int(lib.llama_n_seq_max(context.context)))
    return sum(lib.llama_memory_seq_pos_max(context.memory, one) >= 0 for one in others)


async def run(turns: int, seed: int, tell: Callable[[str], None]) -> Soaked:
    """Needs an application and its event loop; takes about a third of a second a turn."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        starter = starter_model()
        assert starter is not None
        path = drop_layers(starter.path, folder / "small-draft.gguf", range(4, 26))
        small = ModelRef(path, path.stem, path.stat().st_size)
        home = Home(folder / "home")
        app = await open_app(home)
        for model in (starter, small):
            CheckedModelsFile(home.checked_models).add(model, EngineSettings(context_length=2048))
        app.services.preferences.update(
            model_files=(small.key,),
            engine=EngineSettings(context_length=2048),
            sampling=SamplingChoice(max_tokens=TOKENS),
            # what is kept of prompts on purpose is full before the warm-up is over
            prefix=PrefixSettings(memory_mb=KEPT_MB),
        )
        app.window.show()
        await app.storage.ready()
        await app.controllers.settle()
        soak = _Soak(app, (starter, small), random.Random(seed))
        samples: list[Sample] = []
        try:
            while soak.turns < turns:
                await soak.turn()
                if soak.turns % ROUND == 0 or soak.turns == turns:
                    samples.append(await soak.sample())
                    tell(f"  {samples[-1]}")
        finally:
            await close_app(app)
    return Soaked(soak.turns, soak.replies, soak.stopped, tuple(soak.failed), tuple(samples))

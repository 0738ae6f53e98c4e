"""An engine with a prefix store and a database in one folder, which can be started again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headstart.core.chats.replies import EarlierReplies
from headstart.core.chats.values import Chat, Role, TurnStats
from headstart.core.events import Finished, GenerationEvent, PrefilledAhead, TextAdded
from headstart.core.models.ref import ModelRef
from headstart.core.requests import (
    AheadRequest,
    GenerationRequest,
    LoadRequest,
    PromptImage,
    PromptMessage,
)
from headstart.core.settings.schema import (
    EngineSettings,
    KvType,
    Sampling,
    Speculation,
    WindowCache,
)
from headstart.engine.local import LocalGenerator
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.prefix.tracer import TraceMemory
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile
from headstart.storage.adapters.prefix_index import StoredPrefixes, StoredTraces
from headstart.storage.adapters.profiles import StoredProfiles
from headstart.storage.adapters.replies import StoredReplies
from headstart.storage.worker import Storage
from headstart.ui.kit import pictures

OFF = Speculation(enabled=False)
BANK = """river stone winter garden paper window morning letter music quiet harbour engine yellow
mountain story clock market bridge silver forest island kitchen summer road"""


@dataclass(frozen=True)
class Answer:
    text: str
    stats: TurnStats

    @property
    def reused(self) -> int:
        return self.stats.reused_tokens


class PrefixEngine:
    """`ask` on this thread, as the engine thread would; `rest` does what time would."""

    def __init__(
        self,
        folder: Path,
        model: ModelRef,
        kv: KvType = "bf16",
        context: int = 2048,
        window_cache: WindowCache = "auto",
        replies: EarlierReplies | None = None,
    ) -> None:
        self.folder = folder
        self.model = model
        # of earlier chats, instead of those that are stored
        self._replies = replies
        # with which it sees
        self.projector: Path | None = None
        self.settings = EngineSettings(
            context_length=context, kv_type=kv, window_cache=window_cache
        )
        self.start()

    def start(self) -> None:
        checked = CheckedModelsFile(self.folder / "checked.json")
        checked.add(self.model, self.settings)
        self.storage = Storage(self.folder / "a.db", self.folder / "backups")
        self.store = PrefixStore(self.folder / "prefixes", StoredPrefixes(self.storage))
        replies = self._replies or StoredReplies(self.storage)
        traces = TraceMemory(StoredTraces(self.storage))
        self.generator = LocalGenerator(
            Resources(
                checked,
                StoredProfiles(self.storage),
                self.store,
                traces,
                decode_image=pictures.pixels,
                replies=replies,
            )
        )

    def stop(self, save: bool = True) -> None:
        """End the program; without `save` as if it were killed (what is written, is written)."""
        if not save:
            self.store.flush(10)
            self.generator.unload()
        self.generator.close()
        self.store.close(10)
        self.storage.close()

    def restart(self, save: bool = True) -> None:
        self.stop(save)
        self.start()

    def chat(self, chat_id: str) -> str:
        """Make the row that uses and traces refer to."""
        self.storage.submit(lambda store: store.chats.create(Chat(chat_id, chat_id, 0, 0))).result()
        return chat_id

    def request(
        self, chat_id: str, messages: Sequence[PromptMessage], tokens: int = 8, **more: Any
    ) -> GenerationRequest:
        more = {"speculation": OFF, **more}
        sampling = Sampling(temperature=0, max_tokens=tokens)
        load = LoadRequest(
            more.pop("model", self.model),
            more.pop("engine", self.settings),
            more.pop("draft", None),
            self.projector,
        )
        return GenerationRequest(
            load,
            tuple(messages),
            more.pop("sampling", sampling),
            chat_id=chat_id,
            **more,
        )

    def ask(
        self, chat_id: str, messages: Sequence[PromptMessage], tokens: int = 8, **more: Any
    ) -> Answer:
        events: list[GenerationEvent] = []
        self.generator.generate(
            self.request(chat_id, messages, tokens, **more), events.append, StopSignal()
        )
        last = events[-1]
        assert isinstance(last, Finished)
        pieces = [
            piece for event in events if isinstance(event, TextAdded) for piece in event.pieces
        ]
        assert self.generator.loaded.decoder is not None
        assert self.generator.loaded.decoder.n_past() == len(self.generator.loaded.resident.tokens)
        return Answer("".join(piece.text for piece in pieces), last.stats)

    def ahead(
        self, chat_id: str, messages: Sequence[PromptMessage], typed: str = "", **more: Any
    ) -> PrefilledAhead | None:
        events: list[GenerationEvent] = []
        load = LoadRequest(self.model, self.settings, more.pop("draft", None), self.projector)
        request = AheadRequest(load, tuple(messages), chat_id, typed, **more)
        self.generator.ahead(request, events.append, StopSignal())
        found = [event for event in events if isinstance(event, PrefilledAhead)]
        return found[-1] if found else None

    def rest(self) -> None:
        self.generator.save_when_idle(StopSignal())

    def leave(self) -> None:
        """As if the chat had rested for a minute."""
        self.generator.loaded.resident.idle_since -= 1000
        self.rest()
        assert self.store.flush(20)

    def forget_memory(self) -> None:
        """What is on disk has to come from there."""
        records = self.store.records
        with records.lock:
            for entry in records.catalogue:
                if entry.on_disk:
                    records.drop_payload(entry)

    def files(self) -> list[Path]:
        return sorted(path for path in self.store.writer.folder.glob("*/*") if path.is_file())


def user(text: str, key: str = "q", *images: PromptImage) -> PromptMessage:
    return PromptMessage(Role.USER, text, key, images=images)


def assistant(text: str, key: str = "a") -> PromptMessage:
    return PromptMessage(Role.ASSISTANT, text, key)


def system(text: str) -> PromptMessage:
    return PromptMessage(Role.SYSTEM, text, "system")


def prose(words: int, seed: int = 0) -> str:
    """So many words of nonsense that tokenizes like prose."""
    bank = BANK.split()
    return " ".join(bank[(at * 7 + at // 5 + seed * 11) % len(bank)] for at in range(words))


LONG = prose(500)


def talk(engine: PrefixEngine, chat_id: str = "c", text: str = LONG) -> list[PromptMessage]:
    """A first turn over some 500 tokens; returns the messages of a second one."""
    first = [system("Be brief."), user(text)]
    answer = engine.ask(chat_id, first)
    return [*first, assistant(answer.text), user("And now in other words?", "q2")]


def edited_after_a_restart(engine: PrefixEngine, words: int) -> tuple[Answer, Answer]:
    """The last question of a chat is edited after a restart: the answer with what was kept, and
    the one with nothing kept. The first question has so many words."""
    engine.chat("c")
    first = [system("Be brief."), user(prose(words))]
    answer = engine.ask("c", first)
    engine.rest()
    history = [*first, assistant(answer.text)]
    engine.ask("c", [*history, user("And in other words?", "q2")])
    edited = [*history, user("What about the harbour?", "q2b")]
    engine.restart()
    again = engine.ask("c", edited)
    engine.restart()
    engine.store.wait_until_ready()
    engine.store.controls.clear()
    return again, engine.ask("c", edited)

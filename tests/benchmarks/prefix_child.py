"""One start of the program for the prefix benchmark: a fresh process that loads a model and asks.

`python -m tests.benchmarks.prefix_child HOME MODEL CHAT.json [--save|--reread] [--tokens N]`
prints one line of JSON: time to first token beyond loading, tokens reused, and the prompt.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter

from headstart.core.chats.values import Chat, Role
from headstart.core.events import Finished, GenerationEvent, TextAdded
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation
from headstart.engine import reply_emitter
from headstart.engine.foreign import GUARD
from headstart.engine.local import LocalGenerator
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.prefix.tracer import TraceMemory
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile
from headstart.hub.library import open_model
from headstart.storage.adapters.prefix_index import StoredPrefixes, StoredTraces
from headstart.storage.adapters.profiles import StoredProfiles
from headstart.storage.worker import Storage, Store
from tests.benchmarks.peers import bench_cache

CHAT = "chat"


class Program:
    """The engine's side of the program over one home; everything on this thread."""

    def __init__(self, home: Path, model: Path, context: int = 8192) -> None:
        reply_emitter.EMIT_SECONDS = 0.0
        self.settings = EngineSettings(context_length=context)
        self.model = open_model(model)
        checked = CheckedModelsFile(bench_cache() / "checked-models.json")
        checked.add(self.model, self.settings)
        home.mkdir(parents=True, exist_ok=True)
        self.storage = Storage(home / "a.db", home / "backups")
        self.store = PrefixStore(home / "prefixes", StoredPrefixes(self.storage))
        traces = TraceMemory(StoredTraces(self.storage))
        self.generator = LocalGenerator(
            Resources(checked, StoredProfiles(self.storage), self.store, traces)
        )
        self.make_chat(CHAT)

    def forget_store(self) -> None:
        """From now on nothing that was kept is used."""
        checked = CheckedModelsFile(bench_cache() / "checked-models.json")
        self.generator = LocalGenerator(Resources(checked, StoredProfiles(self.storage)))

    def make_chat(self, chat_id: str) -> None:
        def create(store: Store) -> None:
            if store.chats.get(chat_id) is None:
                store.chats.create(Chat(chat_id, chat_id, 0, 0))

        self.storage.submit(create).result()

    def load(self) -> None:
        self.generator.preload(
            LoadRequest(self.model, self.settings), lambda _event: None, StopSignal()
        )

    def request(
        self, messages: list[PromptMessage], tokens: int = 1, chat_id: str = CHAT
    ) -> GenerationRequest:
        return GenerationRequest(
            LoadRequest(self.model, self.settings),
            tuple(messages),
            Sampling(temperature=0, max_tokens=tokens),
            chat_id=chat_id,
            speculation=Speculation(enabled=False),
        )

    def ask(
        self, messages: list[PromptMessage], tokens: int = 1, chat_id: str = CHAT
    ) -> tuple[float, Finished, str]:
        """Seconds from the request to the first token, the end, and the text."""
        first: list[float] = []
        ended: list[Finished] = []
        text: list[str] = []

        def emit(event: GenerationEvent) -> None:
            if isinstance(event, TextAdded):
                first.append(perf_counter() - began)
                text.extend(piece.text for piece in event.pieces)
            elif isinstance(event, Finished):
                ended.append(event)
                # a first token that is half a character, or a control token, shows no text
                first.append(event.stats.first_token_seconds or 0.0)

        request = self.request(messages, tokens, chat_id)
        began = perf_counter()
        self.generator.generate(request, emit, StopSignal())
        return first[0], ended[0], "".join(text)

    def rendered(self, messages: list[PromptMessage]) -> str:
        """The prompt as text, for a peer that tokenizes it as we do."""
        encoder = self.generator.loaded.encoder
        assert encoder is not None
        return encoder.render(messages).replace(GUARD, "")

    def save(self) -> None:
        """Have everything on disk, as after a minute of rest."""
        self.generator.loaded.resident.idle_since -= 1000
        self.generator.save_when_idle(StopSignal())
        if not self.store.flush(60):
            raise SystemExit("the prefixes were not written")

    def close(self) -> None:
        self.generator.close()
        self.store.close(10)
        self.storage.close()


def read_chat(path: Path) -> list[PromptMessage]:
    return [
        PromptMessage(Role(role), text, str(index))
        for index, (role, text) in enumerate(json.loads(path.read_text()))
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("chat", type=Path)
    parser.add_argument("--save", action="store_true", help="keep what was read")
    parser.add_argument("--recompute", action="store_true", help="without what is kept")
    parser.add_argument("--tokens", type=int, default=1)
    options = parser.parse_args()
    program = Program(options.home, options.model)
    if options.recompute:
        program.store.wait_until_ready()
        program.forget_store()
    program.load()
    seconds, finished, text = program.ask(read_chat(options.chat), options.tokens)
    if options.save:
        program.save()
    stats = finished.stats
    print(
        json.dumps(
            {
                "seconds": seconds,
                "reused": stats.reused_tokens,
                "prompt_tokens": stats.prompt_tokens,
                "text": text,
                "prompt": program.rendered(read_chat(options.chat)),
            }
        )
    )
    sys.stdout.flush()
    program.close()


if __name__ == "__main__":
    main()

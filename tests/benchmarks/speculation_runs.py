"""How the speculation benchmark runs one reply: fresh state, exact clocks, peers, replays."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec

from headstart.core.chats.values import Role, TurnStats
from headstart.core.events import Finished, GenerationEvent, TextAdded
from headstart.core.models.abilities import LACKS_NOTHING, Lacking
from headstart.core.models.profiles import ProfileKey
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation
from headstart.engine import reply_emitter
from headstart.engine.backends import select
from headstart.engine.decoder import Constraint, Decoder, Hidden, Prediction, Sampler
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.speculation.state import SpeculationState
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile
from tests.benchmarks.peers import bench_cache, peer

OFF = Speculation(enabled=False)


class MemoryProfiles:
    """Profiles that live as long as the benchmark, as SQLite keeps them for the program."""

    def __init__(self) -> None:
        self.kept: dict[ProfileKey, bytes] = {}

    def load(self, key: ProfileKey) -> bytes | None:
        return self.kept.get(key)

    def save(self, key: ProfileKey, data: bytes) -> None:
        self.kept[key] = data


@dataclass(frozen=True, slots=True)
class Run:
    """One reply: seconds from the request to each emission, and its figures."""

    stats: TurnStats
    times: tuple[tuple[int, float], ...]  # tokens so far, seconds since the request
    text: str

    def speed(self, reading: float, tokens: int = 0) -> float:
        """Tokens a second, up to `tokens` of them, after plain decoding's `reading` seconds."""
        end = next((time for time in self.times if tokens and time[0] >= tokens), self.times[-1])
        return end[0] / (end[1] - reading)


class Engine:
    """A generator with one target loaded, for one way of speculating."""

    def __init__(self, model: ModelRef, draft: ModelRef | None = None) -> None:
        # every emission counts here, not only those that a window would show
        reply_emitter.EMIT_SECONDS = 0.0
        self.model, self.draft = model, draft
        self.profiles = MemoryProfiles()
        checked = CheckedModelsFile(bench_cache() / "checked-models.json")
        self.generator = LocalGenerator(Resources(checked, self.profiles))
        self._warm()

    def _warm(self) -> None:
        self.generator.preload(self._load, lambda _event: None, StopSignal())

    @property
    def _load(self) -> LoadRequest:
        return LoadRequest(self.model, draft=self.draft)

    @property
    def decoder(self) -> Any:
        return self.generator.loaded.decoder

    @property
    def state(self) -> SpeculationState:
        state = self.generator.loaded.speculation
        assert state is not None
        return state

    def cold(self) -> None:
        """Forget every profile, as if this pair had never met."""
        self.profiles.kept.clear()
        self.state.close()
        prompt = self.state.sample_prompt
        loaded = self.generator.loaded
        state = SpeculationState(self.model, self.decoder, self.profiles)
        loaded.parts = msgspec.structs.replace(loaded.parts, speculation=state)
        state.sample_prompt = prompt
        self._warm()

    def run(
        self,
        prompt: str,
        tokens: int,
        wanted: Speculation = OFF,
        temperature: float = 0,
        rested: bool = False,
        chat_id: str | None = None,
    ) -> Run:
        """Write a reply to `prompt`, with nothing read before; `rested`: but what the draft read
        while the engine was idle, of which a new chat shares the template's beginning. `chat_id`:
        of a chat, whose words may be used for later drafts."""
        self.decoder.truncate(0)
        self.generator.loaded.resident.tokens.clear()
        if self.state.draft is not None and not rested:
            self.state.draft.forget()
        times: list[tuple[int, float]] = []
        stats: list[TurnStats] = []
        text: list[str] = []

        def emit(event: GenerationEvent) -> None:
            if isinstance(event, TextAdded):
                times.append((event.tokens, perf_counter() - began))
                text.extend(piece.text for piece in event.pieces)
            elif isinstance(event, Finished):
                stats.append(event.stats)

        request = GenerationRequest(
            self._load,
            (PromptMessage(Role.USER, prompt, "question"),),
            Sampling(temperature=temperature, max_tokens=tokens, seed=1),
            speculation=wanted,
            chat_id=chat_id,
        )
        began = perf_counter()
        self.generator.generate(request, emit, StopSignal())
        return Run(stats[0], tuple(times), "".join(text))

    def calibrate(self) -> None:
        """What the button in the window does."""
        assert self.draft is not None
        self.generator.calibrate(self._load, lambda _event: None, StopSignal())

    def rendered(self, prompt: str) -> str:
        """The prompt as the chat template makes it."""
        encoder = self.generator.loaded.encoder
        assert encoder is not None
        return encoder.render([PromptMessage(Role.USER, prompt, "question")])

    def close(self) -> None:
        self.generator.close()


def peer_speed(
    model: ModelRef, draft: ModelRef, prompt: str, tokens: int, threads: int, depth: int | None
) -> float:
    """Tokens a second of llama-speculative-simple, as it says itself; None is its default."""
    command = [str(peer("llama-speculative-simple")), "-m", str(model.path)]
    command += ["-md", str(draft.path), "-p", prompt, "-n", str(tokens), "--temp", "0"]
    command += ["-c", "2048", "-t", str(threads), "-fa", "on", "--spec-type", "draft-simple"]
    if depth is not None:
        command += ["--spec-draft-n-max", str(depth)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"decoded\s+(\d+) tokens in\s+([\d.]+) seconds", done.stdout + done.stderr)
    assert found is not None, done.stderr[-2000:]
    return int(found[1]) / float(found[2])


class Replay:
    """Stands before a decoder: every forward is real, but what it draws is a recorded reply.

    It also notes how many tokens each forward took and where.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.reply: list[int] = []
        self.start: int | None = None
        self.forwards: list[tuple[int, int]] = []  # tokens, context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        self.forwards.append((len(tokens), self._inner.n_past()))
        self._inner.forward(tokens, outputs, seq, parents, hidden)

    def sampler(
        self,
        sampling: Sampling,
        seed: int,
        names: Sequence[int] | None = None,
        constraint: Constraint | None = None,
    ) -> Sampler:
        self.start = None
        return _ReplaySampler(self, self._inner.sampler(sampling, seed, names, constraint))


class _ReplaySampler:
    def __init__(self, replay: Replay, inner: Sampler) -> None:
        self._replay = replay
        self._inner = inner

    def draw(self, row: int, position: int) -> int:
        replay = self._replay
        # the real arg-max is found too: it is part of what a row costs
        self._inner.draw(row, position)
        if replay.start is None:
            replay.start = position
            replay.forwards.clear()
        return replay.reply[position - replay.start]

    def predict(self, row: int, position: int) -> Prediction:
        return self._inner.predict(row, position)

    def likeliest(self, row: int) -> Prediction:
        return self._inner.likeliest(row)

    def look_ahead(self, position: int) -> None:
        self._inner.look_ahead(position)

    def see(self, tokens: Sequence[int]) -> None:
        self._inner.see(tokens)

    def accept(self, tokens: Sequence[int]) -> None:
        self._inner.accept(tokens)

    def mark(self) -> None:
        self._inner.mark()

    def rewind(self) -> None:
        self._inner.rewind()

    def close(self) -> None:
        self._inner.close()


def replaying(target: ModelRef, make: Callable[[], Engine]) -> tuple[Engine, Replay]:
    """An engine whose target replays; drafts are opened as ever."""
    opened: list[Replay] = []
    real = select.open_decoder

    def open_decoder(
        model: ModelRef,
        engine: EngineSettings,
        progress: Callable[[float], bool],
        lacking: Lacking = LACKS_NOTHING,
        clamp: bool = False,
        own_layers: bool = False,
    ) -> Decoder:
        decoder = real(model, engine, progress, lacking, clamp, own_layers)
        if model != target:
            return decoder
        opened.append(Replay(decoder))
        return opened[0]

    select.open_decoder = open_decoder
    try:
        engine = make()
    finally:
        select.open_decoder = real
    return engine, opened[0]


def ref(path: Path) -> ModelRef:
    return ModelRef(path, path.stem, path.stat().st_size)

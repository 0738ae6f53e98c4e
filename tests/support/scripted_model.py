"""A model with a real template whose replies are written beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from headstart.core.models.abilities import LACKS_NOTHING, Lacking
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, Sampling
from headstart.engine.decoder import Constraint, Decoder
from tests.support.byte_decoder import ByteDecoder, byte_encoder, reply_tokens
from tests.support.fake_decoder import FakeSampler


class ScriptedSampler(FakeSampler):
    def __init__(self, decoder: ByteDecoder, tokens: Sequence[int]) -> None:
        super().__init__(decoder, 0.0, 0)
        self._tokens = tokens
        self._start = -1

    def draw(self, row: int, position: int) -> int:
        self._start = position if self._start < 0 else self._start
        return self._tokens[min(position - self._start, len(self._tokens) - 1)]


class ScriptedDecoder(ByteDecoder):
    """Writes `replies`, one after the other, each with the end of its turn."""

    def __init__(self, template: str, replies: Sequence[str], context: int) -> None:
        super().__init__(template)
        self.facts = msgspec.structs.replace(
            self.facts, chat_template=template, begin_text="<s>", end_text="</s>",
            context_length=context,
        )  # fmt: skip
        encoder = byte_encoder(template)
        self._replies = [[*reply_tokens(encoder, raw), *self._ends] for raw in replies]

    def _row(self, path: Sequence[int]) -> npt.NDArray[np.float64]:
        return np.zeros(self.facts.vocabulary_size)

    def sampler(
        self,
        sampling: Sampling,
        seed: int,
        names: Sequence[int] | None = None,
        constraint: Constraint | None = None,
    ) -> FakeSampler:
        return ScriptedSampler(self, self._replies.pop(0))


def opening(
    template: str, *replies: str, context: int = 1 << 16
) -> Callable[..., Decoder]:  # fmt: skip
    """In place of `select.open_decoder`."""

    def open_decoder(
        model: ModelRef, engine: EngineSettings, progress: Callable[[float], bool],
        lacking: Lacking = LACKS_NOTHING, clamp: bool = False, own_layers: bool = False,
    ) -> Decoder:  # fmt: skip
        return ScriptedDecoder(template, replies, context)

    return open_decoder

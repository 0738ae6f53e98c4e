"""What tests of both backends do with a decoder: read, go on, write with speculation or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pytest

from headstart.core.settings.schema import Sampling, Speculation
from headstart.engine.decoder import Blob, Decoder
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.loop import Speculator
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from headstart.engine.speculation.prompt_lookup import PromptLookup
from headstart.engine.speculation.sources import Sources
from headstart.engine.stop import NEVER


class Rows(Decoder, Protocol):
    """A decoder whose logits can be looked at."""

    def logits(self, row: int) -> npt.NDArray[np.float32]: ...


def read(decoder: Decoder, text: Sequence[int], places: Iterable[int] = ()) -> dict[int, Blob]:
    """Read in slices that end at each place; returns the snapshots taken there."""
    taken: dict[int, Blob] = {}
    at = decoder.n_past()
    stops = sorted({*places, len(text)})
    while at < len(text):
        end = min((at // 256 + 1) * 256, *[stop for stop in stops if stop > at])
        decoder.forward(text[at:end], [end - at - 1])
        at = end
        if at in places:
            taken[at] = decoder.snapshot()
    return taken


def after(decoder: Rows, more: Sequence[int]) -> npt.NDArray[np.float32]:
    """The logits after some more tokens."""
    decoder.forward(more, [len(more) - 1])
    return decoder.logits(0).copy()


def plain(decoder: Decoder, prompt: Sequence[int], count: int) -> tuple[list[int], list[float]]:
    """Greedy tokens one by one, and how far the first lay before the second."""
    sampler = decoder.sampler(Sampling(temperature=0), 0)
    decoder.forward(prompt, [len(prompt) - 1])
    tokens, gaps = [], []
    for _ in range(count):
        predict = sampler.predict(0, 0)
        tokens.append(predict.token)
        gaps.append(predict.margin)
        decoder.forward([predict.token], [0])
    return tokens, gaps


def speculated(
    target: Decoder,
    model: DraftModel,
    profiles: tuple[TargetProfile, PairProfile],
    wanted: Speculation,
    prompt: Sequence[int],
    count: int,
) -> tuple[list[int], int]:
    """Greedy tokens with speculation, and how many drafts were right; the KV state is checked."""
    profile, pair = profiles
    assert target.truncate(0) == 0
    target.forward(prompt, [len(prompt) - 1])
    tokens = list(prompt)
    sampling = Sampling(temperature=0)
    sampler = target.sampler(sampling, 0)
    depth = Depth(profile, pair, wanted)
    depth.begin(pair, wanted)
    prompt_lookup = PromptLookup()
    prompt_lookup.sync(tokens)
    model.begin(tokens, sampling, 0, NEVER)
    draft = model if wanted.draft else None
    loop = Speculator(
        target, tokens, sampler, depth, Sources(wanted, prompt_lookup, draft, pytest.fail)
    )
    written = [sampler.draw(0, len(tokens))]
    while len(written) < count:
        written += [token for token, _ in loop.step(written[-1], 10)]
        assert target.n_past() == len(tokens)
    return written, loop.tally.stats.accepted

"""Behaviour that the decoders of all backends share. Engine thread."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Protocol

import numpy as np
import numpy.typing as npt

from headstart.core.errors import EnvironmentProblem
from headstart.engine.decoder import ContextFull, Hidden, ModelFacts, ReadPixels, States, Tap
from headstart.engine.image_tokens import ImageLayout


class ImageTokens(Protocol):
    def tokens(self, digest: str, read: ReadPixels) -> list[int] | None:
        """As `Decoder.image`."""
        ...

    def forget(self) -> None:
        """As `Decoder.forget_images`."""
        ...


class NoStates:
    def keep(self, taps: Sequence[Tap]) -> None:
        if taps:
            raise EnvironmentProblem("heads-not-for-backend")

    def rows(self, first: int, last: int) -> Hidden:
        raise RuntimeError(f"nothing was kept of {last - first} tokens")


class DecoderBase:
    """A backend sets `_facts` and `_ends` before the first token."""

    _facts: ModelFacts
    # the tokens that end a reply
    _ends: frozenset[int] = frozenset()
    # replaced by backends that expose hidden states
    _states: States = NoStates()
    seconds: Callable[[], float] = staticmethod(perf_counter)
    # its projector, if it has vision
    _images: ImageTokens | None = None

    def __init__(self) -> None:
        self._pieces: dict[int, bytes] = {}
        # of the live sequence
        self._layout = ImageLayout()

    @property
    def facts(self) -> ModelFacts:
        return self._facts

    @property
    def states(self) -> States:
        return self._states

    def image(self, digest: str, read: ReadPixels) -> list[int] | None:
        return None if self._images is None else self._images.tokens(digest, read)

    def forget_images(self) -> None:
        if self._images is not None:
            self._images.forget()

    def lay_out(self, tokens: Sequence[int]) -> None:
        self._layout.set(tokens)

    def piece(self, token: int) -> bytes:
        if token < 0:
            # a part of an image
            return b""
        known = self._pieces.get(token)
        if known is None:
            known = self._pieces[token] = self._spell(token)
        return known

    def is_end(self, token: int) -> bool:
        return token in self._ends

    def argmax(self, row: int) -> int:
        return int(self.logits(row).argmax())

    def row(self, row: int) -> npt.NDArray[np.float32]:
        return self.logits(row).copy()

    @abstractmethod
    def logits(self, row: int) -> npt.NDArray[np.float32]:
        """A view of a row's logits, good until the next forward; for the sampler."""

    @abstractmethod
    def _spell(self, token: int) -> bytes:
        """The bytes of a token's text; empty for control tokens."""

    def _check(self, tokens: Sequence[int], start: int) -> None:
        """Refuse tokens that cannot follow `start` others. Raises ValueError, ContextFull."""
        count, facts = len(tokens), self._facts
        if not 0 < count <= facts.batch:
            raise ValueError(f"{count} tokens in one forward; 1 to {facts.batch} are possible")
        if start + count > facts.context_length:
            raise ContextFull
        # an id out of range makes ggml end the process
        if min(tokens) < 0 or max(tokens) >= facts.vocabulary_size:
            raise ValueError("token id outside the vocabulary")

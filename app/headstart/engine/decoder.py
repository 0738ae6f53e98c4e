"""The Decoder protocol: a loaded model with its KV state, as turns and speculation see it.

A decoder belongs to the engine thread, which alone calls it; only `abort` may be called from
other threads. Rows are numbered by the order of `outputs` in the last `forward`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from headstart.core.settings import Sampling


class DecodeAborted(Exception):
    """`abort` was called in the middle; the KV state ends at `n_past`."""


class ContextFull(Exception):
    """There is no room for the tokens; the KV state is as before the call."""


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A control token. Some swallow the white space beside them (`strip_left/right`)."""

    id: int
    text: str
    strip_left: bool = False
    strip_right: bool = False


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a loaded model says about itself."""

    context_length: int
    vocabulary_size: int
    chat_template: str | None
    special_tokens: tuple[SpecialToken, ...]
    # the id put in front of every prompt, if the model wants one
    begin_token: int | None
    begin_text: str
    end_text: str
    # the most tokens one forward may take
    batch: int


class Sampler(Protocol):
    """The sampler chain of one turn, with the state of its penalties and its seed."""

    def sample(self, row: int) -> int:
        """Draw a token from `row` of the last forward and accept it."""
        ...

    def accept(self, tokens: Sequence[int]) -> None:
        """Let the penalties see tokens that were not drawn here (the prompt's end)."""
        ...

    def close(self) -> None: ...


class Decoder(Protocol):
    @property
    def facts(self) -> ModelFacts: ...

    def encode(self, text: str) -> list[int]:
        """Token ids of plain text; control tokens in it stay plain text."""
        ...

    def piece(self, token: int) -> bytes:
        """The bytes of a token's text; empty for control tokens."""
        ...

    def is_end(self, token: int) -> bool:
        """Whether the token ends a reply."""
        ...

    def n_past(self, seq: int = 0) -> int:
        """How many tokens of the sequence are in the KV state."""
        ...

    def forward(self, tokens: Sequence[int], outputs: Sequence[int], seq: int = 0) -> None:
        """Decode `tokens` after what the sequence holds; keep logits of the given indices.

        At most `facts.batch` tokens. Raises ContextFull, DecodeAborted, EnvironmentProblem.
        """
        ...

    def argmax(self, row: int) -> int: ...

    def sampler(self, sampling: Sampling, seed: int) -> Sampler: ...

    def truncate(self, n: int, seq: int = 0) -> int:
        """Cut the sequence to its first `n` tokens; returns how many are left.

        Fewer than `n` are left where the model's cache cannot be cut exactly there; the caller
        reads the rest again.
        """
        ...

    def abort(self) -> None:
        """From any thread: make a running `forward` stop soon, and every later one."""
        ...

    def clear_abort(self) -> None: ...

    def close(self) -> None: ...

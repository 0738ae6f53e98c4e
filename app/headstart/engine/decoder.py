"""The Decoder protocol: a loaded model with its KV state, as turns and speculation see it.

A decoder belongs to the engine thread, which alone calls it; only `abort` may be called from
other threads. Rows are numbered by the order of `outputs` in the last `forward`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from headstart.core.models.abilities import LACKS_NOTHING, Lacking
from headstart.core.models.described import Vocabulary
from headstart.core.rgb import Rgb
from headstart.core.settings.schema import Sampling

if TYPE_CHECKING:
    # numpy takes a tenth of a second to import: it comes with the first model
    import numpy as np
    import numpy.typing as npt

# a part of a KV state as bytes; only the backend that made it knows what they mean
Blob: TypeAlias = "npt.NDArray[np.uint8]"
# hidden states, a row for each token
Hidden: TypeAlias = "npt.NDArray[np.float32]"
ReadPixels = Callable[[], Rgb | None]
# a hidden state of a token: what goes into the layer of that number, what the output layer sees
# ("last"), or what the model's own layers for drafting are made for ("nextn")
Tap = int | Literal["last", "nextn"]


class DecodeAborted(Exception):
    """`abort` was called in the middle; the KV state ends at `n_past`."""


class ContextFull(Exception):
    """There is no room for the tokens; the KV state is as before the call."""


class SpecialToken(Struct, frozen=True):
    """A token that is found in text before it is split into words. Some swallow the white space
    beside them (`strip_left`, `strip_right`)."""

    id: int
    text: str
    strip_left: bool = False
    strip_right: bool = False


class ModelFacts(Struct, frozen=True):
    """Facts of a loaded model."""

    context_length: int
    vocabulary_size: int
    chat_template: str | None
    # control tokens: they come out as nothing, and plain text never holds them
    special_tokens: tuple[SpecialToken, ...]
    # the id put in front of every prompt, if the model wants one
    begin_token: int | None
    begin_text: str
    end_text: str
    # the most tokens one forward may take
    batch: int
    # whole words that come out as text, and are found in plain text
    added_tokens: tuple[SpecialToken, ...] = ()
    # tokens that a reply never has: their makers say so
    suppressed: tuple[int, ...] = ()
    # how `truncate` goes back: exactly, or to a checkpoint from which the rest is recomputed
    rollback: Literal["exact", "checkpoint"] = "exact"
    # the most tokens of the last forward that `truncate` takes back without a checkpoint, once;
    # one of its tokens stays
    undo: int = 0
    # whether `export` leaves a part out that only `snapshot` has
    snapshots: bool = False
    # the most leaves of a tree in one forward; 1 where only a single path is possible
    leaves: int = 1
    # other things that decide the speed: backend, threads, KV type
    device: str = ""
    # the most tokens of KV that `export` gives at once, a power of two; 0: a state has no ranges
    chunk: int = 256
    # abilities that it was found to lack here
    lacking: Lacking = LACKS_NOTHING
    # flash attention, or the plain kind
    flash: bool = True
    # the meaning of KV bytes besides the model file: library, KV types, layout
    state: str = ""
    # how wide a hidden state is
    width: int = 0
    # of a head: the hidden states that it wants of its target, side by side, and how many tokens
    # ahead it was made for; 0: any
    wants: tuple[Tap, ...] = ()
    depth: int = 0
    # of a head that looks at the target's own keys and values: it drafts only what comes next
    follows: bool = False
    # of a head that drafts up to so many tokens in one forward; see `BlockDecoder`
    at_once: int = 0


class Prediction(Struct, frozen=True):
    """The two likeliest tokens of a row under this turn's noise.

    `margin` is how far the first lies before the second, in natural logarithms (infinite when
    the sampling leaves one token): what tells best whether another model would choose the same.
    """

    token: int
    second: int
    margin: float


class Constraint(Protocol):
    """Limits of a reply's tokens; asked by the samplers of a turn, in order."""

    def apply(
        self, logits: npt.NDArray[np.float32], names: npt.NDArray[np.int32] | None = None
    ) -> npt.NDArray[np.float32]:
        """A row as it is to be drawn from: the same array, or a copy. `names` are the ids that its
        tokens have in the target."""
        ...

    def accept(self, tokens: Sequence[int]) -> None:
        """The text goes on with these."""
        ...

    def mark(self) -> None:
        """Remember this place; `rewind` goes back to it."""
        ...

    def rewind(self) -> None: ...


class Sampler(Protocol):
    """The sampler chain of one turn, with the state of its penalties and its seed.

    `position` is the place in the text that a token is drawn for: the number of tokens before
    it. The same seed, place and distribution always give the same token (see `noise`).
    """

    def draw(self, row: int, position: int) -> int:
        """The token that `row` of the last forward gives; it is not accepted yet."""
        ...

    def predict(self, row: int, position: int) -> Prediction:
        """The result of `draw`, with its certainty."""
        ...

    def likeliest(self, row: int) -> Prediction:
        """The two likeliest tokens of a row by the model alone: no noise, penalties or rules."""
        ...

    def look_ahead(self, position: int) -> None:
        """The next forward's only row is going to be drawn for `position`, and what it gives
        is probably decoded after that: a backend may begin with it."""
        ...

    def see(self, tokens: Sequence[int]) -> None:
        """Let the penalties see tokens of the text that came before."""
        ...

    def accept(self, tokens: Sequence[int]) -> None:
        """The text goes on with these: penalties and the constraint see them."""
        ...

    def mark(self) -> None:
        """Remember the penalties' state; `rewind` goes back to it."""
        ...

    def rewind(self) -> None: ...

    def close(self) -> None: ...


class States(Protocol):
    """The hidden states of one decoder's last forward."""

    def keep(self, taps: Sequence[Tap]) -> None:
        """From now on of every token that is decoded; () keeps none. Raises EnvironmentProblem
        where the model does not give them."""
        ...

    def rows(self, first: int, last: int) -> Hidden:
        """Rows of tokens `first` to `last` (not included) of the last forward, what was
        tapped side by side. A head gives its own states, of tokens whose logits were kept."""
        ...


class Decoder(Protocol):
    # the clock by which its forwards are timed
    seconds: Callable[[], float]

    @property
    def facts(self) -> ModelFacts: ...

    @property
    def states(self) -> States: ...

    @property
    def pace(self) -> int:
        """Names how the computer works for this decoder now (its threads): what forwards cost
        is learned for each pace on its own."""
        ...

    def encode(self, text: str) -> list[int]:
        """Token ids of plain text; control tokens in it stay plain text."""
        ...

    def image(self, digest: str, read: ReadPixels) -> list[int] | None:
        """An image as it stands in a prompt, its run of negative ids (see `image_tokens`) between
        the tokens that the model has around one; `digest` names its bytes. None where images cannot
        be prefilled. A run is one forward."""
        ...

    def piece(self, token: int) -> bytes:
        """The bytes of a token's text; empty for control tokens and images."""
        ...

    def is_end(self, token: int) -> bool:
        """True if the token ends a reply."""
        ...

    def n_past(self, seq: int = 0) -> int:
        """Number of the sequence's tokens in the KV state."""
        ...

    def vocabulary(self) -> Vocabulary: ...

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        """Decode `tokens` after what the sequence holds; keep logits of the given indices.

        At most `facts.batch` tokens. With `parents` they are a tree: the index of the token
        before each one, -1 for what the sequence held; `keep` must follow, and the sequence is
        not to be used before. A head (`facts.wants`) needs `hidden`, for each token the state of
        the token before it: the target's, as its `states` give it, or the head's own.
        Raises ContextFull, DecodeAborted, EnvironmentProblem.
        """
        ...

    def keep(self, path: Sequence[int]) -> None:
        """After a tree: keep these of its tokens (from its root on), drop the others."""
        ...

    def argmax(self, row: int) -> int: ...

    def row(self, row: int) -> npt.NDArray[np.float32]:
        """A copy of a row's logits, of the vocabulary's size; for checks, not for drawing."""
        ...

    def sampler(
        self,
        sampling: Sampling,
        seed: int,
        names: Sequence[int] | None = None,
        constraint: Constraint | None = None,
    ) -> Sampler:
        """A new chain. `names` gives tokens the ids that they have in another model, for the
        noise; tokens with -1 there are never chosen. What `constraint` forbids is not drawn; it
        hears of tokens through the sampler, from the first one drawn on."""
        ...

    def checkpoint(self) -> None:
        """Let `truncate` come back to here, where `facts.rollback` is "checkpoint"."""
        ...

    def truncate(self, n: int, seq: int = 0) -> int:
        """Cut the sequence to its first `n` tokens; returns how many are left.

        Fewer than `n` are left where the model's cache cannot be cut exactly there; the caller
        recomputes the rest.
        """
        ...

    def reach(self, n: int) -> int:
        """Length of the live sequence after `truncate(n)`."""
        ...

    def lay_out(self, tokens: Sequence[int]) -> None:
        """Announce the live sequence after the `restore` or `back` that comes next: where images
        have fewer positions than tokens, that has to be known."""
        ...

    def export(self, start: int, end: int) -> Blob:
        """The KV state of the live sequence's tokens `start` to `end`, at most `facts.chunk`."""
        ...

    def restore(self, blob: Blob, start: int, end: int) -> bool:
        """Append what `export` gave to a live sequence of `start` tokens, in order.

        For models that keep more than ranges (`facts.snapshots`) `back` has to follow, before
        anything else is done. False: the bytes do not fit, and what the sequence holds has to be
        looked at.
        """
        ...

    def snapshot(self) -> Blob:
        """The part of the live sequence's state that has no ranges, as it is now."""
        ...

    def back(self, snapshot: Blob, n: int) -> bool:
        """Make the live sequence what it was after its first `n` tokens, when `snapshot` was
        taken; what has ranges must hold at least those. False as in `restore`."""
        ...

    def abort(self) -> None:
        """From any thread: make a running `forward` stop soon, and every later one."""
        ...

    def clear_abort(self) -> None: ...

    def close(self) -> None: ...


@runtime_checkable
class BlockDecoder(Decoder, Protocol):
    """A head that drafts several tokens at once (`facts.at_once`). With `hidden`, `forward` reads
    that part of the text and keeps no logits; the tokens say nothing. Without it, `forward` gets
    the token that was drawn last and drafts as many as `outputs` has places, of which nothing is
    held afterwards: a row of logits for each token that comes after it."""

    def sureness(self, row: int) -> float:
        """The log odds that the head itself gives the token of this row where those before it are
        right; infinite where it says nothing."""
        ...

    def chose(self, row: int, token: int) -> None:
        """The rows after `row` are those that follow this token."""
        ...

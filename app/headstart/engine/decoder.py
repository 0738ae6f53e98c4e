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
    # numpy takes a tenth of a second to import, so the first model imports it
    import numpy as np
    import numpy.typing as npt

# a part of a KV state as bytes; only the backend that made it knows their meaning
Blob: TypeAlias = "npt.NDArray[np.uint8]"
# hidden states, a row for each token
Hidden: TypeAlias = "npt.NDArray[np.float32]"
ReadPixels = Callable[[], Rgb | None]
# a hidden state of a token: the input of the layer of that number, the input of the output layer
# ("last"), or the input of the model's own draft layers ("nextn")
Tap = int | Literal["last", "nextn"]


class DecodeAborted(Exception):
    """`abort` was called during a forward; the KV state ends at `n_past`."""


class ContextFull(Exception):
    """The tokens do not fit the context; the KV state is unchanged."""


class SpecialToken(Struct, frozen=True):
    """A token matched in the text before tokenization. Some swallow the white space beside them
    (`strip_left`, `strip_right`)."""

    id: int
    text: str
    strip_left: bool = False
    strip_right: bool = False


class ModelFacts(Struct, frozen=True):
    """Facts of a loaded model."""

    context_length: int
    vocabulary_size: int
    chat_template: str | None
    # control tokens: they decode to no text, and plain text never contains them
    special_tokens: tuple[SpecialToken, ...]
    # the id that begins every prompt, if the model wants one
    begin_token: int | None
    begin_text: str
    end_text: str
    # the most tokens one forward may take
    batch: int
    # whole words that decode to text, and are matched in plain text
    added_tokens: tuple[SpecialToken, ...] = ()
    # tokens that a reply never contains, by the model's own declaration
    suppressed: tuple[int, ...] = ()
    # how `truncate` goes back: exactly, or to a checkpoint from which the rest is recomputed
    rollback: Literal["exact", "checkpoint"] = "exact"
    # the most tokens of the last forward that `truncate` takes back without a checkpoint, once;
    # one of its tokens stays
    undo: int = 0
    # true if `export` omits a part of the state that only `snapshot` returns
    snapshots: bool = False
    # the most leaves of a tree in one forward; 1 where only a single path is possible
    leaves: int = 1
    # the other factors of speed: backend, threads, KV type
    device: str = ""
    # the most tokens of KV that one `export` returns, a power of two; 0: the state has no ranges
    chunk: int = 256
    # abilities that the trial on this computer found missing
    lacking: Lacking = LACKS_NOTHING
    # flash attention, or the plain kind
    flash: bool = True
    # the meaning of KV bytes besides the model file: library, KV types, layout
    state: str = ""
    # the width of a hidden state
    width: int = 0
    # tokens of context that the model was trained for; 0 if unknown
    trained: int = 0
    # for a head: the hidden states of its target that it takes, concatenated, and the number of
    # tokens ahead that it was trained for; 0: any
    wants: tuple[Tap, ...] = ()
    depth: int = 0
    # for a head that attends to the target's own keys and values: it drafts only the next tokens
    follows: bool = False
    # for a head that drafts several tokens in one forward: the most; see `BlockDecoder`
    at_once: int = 0


class Prediction(Struct, frozen=True):
    """The two likeliest tokens of a row under this turn's noise.

    `margin` is the lead of the first over the second, in natural logarithms (infinite when the
    sampling leaves one token). It is the best sign of whether another model would choose the same.
    """

    token: int
    second: int
    margin: float


class Constraint(Protocol):
    """Limits of a reply's tokens; asked by the samplers of a turn, in order."""

    def apply(
        self, logits: npt.NDArray[np.float32], names: npt.NDArray[np.int32] | None = None
    ) -> npt.NDArray[np.float32]:
        """The row to draw from: the same array, or a copy. `names` are the ids of its tokens in the
        target."""
        ...

    def accept(self, tokens: Sequence[int]) -> None:
        """The text continues with these tokens."""
        ...

    def mark(self) -> None:
        """Remember this position; `rewind` returns to it."""
        ...

    def rewind(self) -> None: ...

    def forced(self) -> Sequence[int]:
        """Tokens that the limits leave no choice about, as the text is usually divided."""
        ...


class Sampler(Protocol):
    """The sampler chain of one turn, with the state of its penalties and its seed.

    `position` is the position of the drawn token: the number of tokens before it. The same seed,
    position and distribution always give the same token (see `noise`).
    """

    def draw(self, row: int, position: int) -> int:
        """Draw a token from `row` of the last forward, without accepting it."""
        ...

    def predict(self, row: int, position: int) -> Prediction:
        """The result of `draw`, with its certainty."""
        ...

    def likeliest(self, row: int) -> Prediction:
        """The two likeliest tokens of a row by the model alone: no noise, penalties or rules."""
        ...

    def look_ahead(self, position: int) -> None:
        """Announce that the next forward's only row will be drawn for `position` and the drawn
        token probably decoded next: a backend may start on both early."""
        ...

    def see(self, tokens: Sequence[int]) -> None:
        """Show the penalties the tokens of the text so far."""
        ...

    def accept(self, tokens: Sequence[int]) -> None:
        """The text continues with these tokens: penalties and the constraint see them."""
        ...

    def mark(self) -> None:
        """Remember the penalties' state; `rewind` returns to it."""
        ...

    def rewind(self) -> None: ...

    def close(self) -> None: ...


class Embedder(Protocol):
    """A model that turns a text into a vector; `width` numbers, of at most `most` tokens."""

    width: int
    most: int

    def embed(self, text: str, cut: int = 0) -> tuple[npt.NDArray[np.float32], int]:
        """The vector, of length 1, and the text's tokens. `cut`: tokens after which the rest is
        left out; without it, raises EnvironmentProblem for a text that is too long."""
        ...

    def close(self) -> None: ...


class States(Protocol):
    """The hidden states of one decoder's last forward."""

    def keep(self, taps: Sequence[Tap]) -> None:
        """Keep these states of every token decoded from now on; () keeps none. Raises
        EnvironmentProblem where the model does not expose them."""
        ...

    def rows(self, first: int, last: int) -> Hidden:
        """Rows of tokens `first` to `last` (exclusive) of the last forward, the tapped states
        concatenated. A head gives its own states, of tokens whose logits were kept."""
        ...


class Decoder(Protocol):
    # the clock that times its forwards
    seconds: Callable[[], float]

    @property
    def facts(self) -> ModelFacts: ...

    @property
    def states(self) -> States: ...

    @property
    def pace(self) -> int:
        """A number for the present way of computing (its threads): the cost of forwards is learned
        for each pace separately."""
        ...

    def encode(self, text: str) -> list[int]:
        """Token ids of plain text; control tokens in it stay plain text."""
        ...

    def image(self, digest: str, read: ReadPixels) -> list[int] | None:
        """An image's tokens in a prompt: its run of negative ids (see `image_tokens`) between the
        model's own delimiters; `digest` names its bytes. None where images cannot be prefilled. A
        run is one forward."""
        ...

    def forget_images(self) -> None:
        """Drop what is kept of images to make their next prompt faster."""
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
        """Decode `tokens` at the end of the sequence; keep logits of the given indices.

        At most `facts.batch` tokens. With `parents` they are a tree: the index of each token's
        parent, -1 for the end of the sequence; `keep` must follow before any other use of the
        sequence. A head (`facts.wants`) needs `hidden`, for each token the state of the token
        before it: from the target's `states`, or the head's own. Raises ContextFull, DecodeAborted,
        EnvironmentProblem.
        """
        ...

    def keep(self, path: Sequence[int]) -> None:
        """After a tree: keep these tokens (a path from its root) and drop the others."""
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
        """A new chain. `names` maps tokens to their ids in another model, for the noise; tokens
        mapped to -1 are never chosen. Tokens that `constraint` forbids are not drawn; the sampler
        passes it every token from the first drawn one on."""
        ...

    def checkpoint(self) -> None:
        """Let `truncate` return to the present length, where `facts.rollback` is "checkpoint"."""
        ...

    def truncate(self, n: int, seq: int = 0) -> int:
        """Cut the sequence to its first `n` tokens; returns the number left.

        Fewer than `n` are left where the model's cache cannot be cut at exactly `n`; the caller
        recomputes the rest.
        """
        ...

    def reach(self, n: int) -> int:
        """Length of the live sequence after `truncate(n)`."""
        ...

    def lay_out(self, tokens: Sequence[int]) -> None:
        """Announce the live sequence's tokens after the coming `restore` or `back`: images that
        have fewer positions than tokens make this necessary."""
        ...

    def export(self, start: int, end: int) -> Blob:
        """The KV state of the live sequence's tokens `start` to `end`, at most `facts.chunk`."""
        ...

    def restore(self, blob: Blob, start: int, end: int) -> bool:
        """Append an exported state to a live sequence of `start` tokens, in order.

        For models that keep more than ranges (`facts.snapshots`) `back` must follow before any
        other call. False: the bytes do not fit, and the caller must check the sequence's length.
        """
        ...

    def snapshot(self) -> Blob:
        """The present part of the live sequence's state that has no ranges."""
        ...

    def back(self, snapshot: Blob, n: int) -> bool:
        """Return the live sequence to its first `n` tokens, at which `snapshot` was taken; the part
        with ranges must hold at least those. False as in `restore`."""
        ...

    def abort(self) -> None:
        """From any thread: make a running `forward`, and every later one, stop soon."""
        ...

    def clear_abort(self) -> None: ...

    def close(self) -> None: ...


@runtime_checkable
class BlockDecoder(Decoder, Protocol):
    """A head that drafts several tokens at once (`facts.at_once`). With `hidden`, `forward`
    processes that part of the text and keeps no logits; the tokens are ignored. Without it,
    `forward` gets the last drawn token and drafts one token for each of `outputs`, as a row of
    logits each; the KV state keeps none of them."""

    def sureness(self, row: int) -> float:
        """The head's own log odds that this row's token is right, given that those before it are;
        infinite where the head has no opinion."""
        ...

    def chose(self, row: int, token: int) -> None:
        """Make the rows after `row` those that follow this token."""
        ...

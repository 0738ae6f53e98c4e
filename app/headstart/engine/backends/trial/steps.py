"""Tries everything that the app does with a model once, in the child process of `probe`.

Works on any `Decoder`. A failing step is reported; one that ends the process is noticed by the
parent, which tries again without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

import numpy as np

from headstart.core.models.abilities import Ability
from headstart.core.rgb import Rgb
from headstart.engine import image_tokens
from headstart.engine.decoder import Decoder, Hidden

# tokens of the text for the state
_TOKENS = 12
# side of the trial image in pixels
_SIDE = 64


class TrialError(Exception):
    """The model gave a wrong result."""


def steps(
    decoder: Decoder, without: Collection[Ability]
) -> Iterator[tuple[Ability, Callable[[], None]]]:
    """The abilities to try, in order, after `read`."""
    tried: dict[Ability, Callable[[Decoder], None]] = {
        Ability.CUTTING: _cut,
        Ability.PREFIXES: _prefix,
        Ability.TREES: _tree,
    }
    for ability, step in tried.items():
        if ability not in without:
            yield ability, partial(step, decoder)


def read(decoder: Decoder) -> None:
    """Run three forwards, like those of a prompt, a reply and a verification."""
    tokens = _text(decoder)
    decoder.forward(tokens[:-4], [len(tokens) - 5])
    decoder.argmax(0)
    decoder.forward(tokens[-4:-3], [0])
    decoder.forward(tokens[-3:], [0, 1, 2])
    decoder.argmax(2)


def see(decoder: Decoder) -> None:
    """Decode an image, and a token after it."""
    image = decoder.image("trial", lambda: Rgb(_SIDE, _SIDE, bytes(range(256)) * 48))
    if not image:
        raise TrialError("it sees no image")
    count = 0
    for part in image_tokens.slices(image, decoder.facts.batch):
        decoder.forward(part, [])
        count += len(part)
    decoder.forward(_text(decoder)[:1], [0])
    if decoder.n_past() != count + 1:
        raise TrialError(f"{decoder.n_past()} tokens are there")
    if not np.isfinite(decoder.row(0)).all():
        raise TrialError("what follows an image is no text")


def draft(target: Decoder, head: Decoder) -> None:
    """Draft a token after a prompt, and another from the head's own state, and take both back."""
    target.states.keep(head.facts.wants)
    tokens = _text(target)
    target.forward(tokens, [len(tokens) - 1])
    rows = target.states.rows(0, len(tokens))
    pairs = [*tokens[1:], target.argmax(0)]
    if head.facts.at_once:
        _block(head, pairs, rows)
        return
    head.forward(pairs, [len(pairs) - 1], hidden=rows)
    own = head.states.rows(len(pairs) - 1, len(pairs))
    if not (np.isfinite(rows).all() and np.isfinite(own).all()):
        raise TrialError("its hidden states are no numbers")
    head.forward([head.argmax(0)], [0], hidden=own)
    if np.isnan(head.row(0)).any():
        raise TrialError("what it drafts is no text")
    # heads of several layers process the last pair again
    if not len(pairs) - 1 <= head.truncate(len(pairs)) <= len(pairs):
        raise TrialError("its last token was not taken back")
    target.forward([target.argmax(0)], [0])
    target.states.rows(0, 1)


def _block(head: Decoder, pairs: Sequence[int], rows: Hidden) -> None:
    """Draft blocks after a text, of one token and of the most possible, and check that the text
    stays."""
    if not np.isfinite(rows).all():
        raise TrialError("its hidden states are no numbers")
    head.forward(pairs, (), hidden=rows)
    for count in (1, head.facts.at_once):
        head.forward(pairs[-1:], range(count))
        if any(np.isnan(head.row(row)).any() for row in range(count)):
            raise TrialError("what it drafts is no text")
        if head.n_past() != len(pairs):
            raise TrialError("its block was not taken back")


def _text(decoder: Decoder) -> list[int]:
    known = decoder.facts.vocabulary_size
    return [1 + number * 7 % max(1, known - 1) for number in range(_TOKENS)]


def _again(decoder: Decoder) -> None:
    """Make the context hold the text."""
    decoder.truncate(0)
    decoder.forward(_text(decoder), [_TOKENS - 1])


def _cut(decoder: Decoder) -> None:
    _again(decoder)
    if decoder.facts.undo:
        decoder.forward(_text(decoder)[:3], [0, 1, 2])
        if decoder.truncate(_TOKENS + 1) != _TOKENS + 1:
            raise TrialError("its last tokens were not taken back")
        decoder.forward(_text(decoder)[:1], [0])
        _again(decoder)
    decoder.checkpoint()
    decoder.forward(_text(decoder)[:3], [0, 1, 2])
    left = decoder.truncate(_TOKENS + 1 if decoder.facts.rollback == "exact" else _TOKENS)
    if not 0 <= left <= _TOKENS + 1:
        raise TrialError(f"{left} tokens were left")
    decoder.forward(_text(decoder)[:1], [0])


def _prefix(decoder: Decoder) -> None:
    _again(decoder)
    chunk = decoder.facts.chunk
    mixed = decoder.facts.snapshots
    snapshot = decoder.snapshot() if mixed else None
    size = min(_TOKENS, chunk)
    blob = decoder.export(0, size) if chunk else None
    decoder.truncate(0)
    if blob is not None and not decoder.restore(blob, 0, size):
        raise TrialError("its state does not come back")
    if snapshot is not None and not decoder.back(snapshot, _TOKENS):
        raise TrialError("its state does not come back")
    if decoder.n_past() != (_TOKENS if mixed else size):
        raise TrialError(f"{decoder.n_past()} tokens came back")
    decoder.forward(_text(decoder)[:1], [0])


def _tree(decoder: Decoder) -> None:
    if decoder.facts.leaves < 2:
        return
    _again(decoder)
    one, two, three = _text(decoder)[:3]
    decoder.forward([one, two, three], [0, 1, 2], parents=[-1, 0, 0])
    decoder.keep([0, 2])
    if decoder.n_past() != _TOKENS + 2:
        raise TrialError(f"{decoder.n_past()} tokens were kept")
    decoder.forward([one], [0])

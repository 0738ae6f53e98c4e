"""A grammar with the parse state of one text, in tokens. Engine thread.

Grammar and token masks are llguidance's: an Earley parser over a trie of the vocabulary
(github.com/guidance-ai/llguidance). The first use imports it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from headstart.engine.decoder import Decoder

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer

Allowed = npt.NDArray[np.bool_]
Row = npt.NDArray[np.float32]
Names = npt.NDArray[np.int32]


class GrammarError(Exception):
    """The grammar has an error, or is too large; the text says which."""


class TokenGrammar:
    """Parses a text token by token; `rollback` undoes tokens."""

    def __init__(self, tokenizer: LLTokenizer, grammar: str | LLMatcher, ends: Collection[int]):
        """`grammar`: a text, or a matcher that has read nothing. Raises GrammarError."""
        from llguidance import LLMatcher

        self._matcher: LLMatcher = (
            LLMatcher(tokenizer, grammar, log_level=0)
            if isinstance(grammar, str)
            else grammar.deep_copy()
        )
        if self._matcher.is_error():
            raise GrammarError(str(self._matcher.get_error()))
        self._tokenizer = tokenizer
        self._ends = np.fromiter(ends, np.intp)
        self._bits = np.zeros((1, (tokenizer.vocab_size + 31) // 32), np.int32)

    @property
    def matcher(self) -> LLMatcher:
        return self._matcher

    @property
    def complete(self) -> bool:
        """True if nothing can follow."""
        return bool(self._matcher.is_stopped())

    def allowed(self, size: int) -> Allowed:
        """Mask of the next tokens that the grammar allows, out of `size`."""
        from llguidance.numpy import fill_next_token_bitmask

        found = np.zeros(size, np.bool_)
        if self._matcher.is_stopped():
            found[self._ends] = True
            return found
        fill_next_token_bitmask(self._matcher, self._bits, 0)
        known = min(size, self._tokenizer.vocab_size)
        bits = np.unpackbits(self._bits.view(np.uint8)[0], count=known, bitorder="little")
        found[:known] = bits.astype(np.bool_)
        if self._matcher.is_accepting():
            found[self._ends] = True
        if not found.any():
            # a parser that reached its limits must not keep the reply from ending
            found[self._ends] = True
        return found

    def accept(self, token: int) -> bool:
        """Consume a token; False if the grammar does not allow it."""
        return bool(self._matcher.try_consume_tokens([token]) == 1)

    def accept_text(self, text: str) -> bool:
        """Consume text; False if the grammar does not allow it."""
        tokens = self._tokenizer.tokenize_str(text)
        return bool(self._matcher.try_consume_tokens(tokens) == len(tokens))

    def forced(self) -> list[int]:
        """The next tokens if only one text can follow; other tokens may divide the same text."""
        return list(self._matcher.compute_ff_tokens())

    def rollback(self, count: int) -> None:
        if count:
            self._matcher.rollback(count)


class Tokenizers:
    """A model's vocabulary in llguidance's form: built once, at first use (some 5 µs per token)."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._made: LLTokenizer | None = None
        size = decoder.facts.vocabulary_size
        self.ends = tuple(token for token in range(size) if decoder.is_end(token))

    def get(self) -> LLTokenizer:
        if self._made is None:
            from llguidance import LLTokenizer
            from llguidance._tokenizer import TokenizerWrapper

            wrapped = TokenizerWrapper(_Vocabulary(self._decoder, self.ends))
            self._made = LLTokenizer(
                wrapped, eos_token=list(self.ends), slices=LLTokenizer.json_slices()
            )
        return self._made


class _Vocabulary:
    """The part of a tokenizer that `TokenizerWrapper` needs."""

    bos_token_id = None

    def __init__(self, decoder: Decoder, ends: Sequence[int]) -> None:
        self._decoder = decoder
        facts = decoder.facts
        self.eos_token_id = ends[0] if ends else 0
        # tokens without bytes decode to no text; a byte that is invalid in text marks them
        self.tokens = [
            decoder.piece(token) or b"\xff<|%d|>" % token for token in range(facts.vocabulary_size)
        ]

    def __call__(self, text: bytes) -> list[int]:
        return self._decoder.encode(text.decode("utf-8", "replace"))


def masked(row: Row, allowed: Allowed, names: Names | None) -> Row:
    """A row of logits without the tokens that are not allowed. `names`: ids of its tokens in the
    mask's vocabulary, -1 for none; a row that would lose all of them is returned as it is."""
    if names is not None:
        allowed = np.where(names >= 0, allowed[names], False)
    if not allowed.any():
        # the draft has no such token: its draft tokens are verified anyway
        return row
    return np.where(allowed, row, np.float32(-np.inf))

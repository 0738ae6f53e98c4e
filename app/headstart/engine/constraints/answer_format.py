"""An answer's format as a grammar, with the parse state of one reply. Engine thread.

Grammar and token masks are llguidance's: an Earley parser over a trie of the vocabulary
(github.com/guidance-ai/llguidance). The first answer with a format imports it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from headstart.core.errors import EnvironmentProblem
from headstart.core.text.shown import shortened
from headstart.engine.decoder import Decoder

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer

Allowed = npt.NDArray[np.bool_]

# white space that a model may write between its reasoning and the answer
_AFTER_REASONING = "start: GAP? answer\nGAP: /[ \\t\\r\\n]{1,8}/\nanswer: %json "
# unsure models write blanks forever where the grammar allows any number; and an answer that fits
# one of several exclusive alternatives is good enough
_OPTIONS = {"whitespace_pattern": "[ \\t\\r\\n]{1,40}", "coerce_one_of": True}


def check_schema(schema: str) -> None:
    """Raises EnvironmentProblem if a JSON Schema has no grammar; any thread."""
    from llguidance import LLMatcher

    failed, said = LLMatcher.validate_grammar_with_warnings(_grammar(schema, gap=False))
    if failed:
        raise EnvironmentProblem("format-not-possible", reason=_brief(said))


def fits(schema: str, answer: str) -> bool:
    """True if a text is a complete answer in this format; expects a checked schema."""
    from llguidance import LLMatcher, LLTokenizer

    matcher = LLMatcher(LLTokenizer("byte"), _grammar(schema, gap=False), log_level=0)
    data = list(answer.encode("utf-8"))
    return bool(matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting())


class AnswerFormat:
    """Parses one reply token by token; `rollback` undoes tokens."""

    def __init__(self, tokenizer: LLTokenizer, schema: str, ends: Collection[int], gap: bool):
        """Raises EnvironmentProblem."""
        from llguidance import LLMatcher

        self._matcher: LLMatcher = LLMatcher(tokenizer, _grammar(schema, gap), log_level=0)
        if self._matcher.is_error():
            raise EnvironmentProblem("format-not-possible", reason=_brief([self._error]))
        self._tokenizer = tokenizer
        self._ends = np.fromiter(ends, np.intp)
        self._bits = np.zeros((1, (tokenizer.vocab_size + 31) // 32), np.int32)

    @property
    def _error(self) -> str:
        return str(self._matcher.get_error())

    def allowed(self, size: int) -> Allowed:
        """Mask of the next tokens that the format allows, out of `size`."""
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
        """Consume a token; False if the format does not allow it."""
        return bool(self._matcher.try_consume_tokens([token]) == 1)

    def accept_text(self, text: str) -> bool:
        """Consume earlier text of the answer; False if the format does not allow it."""
        tokens = self._tokenizer.tokenize_str(text)
        return bool(self._matcher.try_consume_tokens(tokens) == len(tokens))

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


def _grammar(schema: str, gap: bool) -> str:
    """The grammar of a JSON Schema; raises EnvironmentProblem."""
    from llguidance import LLMatcher

    try:
        parsed: Any = json.loads(schema)
    except ValueError as error:
        raise EnvironmentProblem("format-is-no-json", reason=error) from error
    if not isinstance(parsed, dict):
        raise EnvironmentProblem("format-is-no-schema")
    parsed = {**parsed, "x-guidance": {**_OPTIONS, **_own_options(parsed)}}
    if gap:
        return str(LLMatcher.grammar_from_lark(_AFTER_REASONING + json.dumps(parsed)))
    return str(LLMatcher.grammar_from_json_schema(parsed))


def _own_options(schema: dict[str, Any]) -> dict[str, Any]:
    own = schema.get("x-guidance")
    return own if isinstance(own, dict) else {}


def _brief(said: Sequence[str]) -> str:
    """The first line of llguidance's messages."""
    first = next((line.strip() for text in said for line in text.splitlines() if line.strip()), "")
    return shortened(first, 200)

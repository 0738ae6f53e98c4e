"""Rules for a reply's tokens: its answer format, and words favoured or suppressed.

Engine thread. One object follows a reply; the samplers of the target and of its draft use it, both
with the target's token ids.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from headstart.core.settings.schema import Bias, Sampling
from headstart.core.tools import Choosing, Tools
from headstart.engine.constraints.answer_format import answer_format
from headstart.engine.constraints.grammar import (
    Allowed,
    Names,
    Row,
    TokenGrammar,
    Tokenizers,
    masked,
)
from headstart.engine.constraints.tool_rules import CallGrammars, ToolRules
from headstart.engine.decoder import Constraint, Decoder
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.markup.tool_calls.lark import Pieces
from headstart.engine.markup.tool_way import ToolPrompt

log = logging.getLogger(__name__)

# sets of tools whose grammars are kept
_KEPT = 8


class _Favoured(Struct, frozen=True):
    """A bias: `token` gets `value` where the text ends with `before`."""

    before: tuple[int, ...]
    token: int
    value: float


class Rules:
    """The target's `Constraint`."""

    def __init__(
        self,
        favoured: Sequence[_Favoured],
        form: TokenGrammar | None,
        stream: TextStream,
        piece: Callable[[int], bytes],
        marks: Mapping[int, str],
    ) -> None:
        """`stream` is at the start of the reply; `marks` are the tokens that separate reasoning
        from the answer."""
        self._favoured = favoured
        longest = max((len(one.before) for one in favoured), default=0)
        self._last: deque[int] = deque(maxlen=longest)
        self._form = form
        self._stream = stream
        self._piece, self._marks = piece, marks
        # the format applies from the start of the answer, which a mark may still precede
        self._in_answer = form is not None and stream.in_text
        self._begun = False
        self._allowed: Allowed | None = None
        self._marked: tuple[deque[int], bool, bool] | None = None
        self._taken = 0

    def apply(self, logits: Row, names: Names | None = None) -> Row:
        """The row of logits to draw from: the same array where nothing changes. `names`: the ids of
        its tokens in the target, -1 for none."""
        row = logits
        for one in self._favoured:
            if not one.before or tuple(self._last)[-len(one.before) :] == one.before:
                row = row.copy() if row is logits else row
                if names is None:
                    row[one.token] += one.value
                else:
                    row[names == one.token] += one.value
        if self._form is None or not self._in_answer:
            return row
        allowed = self._mask(len(row) if names is None else int(names.max()) + 1)
        return masked(row, allowed, names)

    def _mask(self, size: int) -> Allowed:
        known = self._allowed
        if known is not None and len(known) == size:
            return known
        assert self._form is not None
        allowed = self._form.allowed(size)
        if not self._begun:
            for token in self._marks:
                if token < size:
                    allowed[token] = True
        self._allowed = allowed
        return allowed

    def accept(self, tokens: Sequence[int]) -> None:
        """The reply continues with these tokens."""
        self._last.extend(tokens)
        if self._form is None:
            return
        for token in tokens:
            self._allowed = None
            self._follow(self._form, token)

    def _follow(self, form: TokenGrammar, token: int) -> None:
        if self._in_answer and (self._begun or token not in self._marks):
            if form.accept(token):
                self._begun = True
                self._taken += 1
            return
        if self._begun or self._marked is not None:
            return
        before = len(self._stream.text)
        self._stream.push(self._piece(token), mark=self._marks.get(token))
        self._in_answer = self._stream.in_text
        rest = self._stream.text[before:]
        if self._in_answer and rest.strip():
            # the token that ended the reasoning also began the answer
            self._begun = form.accept_text(rest)

    def mark(self) -> None:
        """Remember this position; `rewind` returns to it."""
        self._marked = (self._last.copy(), self._in_answer, self._begun)
        self._taken = 0

    def rewind(self) -> None:
        if self._marked is None:
            return
        self._last, self._in_answer, self._begun = self._marked
        self._marked = None
        if self._form is not None and self._taken:
            self._form.rollback(self._taken)
            self._allowed = None

    def forced(self) -> Sequence[int]:
        # a mark may still precede an answer that has not begun
        return self._form.forced() if self._form is not None and self._begun else ()


class DraftRules:
    """The same rules for a draft, which runs ahead of the reply and rewinds."""

    def __init__(self, rules: Constraint, names: Sequence[int] | None) -> None:
        self._rules = rules
        self._names = None if names is None else np.asarray(names, np.int32)
        self._ahead = False
        # true for rows of earlier text, which no rule applies to
        self.off = False

    def apply(self, logits: Row, names: Names | None = None) -> Row:
        if self.off:
            return logits
        return self._rules.apply(logits, self._names if names is None else names)

    def accept(self, tokens: Sequence[int]) -> None:
        """Pass draft tokens to the rules, between `mark` and `rewind` only; the target passes the
        reply's own."""
        if self._ahead:
            names = self._names
            self._rules.accept(tokens if names is None else [int(names[token]) for token in tokens])

    def mark(self) -> None:
        self._ahead = True
        self._rules.mark()

    def rewind(self) -> None:
        self._ahead = False
        self._rules.rewind()

    def forced(self) -> Sequence[int]:
        """None: the target's loop drafts them."""
        return ()


class RuleMaker:
    """Makes the rules of replies for one loaded model."""

    def __init__(
        self, decoder: Decoder, marks: Mapping[int, str], pieces: Pieces = lambda text: (text,)
    ) -> None:
        """`pieces` divides a text into text and special tokens."""
        self._decoder = decoder
        self._marks = marks
        self._pieces = pieces
        self._tokenizers = Tokenizers(decoder)
        self._calls: OrderedDict[tuple[ToolPrompt, Tools], CallGrammars] = OrderedDict()

    def for_tools(
        self, tools: Tools, way: ToolPrompt, stream: TextStream, marks: Mapping[int, str]
    ) -> ToolRules | None:
        """The rules of a reply's calls, or None. `stream` is at its start; `marks`: tokens that
        are marks where tools are offered."""
        if not tools:
            return None
        key = way, tools
        if key not in self._calls:
            self._calls[key] = CallGrammars(way, tools, self._tokenizers, self._pieces)
            while len(self._calls) > _KEPT:
                self._calls.popitem(last=False)
        self._calls.move_to_end(key)
        must = tools.choice.choosing in (Choosing.REQUIRED, Choosing.NAMED)
        return ToolRules(self._calls[key], stream, self._decoder.piece, marks, must)

    def make(self, sampling: Sampling, stream: TextStream, written: str = "") -> Rules | None:
        """The rules of a reply, or None. `stream` is at its start; `written`: the answer so far.
        Raises EnvironmentProblem if the schema has no grammar."""
        favoured = [each for bias in sampling.bias for each in self._sequences(bias)]
        if not favoured and not sampling.schema:
            return None
        form = self._form(sampling.schema, stream, written) if sampling.schema else None
        return Rules(favoured, form, stream, self._decoder.piece, self._marks)

    def _form(self, schema: str, stream: TextStream, written: str) -> TokenGrammar | None:
        gap = bool(self._marks) or not stream.in_text
        form = answer_format(self._tokenizers, schema, gap)
        if written.strip() and not form.accept_text(written):
            log.info("what is written does not have the answer's format: it goes on without")
            return None
        return form

    def _sequences(self, bias: Bias) -> list[_Favoured]:
        """The token sequences of a biased text, with and without a leading space."""
        found = dict.fromkeys(
            tuple(self._decoder.encode(text)) for text in (bias.text, f" {bias.text.lstrip()}")
        )
        return [_Favoured(each[:-1], each[-1], bias.value) for each in found if each]

"""Rules of a reply's tool calls: text stays free, a call fits its tool's schema. Engine thread.

The grammar begins behind the mark of a call and ends with the call. A call that is required begins
where the answer does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from headstart.core.tools import Choosing, Tools
from headstart.engine.constraints.grammar import (
    GrammarError,
    Names,
    Row,
    TokenGrammar,
    Tokenizers,
    masked,
)
from headstart.engine.decoder import Constraint
from headstart.engine.markup.text_stream import TextStream
from headstart.engine.markup.tool_calls.lark import Pieces, TooLarge, call_grammar, named_grammar
from headstart.engine.markup.tool_calls.layout import Layout, behind_header, layout_of
from headstart.engine.markup.tool_way import ToolPrompt

log = logging.getLogger(__name__)

# calls in one reply: small models repeat themselves for ever
_MOST = 16


class CallGrammars:
    """Grammars of the calls of one set of tools, each compiled once."""

    def __init__(self, way: ToolPrompt, tools: Tools, tokenizers: Tokenizers, pieces: Pieces):
        self._tokenizers = tokenizers
        self._pieces = pieces
        named = tools.choice.choosing is Choosing.NAMED
        self._specs = [spec for spec in tools.every if not named or spec.name == tools.choice.name]
        opens = () if way.form.bare or way.form.header else way.form.opens
        self._mark = next((mark for mark in opens if way.example.startswith(mark)), "")
        # the tool's name, or that a call follows, stands in a header
        self.header = way.form.header
        self._several = way.several and tools.several
        self._layout: Layout | None = layout_of(
            way.example[len(self._mark) :], way.pair[len(self._mark) :]
        )
        self._made: dict[str, TokenGrammar | None] = {}

    def behind_mark(self, name: str) -> TokenGrammar | None:
        """The grammar of a call that has begun; `name`: the tool's, where a header had it."""
        layout = self._layout
        if layout is None:
            return None
        if self.header and name:
            spec = next((spec for spec in self._specs if spec.name == name), None)
            if spec is None:
                return None
            return self._get(f"of {name}", partial(named_grammar, layout, spec, self._pieces))
        if self.header:
            # the header says only that a call follows
            layout = replace(layout, before=behind_header(layout.before).lstrip())
        return self._get("call", lambda: self._calls(layout))

    def whole(self) -> TokenGrammar | None:
        """The grammar of a call with its mark, from the beginning of the answer; with its header,
        from the beginning of the reply."""
        layout = self._layout
        if layout is None or not (self._mark or layout.before or self.header):
            return None
        # white space may stand before a mark, and is a part of a header
        opening = None if self.header else self._mark
        return self._get("required", lambda: self._calls(layout, opening))

    def more(self, calls: int) -> TokenGrammar | None:
        """The grammar behind so many calls: another one, or the reply's end. Templates show no
        text behind calls."""
        layout = self._layout
        if layout is None or self.header:
            return None
        last = not self._several or calls >= _MOST
        if last or (not self._mark and not layout.before):
            return self._get("end", lambda: "start: /[ \\t\\r\\n]{0,8}/")
        return self._get("more", lambda: self._calls(layout, self._mark, optional=True))

    def _calls(self, layout: Layout, opening: str | None = None, optional: bool = False) -> str:
        return call_grammar(
            layout, self._specs, self._pieces, opening, optional=optional, several=self._several
        )

    def _get(self, key: str, make: Callable[[], str]) -> TokenGrammar | None:
        if key not in self._made:
            try:
                text = _lark(make())
                self._made[key] = TokenGrammar(self._tokenizers.get(), text, self._tokenizers.ends)
            except (GrammarError, TooLarge) as error:
                # a schema that has no grammar: its calls are checked when they are whole
                log.info("no grammar for the tools: %s", error)
                self._made[key] = None
        found = self._made[key]
        if found is None:
            return None
        return TokenGrammar(self._tokenizers.get(), found.matcher, self._tokenizers.ends)


def _lark(text: str) -> str:
    from llguidance import LLMatcher

    return str(LLMatcher.grammar_from_lark(text))


class ToolRules:
    """A `Constraint` of the target."""

    def __init__(
        self,
        grammars: CallGrammars,
        stream: TextStream,
        piece: Callable[[int], bytes],
        marks: Mapping[int, str],
        must: bool,
    ) -> None:
        """`stream` stands where the reply begins. `must`: the answer is a call."""
        self._grammars = grammars
        self._stream = stream
        self._piece, self._marks = piece, marks
        self._must = must
        # calls that are over
        self._whole = 0
        self._grammar: TokenGrammar | None = None
        # tokens that were taken ahead, to be taken back; None where nothing is drafted
        self._ahead: int | None = None
        # the call ended among the tokens ahead
        self._past = False
        self._begin()

    def apply(self, logits: Row, names: Names | None = None) -> Row:
        if self._grammar is None or self._past:
            return logits
        size = len(logits) if names is None else int(names.max()) + 1
        return masked(logits, self._grammar.allowed(size), names)

    def accept(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            self._follow(token)

    def mark(self) -> None:
        self._ahead, self._past = 0, False

    def rewind(self) -> None:
        if self._ahead and self._grammar is not None:
            self._grammar.rollback(self._ahead)
        self._ahead, self._past = None, False

    def forced(self) -> Sequence[int]:
        return () if self._grammar is None else self._grammar.forced()

    def _follow(self, token: int) -> None:
        grammar = self._grammar
        if self._ahead is not None:
            # the reply itself is not known there: only an open call is followed
            if grammar is not None and not self._past:
                taken = grammar.accept(token)
                self._ahead += taken
                self._past = not taken or grammar.complete
            return
        if grammar is not None and not grammar.accept(token):
            self._grammar = grammar = None
        before = self._stream.call
        self._stream.push(self._piece(token), mark=self._marks.get(token))
        now = self._stream.call
        if len(self._stream.calls) > self._whole:
            # only calls follow a call; a grammar that began before its mark goes on to its end
            self._whole = len(self._stream.calls)
            if grammar is None or grammar.complete:
                self._grammar = self._grammars.more(self._whole)
        elif now is not None and now is not before and grammar is None:
            self._open(self._grammars.behind_mark(now.tool), now.raw)
        elif now is None and before is not None and not self._whole:
            # it was no call
            self._grammar = None
        self._begin()

    def _begin(self) -> None:
        """A call that is required begins with the answer, or with its header in place of one."""
        stream = self._stream
        # a reply that is neither text nor reasoning yet begins with a mark, as that of a call
        begins = stream.in_text or self._grammars.header or not (stream.reasons or stream.text)
        if self._must and begins and self._grammar is None:
            self._must = False
            self._open(self._grammars.whole(), self._stream.text)

    def _open(self, grammar: TokenGrammar | None, text: str) -> None:
        if grammar is not None and (not text or grammar.accept_text(text)):
            self._grammar = grammar


class AllRules:
    """Several constraints as one."""

    def __init__(self, rules: Sequence[Constraint]) -> None:
        self._rules = tuple(rules)

    def apply(self, logits: Row, names: Names | None = None) -> Row:
        for one in self._rules:
            logits = one.apply(logits, names)
        return logits

    def accept(self, tokens: Sequence[int]) -> None:
        for one in self._rules:
            one.accept(tokens)

    def mark(self) -> None:
        for one in self._rules:
            one.mark()

    def rewind(self) -> None:
        for one in self._rules:
            one.rewind()

    def forced(self) -> Sequence[int]:
        return next(filter(None, (one.forced() for one in self._rules)), ())

"""Calls inside thoughts: words of the thoughts, unless these never end. Pure.

A model may think about a call that it does not make. Others forget to end their thoughts before
they call; that is known at the end of the reply only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.chats.parts import Origin
from headstart.core.events import CallStep, TextPiece
from headstart.engine.markup.open_call import OpenCall
from headstart.engine.markup.tool_calls.forms import CallForm

# characters behind a mark, within which the name of a tool has come
_LONGEST = 512


class ThoughtPiece(Struct, frozen=True):
    """A piece of thoughts; `is_mark`: a mark of calls, or one inside them."""

    text: str
    origin: Origin
    is_mark: bool = False


class Looked(Struct, frozen=True):
    """`said` is certainly text of the thoughts; `again` is what follows a mark that began no call,
    and may have another one."""

    said: tuple[ThoughtPiece, ...] = ()
    again: tuple[ThoughtPiece, ...] = ()


class ConsideredCalls:
    """The calls of one reply's open thoughts. Their text is held back as long as nothing but calls
    follows."""

    def __init__(
        self, form: CallForm | None, tools: Mapping[str, Mapping[str, Any]] | None
    ) -> None:
        """`tools`: schemas of the offered tools by name; None if unknown."""
        self._form, self._tools = form, tools
        # the call that is being read, and where its mark is held
        self._call: OpenCall | None = None
        self._at = 0
        self._held: list[ThoughtPiece] = []
        # True if a whole call is held
        self._has_call = False
        # pieces of whole calls, and their names with arguments
        self._pieces: list[TextPiece] = []
        self._calls: list[tuple[str, str]] = []

    @property
    def active(self) -> bool:
        """True if text may belong to a call."""
        return bool(self._held)

    @property
    def reading(self) -> bool:
        """True if the end of a call has not come."""
        return self._call is not None

    @property
    def held(self) -> str:
        return "".join(one.text for one in self._held)

    def reads(self, mark: str) -> bool:
        """True if a mark belongs to the call that is being read."""
        form = None if self._call is None else self._call.form
        return form is not None and (mark in form.opens or mark in form.marks)

    def begin(self, mark: ThoughtPiece, tool: str = "") -> None:
        """A call may begin; `tool`: its name, where a header has it."""
        assert self._form is not None
        self._at = len(self._held)
        self._held.append(mark)
        self._call = OpenCall(self._form, mark.text, self._tools, True, 0)
        if tool:
            self._call.named(tool)

    def push(self, thought: ThoughtPiece) -> Looked:
        """More text, or a mark around calls."""
        self._held.append(thought)
        if self._call is None:
            # only blank text, marks and other calls follow a call that ends the thoughts
            is_word = thought.text.strip() and not thought.is_mark
            return self.let_go() if is_word else Looked()
        return self._look(self._call, self._call.push(thought.text, thought.origin))

    def finish(self) -> Looked:
        """The reply ended."""
        return Looked() if self._call is None else self._look(self._call, self._call.finish())

    def let_go(self) -> Looked:
        """All that is held back is text; its calls are still considered."""
        held, self._held, self._call = self._held, [], None
        self._has_call = False
        return Looked(tuple(held))

    def forget(self) -> Looked:
        """The thoughts ended: their calls are none."""
        self._pieces, self._calls = [], []
        return self.let_go()

    def made(self, before: int) -> tuple[list[TextPiece], list[tuple[str, str]]]:
        """The calls, after the thoughts never ended: their pieces, numbered behind `before` calls,
        and names with arguments. Those whose text is held are not said."""
        number, pieces = before, []
        for piece in self._pieces:
            number += piece.step is CallStep.BEGAN
            pieces.append(replace(piece, call=number))
        calls = self._calls
        if self._has_call:
            self.forget()
        return pieces, calls

    def _look(self, call: OpenCall, pieces: Iterable[TextPiece]) -> Looked:
        if not call.done and not call.unlikely(_LONGEST):
            return Looked()
        if not call.done or call.rejected:
            held, at = self._held, self._at + 1
            self.let_go()
            return Looked(tuple(held[:at]), tuple(held[at:]))
        self._pieces += pieces
        self._calls += call.calls
        self._call, self._has_call = None, True
        rest, last = call.given_back.strip(), self._held[-1]
        if rest and last.is_mark and rest == last.text.strip():
            # another call may begin with it
            return Looked(again=(self._held.pop(),))
        return self.let_go() if rest else Looked()

"""The call that a reply is writing, as pieces of the reply. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from headstart.core.chats.parts import Origin, PartKind
from headstart.core.events import CallStep, TextPiece
from headstart.core.text.begun import is_object
from headstart.engine.markup.tool_calls.feed import (
    BEGUN,
    CallArguments,
    CallBegan,
    CallEvent,
)
from headstart.engine.markup.tool_calls.forms import CallForm
from headstart.engine.markup.tool_calls.reader import CallReader


class OpenCall:
    """A call, or a section of calls, from its mark on.

    `schemas`: of the tools that were offered, by name; None where nobody said. In reasoning
    (`thinking`) a call counts only once it is whole, and only with a known name.
    """

    def __init__(
        self,
        form: CallForm,
        mark: str,
        schemas: Mapping[str, Mapping[str, Any]] | None,
        thinking: bool,
        number: int,
    ) -> None:
        self.form, self.mark, self.thinking = form, mark, thinking
        self._known = schemas
        self._number = number
        self._name, self._arguments = "", ""
        self._pieces: list[TextPiece] = []
        # whole calls: name and arguments
        self.calls: list[tuple[str, str]] = []
        # the tool that a header named
        self.tool = ""
        self._reader = self._read("")

    @property
    def done(self) -> bool:
        return self._reader.done

    @property
    def given_back(self) -> str:
        """Text behind the mark that belongs to no call."""
        return self._reader.raw if self.rejected else self._reader.rest

    @property
    def rejected(self) -> bool:
        """True if nothing of it counts as a call."""
        unknown = self._known is not None and any(name not in self._known for name, _ in self.calls)
        doubtful = unknown or self._reader.cut
        return (not self.calls and not self._reader.cut) or (self.thinking and doubtful)

    def unlikely(self, longest: int) -> bool:
        """True if no name came within so many characters, or that of a tool which nobody
        offered."""
        if not self._name:
            return len(self.raw) > longest
        return self._known is not None and self._name not in self._known

    @property
    def raw(self) -> str:
        """The text behind the mark so far."""
        return self._reader.raw

    def named(self, name: str) -> None:
        """The header before the arguments has the tool's name."""
        self.tool = name
        self._reader = self._read(name)

    def push(self, text: str, origin: Origin) -> list[TextPiece]:
        return self._given(self._reader.push(text), origin)

    def finish(self, broken: bool = False) -> list[TextPiece]:
        """The reply, or the message of the call, ended; `broken`: something cut it."""
        return self._given(self._reader.finish(broken), Origin.TARGET)

    def _read(self, name: str) -> CallReader:
        known = self._known
        return CallReader(
            self.form.reader, lambda tool: None if known is None else known.get(tool), name
        )

    def _given(self, events: Iterable[CallEvent], origin: Origin) -> list[TextPiece]:
        for event in events:
            self._pieces.append(self._piece(event, origin))
        if self.done and self._reader.open:
            self._end_open()
        if self.thinking and (not self.done or self.rejected):
            return []
        pieces, self._pieces = self._pieces, []
        return pieces

    def _piece(self, event: CallEvent, origin: Origin) -> TextPiece:
        step, text = CallStep.WHOLE, self._arguments
        if isinstance(event, CallBegan):
            self._number += 1
            self._name, self._arguments = event.name, ""
            step, text = CallStep.BEGAN, ""
        elif isinstance(event, CallArguments):
            self._arguments += event.text
            step, text = CallStep.MORE, event.text
        else:
            self.calls.append((self._name, self._arguments))
        return self._step(step, text, origin)

    def _end_open(self) -> None:
        """The last call did not come to its end: its arguments are closed nonetheless, or they
        stay as far as they are written; or it is no call after all."""
        if not self._reader.cut:
            self._pieces.append(self._step(CallStep.WITHDRAWN, "", Origin.TARGET))
            return
        text = self._arguments or BEGUN
        self.calls.append((self._name, text))
        step = CallStep.WHOLE if is_object(text) else CallStep.CUT
        self._pieces.append(self._step(step, text, Origin.TARGET))

    def _step(self, step: CallStep, text: str, origin: Origin) -> TextPiece:
        return TextPiece(PartKind.TOOL_CALL, text, origin, self._name, self._number, step)

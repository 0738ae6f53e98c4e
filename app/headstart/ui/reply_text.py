"""Sections of the reply in progress in the open chat, as the transcript shows them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from headstart.core.chats.parts import (
    PARAGRAPH,
    Origin,
    OriginRun,
    Part,
    PartKind,
    append_run,
    cut_runs,
    origins_of,
)
from headstart.core.chats.sections import (
    CallProgress,
    CallState,
    ReplySections,
    SaidText,
    Section,
    ShownCall,
    add_thought,
    add_words,
    origins_of_call,
    sections_of,
    with_result,
)
from headstart.core.events import (
    CallStep,
    TextPiece,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolStarted,
)

# events that a reply's sections are made of
CallEvent = ToolAsked | ToolStarted | ToolProgressed | ToolDone


class ReplyText:
    """`parts` stood before the reply, `events` are those that it has had since."""

    def __init__(
        self, parts: Iterable[Part] = (), events: Iterable[TextPiece | CallEvent] = ()
    ) -> None:
        parts = tuple(parts)
        self._sections: list[Section] = list(sections_of(parts).all)
        self._origins: list[OriginRun] = list(origins_of(parts))
        for event in events:
            self.add(event)

    @property
    def sections(self) -> ReplySections:
        return ReplySections(tuple(self._sections), tuple(self._origins))

    def add(self, event: TextPiece | CallEvent) -> None:
        match event:
            case TextPiece(kind=PartKind.TEXT):
                self._add_text(event)
            case TextPiece(kind=PartKind.REASONING):
                add_thought(self._sections, event.text)
            case TextPiece():
                self._add_step(event)
            case ToolAsked():
                self._change(event.call, state=CallState.ASKED, ground=event.ground)
            case ToolProgressed():
                progress = CallProgress(event.done, event.total, event.message)
                self._change(event.call, state=CallState.RUNNING, progress=progress)
            case ToolStarted():
                self._change(event.call, state=CallState.RUNNING)
            case ToolDone():
                place = self._place(event.call, event.name)
                call = self._sections[place]
                assert isinstance(call, ShownCall)
                self._sections[place] = with_result(
                    call, (event.text, event.failed, event.end), event.seconds, event.whole
                )

    def _add_text(self, piece: TextPiece) -> None:
        texts = sum(isinstance(one, SaidText) for one in self._sections)
        add_words(self._sections, piece.text)
        if texts and texts < sum(isinstance(one, SaidText) for one in self._sections):
            append_run(self._origins, len(PARAGRAPH), Origin.TARGET)
        append_run(self._origins, len(piece.text), piece.origin)

    def _add_step(self, piece: TextPiece) -> None:
        if piece.step is CallStep.WITHDRAWN:
            self._sections = [
                one
                for one in self._sections
                if not (isinstance(one, ShownCall) and one.number == piece.call)
            ]
            return
        place = self._place(piece.call, piece.name)
        call = self._sections[place]
        assert isinstance(call, ShownCall)
        if piece.step is CallStep.MORE:
            call = replace(
                call,
                arguments=call.arguments + piece.text,
                origins=origins_of_call(call.origins, piece.text, piece.origin),
            )
        elif piece.step in (CallStep.WHOLE, CallStep.CUT):
            state = CallState.CUT if piece.step is CallStep.CUT else CallState.WAITING
            origins = call.origins if piece.text.startswith(call.arguments) else ()
            call = replace(call, arguments=piece.text, origins=origins, state=state)
        self._sections[place] = call
        if call.state is not CallState.WRITING:
            self._end_text(place)

    def _place(self, number: int, name: str) -> int:
        """The place of a call, which is made where it is new."""
        for place, one in enumerate(self._sections):
            if isinstance(one, ShownCall) and one.number == number:
                return place
        self._sections.append(ShownCall(number, name, state=CallState.WRITING))
        return len(self._sections) - 1

    def _end_text(self, place: int) -> None:
        """Take away white space before a call, which belongs to its mark."""
        before = self._sections[place - 1] if place else None
        if isinstance(before, SaidText) and before.text != before.text.rstrip():
            text = before.text.rstrip()
            self._sections[place - 1 : place] = [SaidText(text)] if text else []
            length = len(ReplySections(tuple(self._sections)).text)
            self._origins = list(cut_runs(self._origins, length))

    def _change(self, number: int, **changes: object) -> None:
        for place, one in enumerate(self._sections):
            if isinstance(one, ShownCall) and one.number == number:
                self._sections[place] = replace(one, **changes)

"""Turns tokens' bytes into text pieces: whole characters, stop strings held back, reasoning
separate.

Pure; one instance per reply. Every piece keeps the origin of its token.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from headstart.core.chats.parts import Origin, PartKind
from headstart.core.events import TextPiece
from headstart.core.requests import WrittenSoFar
from headstart.engine.markup.formats import THINK, ReplyFormat
from headstart.engine.markup.held_text import HeldText
from headstart.engine.markup.open_call import OpenCall
from headstart.engine.markup.reply_state import LONGEST_HEADER, ReplyState
from headstart.engine.markup.tool_calls.values import in_string


class TextStream:
    """Converts bytes to pieces. `stopped` becomes true at a stop string, which is not emitted.

    `reasoning` and `text` are the emitted texts so far.
    """

    def __init__(
        self,
        stop: Sequence[str] = (),
        form: ReplyFormat = THINK,
        tokens: Collection[str] = (),
        tools: Mapping[str, Mapping[str, Any]] | None = None,
        ends: Sequence[str] = (),
    ) -> None:
        """`tokens`: the marks that are special tokens; spelled as plain text they count as text.
        `tools`: schemas of the offered tools by name; None if unknown. `ends`: texts with which
        the model ends its turn, in reasoning, too, where `stop` sleeps."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = tuple(text for text in stop if text)
        self._ends = tuple(text for text in ends if text)
        self._state = ReplyState(form, tokens, tools)
        self._held = HeldText()
        self.stopped = False
        self.stopped_by = ""

    @property
    def text(self) -> str:
        return self._state.written(PartKind.TEXT)

    @property
    def reasoning(self) -> str:
        return self._state.written(PartKind.REASONING)

    @property
    def call(self) -> OpenCall | None:
        """The call that is being written."""
        return self._state.call

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Calls so far: name and arguments."""
        return self._state.calls

    @property
    def so_far(self) -> WrittenSoFar:
        """The text so far, with the part that is held back."""
        return self._state.so_far(self._held.text)

    @property
    def reasons(self) -> bool:
        """True if the next text is reasoning."""
        return self._state.in_words and self._state.kind is PartKind.REASONING

    @property
    def in_text(self) -> bool:
        """True if the next text belongs to the answer: neither to reasoning nor to a header or
        call."""
        return self._state.in_text

    def follow(self, prompt: str, so_far: str = "") -> None:
        """Begin in the state after the end of a prompt (its part after the last message's text) and
        the reply so far."""
        self._state.follow(prompt, so_far)
        self._held.clear()

    def push(
        self, data: bytes, origin: Origin = Origin.TARGET, mark: str | None = None
    ) -> list[TextPiece]:
        """Text to show after these bytes; nothing after `stopped`. `mark`: the token is this mark
        of the format."""
        state = self._state
        if mark is not None:
            self._advance("", origin, last=True)
            if not self.stopped:
                state.apply(mark)
                self._look_again()
            return state.pieces()
        text = self._decoder.decode(data)
        looking = self._marks or self._held or state.trims or self.stopped or state.fresh
        if not looking and state.in_words and not state.considered.active:
            # nearly every token: no mark to look for
            return [state.say(text, origin)] if text else []
        self._advance(text, origin, last=False)
        return state.pieces()

    @property
    def all_shown(self) -> bool:
        """True if nothing is held back and all text so far is complete."""
        held = self._held or self.incomplete or self._state.considered.active
        return self._state.in_words and not held and not self.stopped

    @property
    def incomplete(self) -> int:
        """Bytes of an incomplete character."""
        return len(self._decoder.getstate()[0])

    def finish(self, ended: bool = True) -> list[TextPiece]:
        """The text held back: the reply ended before it became a stop string or a mark. Calls in
        thoughts that the model never ended are calls.

        If the reply was stopped from outside (not `ended`), an incomplete character is dropped; the
        model's own broken bytes appear as a replacement character.
        """
        ended = ended or (self.stopped and self.stopped_by in self._ends)
        rest = self._decoder.decode(b"", final=True) if ended else ""
        self._advance(rest, Origin.TARGET, last=True)
        while self._state.call is not None:
            self._state.end_call(broken=not ended)
            self._look_again()
            self._advance("", Origin.TARGET, last=True)
        self._state.finish(ended)
        return self._state.pieces()

    @property
    def _marks(self) -> tuple[str, ...]:
        """The marks and stop strings that count in the present state."""
        state = self._state
        if not state.in_words:
            return state.marks
        # thoughts are the model's own: what ends an answer does not end them
        stops = () if state.kind is PartKind.REASONING else self._stop
        return (*stops, *self._ends, *state.marks)

    def _advance(self, text: str, origin: Origin, last: bool) -> None:
        if self.stopped:
            return
        state, held = self._state, self._held
        held.add(text, origin)
        while True:
            marks = self._marks
            found = held.first(self._looked_for(marks))
            if found is None:
                keep = 0 if last else held.unsure(marks)
                if self._take(len(held.text) - keep):
                    continue
                break
            at, mark = found
            if mark in self._stop or mark in self._ends:
                self._take(at)
                held.clear()
                self.stopped, self.stopped_by = True, mark
                return
            if _in_argument(state.call, mark, held.text[:at]):
                self._take(at + len(mark))
                continue
            if self._take(at) or mark not in state.marks:
                # the text before it made it plain text
                continue
            held.drop(len(mark))
            state.apply(mark)
            self._look_again()
        if state.header is not None and len(state.header) > LONGEST_HEADER:
            state.release()

    def _looked_for(self, marks: Sequence[str]) -> list[tuple[str, int]]:
        """The marks, each with the position from which it counts: line breaks between a mark and
        the text are no stop string."""
        held = self._held.text
        blank = len(held) - len(held.lstrip("\n")) if self._state.trims else 0
        return [
            (mark, blank if mark in self._stop and not mark.strip("\n") else 0) for mark in marks
        ]

    def _take(self, count: int) -> bool:
        """Take `count` held characters; True if there is text to look at again."""
        for text, origin in self._held.take(count):
            if not self._state.take(text, origin):
                # the rest of it, too
                break
        return self._look_again()

    def _look_again(self) -> bool:
        text = self._state.again()
        if text:
            self._held.give_back(text)
        return bool(text)


def _in_argument(call: OpenCall | None, mark: str, held: str) -> bool:
    """True if a mark is letters of an argument: one that code has, too, inside a string."""
    return call is not None and mark[0] != "<" and in_string(call.raw + held)

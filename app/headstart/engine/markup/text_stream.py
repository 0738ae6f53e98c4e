"""Turns tokens' bytes into text pieces: whole characters, stop strings held back, reasoning
separate.

Pure; one instance per reply. Every piece keeps the origin of its token.
"""

from __future__ import annotations

import codecs
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from headstart.core.chats.parts import Origin, OriginRun, PartKind, append_run
from headstart.core.events import TextPiece
from headstart.core.requests import WrittenSoFar
from headstart.engine.markup.formats import THINK, Mark, ReplyFormat
from headstart.engine.markup.open_call import OpenCall
from headstart.engine.markup.tool_calls.values import in_string

# a longer header is text
LONGEST_HEADER = 96


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
    ) -> None:
        """`tokens`: the marks that are special tokens; spelled as plain text they count as text.
        `tools`: schemas of the offered tools by name; None if unknown."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = tuple(text for text in stop if text)
        self._form = form
        self._plain = {text: mark for text, mark in form.marks.items() if text not in tokens}
        self._kind = PartKind.TEXT
        # None outside a header
        self._header: str | None = None
        self._tools = tools
        self._bare_calls = form.calls is not None and form.calls.bare
        # whether text that was given to a call is to be looked at again
        self._again = False
        self.call: OpenCall | None = None
        # whole calls so far: name and arguments
        self.calls: list[tuple[str, str]] = []
        self._closing = False
        # true while an opening mark may be plain text, as no text has come yet
        self._fresh = True
        self._marked = False
        self._trim = False
        self._held = ""
        self._runs: list[OriginRun] = []
        self._written: dict[PartKind, list[str]] = {PartKind.TEXT: [], PartKind.REASONING: []}
        self._marks = self._expected()
        self.stopped = False
        self.stopped_by = ""

    @property
    def text(self) -> str:
        return "".join(self._written[PartKind.TEXT])

    @property
    def reasoning(self) -> str:
        return "".join(self._written[PartKind.REASONING])

    @property
    def so_far(self) -> WrittenSoFar:
        """The text so far, with the part that is held back."""
        reasoning, text = self.reasoning, self.text
        if self._header is None and self.call is None and self._kind is PartKind.REASONING:
            return WrittenSoFar(reasoning + self._held, text)
        held = self._held if self._header is None and self.call is None else ""
        return WrittenSoFar(reasoning, text + held, closed=True)

    @property
    def reasons(self) -> bool:
        """True if the next text is reasoning."""
        return self._header is None and self.call is None and self._kind is PartKind.REASONING

    @property
    def in_text(self) -> bool:
        """True if the next text belongs to the answer: neither to reasoning nor to a header or
        call."""
        inside = self._header is not None or self.call is not None or self._closing
        return self._kind is PartKind.TEXT and not inside

    def follow(self, prompt: str, so_far: str = "") -> None:
        """Begin in the state after the end of a prompt (its part after the last message's text) and
        the reply so far."""
        stop, plain = self._stop, self._plain
        self._stop, self._plain = (), dict(self._form.marks)
        self._marked, self._fresh = True, True
        for text in (prompt, so_far):
            self._follow(text)
        self._fresh = not so_far
        self._trim = bool(so_far) and self._trim
        self._stop, self._plain = stop, plain
        self._held, self._runs = "", []
        for pieces in self._written.values():
            pieces.clear()
        self._marks = self._expected()

    def push(
        self, data: bytes, origin: Origin = Origin.TARGET, mark: str | None = None
    ) -> list[TextPiece]:
        """Text to show after these bytes; nothing after `stopped`. `mark`: the token is this mark
        of the format."""
        if mark is not None:
            pieces = self._advance("", origin, last=True)
            if not self.stopped:
                self._apply(mark, pieces)
            return pieces
        text = self._decoder.decode(data)
        looking = self._marks or self._held or self._trim or self.stopped or self._fresh
        if not looking and self._header is None and self.call is None:
            # nearly every token: no mark to look for
            if not text:
                return []
            self._written[self._kind].append(text)
            return [TextPiece(self._kind, text, origin)]
        return self._advance(text, origin, last=False)

    @property
    def all_shown(self) -> bool:
        """True if nothing is held back and all text so far is complete."""
        inside = self._header is not None or self.call is not None
        return not (self._held or self.incomplete or inside or self.stopped)

    @property
    def incomplete(self) -> int:
        """Bytes of an incomplete character."""
        return len(self._decoder.getstate()[0])

    def finish(self, ended: bool = True) -> list[TextPiece]:
        """The text held back: the reply ended before it became a stop string or a mark.

        If the reply was stopped from outside (not `ended`), an incomplete character is dropped; the
        model's own broken bytes appear as a replacement character.
        """
        rest = self._decoder.decode(b"", final=True) if ended else ""
        pieces = self._advance(rest, Origin.TARGET, last=True)
        while self.call is not None:
            self._end_call(pieces, broken=not ended)
            pieces += self._advance("", Origin.TARGET, last=True)
        if self._header is not None and not self._is_header(self._header):
            self._release(pieces)
        return pieces

    def _advance(self, text: str, origin: Origin, last: bool) -> list[TextPiece]:
        if self.stopped:
            return []
        self._held += text
        append_run(self._runs, len(text), origin)
        pieces: list[TextPiece] = []
        while True:
            self._again = False
            found = [(at, mark) for mark in self._marks if (at := self._held.find(mark)) >= 0]
            if not found:
                keep = 0 if last else self._unsure()
                self._take(len(self._held) - keep, pieces)
                if self._again:
                    continue
                break
            # the first match, the longest at its position
            at, mark = min(found, key=lambda one: (one[0], -len(one[1])))
            if mark in self._stop:
                self._take(at, pieces)
                self._held, self._runs = "", []
                self.stopped, self.stopped_by = True, mark
                return pieces
            if _in_argument(self.call, mark, self._held[:at]):
                self._take(at + len(mark), pieces)
                continue
            self._take(at, pieces)
            if self._again or mark not in self._marks:
                # the text before it made it plain text
                continue
            self._take(len(mark), None)
            self._apply(mark, pieces)
        if self._header is not None and len(self._header) > LONGEST_HEADER:
            self._release(pieces)
        return pieces

    def _follow(self, text: str) -> None:
        while True:
            marks = [mark for mark in self._plain if mark != "\n" or self._header is not None]
            found = [(at, mark) for mark in marks if (at := text.find(mark)) >= 0]
            if not found:
                break
            at, mark = min(found, key=lambda one: (one[0], -len(one[1])))
            if self._header is not None:
                self._header += text[:at]
            self._change(self._plain[mark])
            text = text[at + len(mark) :]
        if self._header is not None:
            self._header += text
        elif text.strip():
            self._trim = False

    def _apply(self, text: str, pieces: list[TextPiece]) -> None:
        """Apply the mark with this text to the text after it."""
        mark = self._form.marks[text]
        if self.call is not None:
            if mark in (Mark.CALL, Mark.IN_CALL) or text in self.call.form.marks:
                self._into_call(text, Origin.TARGET, pieces)
                return
            self._end_call(pieces)
        if mark is Mark.IN_CALL:
            return
        if mark is Mark.CALL and self._form.calls is not None:
            self._header = None
            self._open_call(text)
            return
        header = self._header or ""
        if mark in (Mark.BODY, Mark.TEXT) and header.strip():
            if self._form.nameless_thoughts and not self._is_header(header):
                # a thought that was begun without the word for it
                self._begin(PartKind.REASONING)
                self._put(header + ("\n" if mark is Mark.BODY else ""), Origin.TARGET, pieces)
                if mark is Mark.BODY:
                    self._marks = self._expected()
                    return
            elif mark is Mark.BODY and (tool := self._form.tool_in(header)) is not None:
                self._begin(PartKind.TEXT)
                self._open_call(f"{header}{text}", tool)
                return
        self._change(mark)

    def _open_call(self, mark: str, name: str = "") -> None:
        assert self._form.calls is not None
        thinking = self._kind is PartKind.REASONING
        count = len(self.calls)
        self.call = OpenCall(self._form.calls, mark, self._tools, thinking, count)
        if name:
            self.call.named(name)
        if self._bare_calls:
            self.call.push(mark, Origin.TARGET)
        self._marks = self._expected()

    def _into_call(self, text: str, origin: Origin, pieces: list[TextPiece]) -> None:
        assert self.call is not None
        pieces += self.call.push(text, origin)
        if self.call.done:
            self._end_call(pieces)

    def _end_call(self, pieces: list[TextPiece], broken: bool = False) -> None:
        """A call is whole, or its message ended, or was cut; text that is no call is looked at
        again."""
        call, self.call = self.call, None
        assert call is not None
        pieces += call.finish(broken)
        if call.rejected:
            self._marks = self._expected()
            self._put(call.mark, Origin.TARGET, pieces)
        else:
            self.calls += call.calls
            self._begin(PartKind.TEXT)
            self._marks = self._expected()
        rest = call.given_back
        if call.rejected and self._bare_calls:
            rest = rest.removeprefix(call.mark)
        if rest:
            self._held, self._again = rest + self._held, True
            self._runs.insert(0, OriginRun(len(rest), Origin.TARGET))

    def _change(self, mark: Mark) -> None:
        """Apply a mark's change of state, without output."""
        self._marked = True
        if mark in (Mark.CALL, Mark.IN_CALL):
            return
        if mark in (Mark.HEADER, Mark.CLOSING):
            # one header may contain several of these marks
            self._header = f"{self._header} " if self._header else ""
            self._closing = mark is Mark.CLOSING
        elif mark is Mark.BODY:
            words = set((self._header or "").split())
            thinks = bool(words & self._form.thinking) and not self._closing
            self._begin(PartKind.REASONING if thinks else PartKind.TEXT)
        elif mark is not Mark.SAME:
            self._begin(PartKind.REASONING if mark is Mark.REASONING else PartKind.TEXT)
        self._marks = self._expected()

    def _begin(self, kind: PartKind) -> None:
        self._header, self._closing = None, False
        self._kind, self._trim = kind, True
        # after reasoning, text may begin with another mark
        self._fresh = kind is PartKind.TEXT

    def _expected(self) -> tuple[str, ...]:
        """The marks and stop strings that count in the present state."""
        if self.call is not None:
            # a header's marks end a call that has only its arguments; a line's end may stand in
            # these, and the reader knows where they are whole
            ends = (Mark.HEADER, Mark.BODY) if self.call.form.header else ()
            own = self.call.form.marks
            return tuple(
                text
                for text, mark in self._plain.items()
                if mark in ends and text not in own and text != "\n"
            )
        if self._header is not None:
            inside = (Mark.BODY, Mark.HEADER, Mark.REASONING, Mark.TEXT, Mark.CALL)
            return tuple(text for text, mark in self._plain.items() if mark in inside)
        marks = []
        for text, mark in self._plain.items():
            if mark in (Mark.BODY, Mark.IN_CALL):
                continue
            if (
                self._form.anywhere
                or (mark is Mark.CALL and (self._fresh or not self._bare_calls))
                or (mark is Mark.TEXT and (self._kind is PartKind.REASONING))
                or (mark is Mark.TEXT and self._marked and self._fresh)
                or (mark is Mark.SAME and self._marked)
                or (mark in (Mark.REASONING, Mark.HEADER) and self._fresh)
            ):
                marks.append(text)
        return (*self._stop, *marks)

    def _unsure(self) -> int:
        """Length of the longest tail that may still become a mark."""
        limit = max((len(mark) for mark in self._marks), default=1) - 1
        for size in range(min(limit, len(self._held)), 0, -1):
            tail = self._held[-size:]
            if any(mark.startswith(tail) for mark in self._marks):
                return size
        return 0

    def _is_header(self, text: str) -> bool:
        words = self._form.words
        return all(word in words or word.startswith("to=") for word in text.split())

    def _release(self, pieces: list[TextPiece]) -> None:
        """Emit a mistaken header as text."""
        text, self._header = (self._header or "").lstrip(), None
        self._begin(PartKind.TEXT)
        self._fresh = self._trim = False
        self._marks = self._expected()
        self._put(text, Origin.TARGET, pieces)

    def _take(self, count: int, pieces: list[TextPiece] | None) -> None:
        """Move `count` held characters into `pieces`, or drop them for None."""
        while count > 0:
            run = self._runs[0]
            size = min(count, run.length)
            text, self._held = self._held[:size], self._held[size:]
            if size == run.length:
                self._runs.pop(0)
            else:
                self._runs[0] = OriginRun(run.length - size, run.origin)
            count -= size
            if pieces is None:
                continue
            if self.call is not None:
                self._into_call(text, run.origin, pieces)
                if self.call is None:
                    # the rest is looked at again, from where the call ended
                    return
                continue
            if self._header is not None:
                self._header += text
                continue
            if self._trim:
                text = text.lstrip("\n")
            if text:
                self._put(text, run.origin, pieces)

    def _put(self, text: str, origin: Origin, pieces: list[TextPiece]) -> None:
        self._trim = False
        self._written[self._kind].append(text)
        if self._fresh and not text.isspace():
            self._fresh = False
            self._marks = self._expected()
        if pieces and pieces[-1].kind is self._kind and pieces[-1].origin is origin:
            text = pieces.pop().text + text
        pieces.append(TextPiece(self._kind, text, origin))


def _in_argument(call: OpenCall | None, mark: str, held: str) -> bool:
    """True if a mark is letters of an argument: one that code has, too, inside a string."""
    return call is not None and mark[0] != "<" and in_string(call.raw + held)

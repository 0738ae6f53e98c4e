"""The state of a reply that is read: in reasoning or text, in a header or in a call. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from typing import Any

from headstart.core.chats.parts import Origin, PartKind
from headstart.core.events import TextPiece
from headstart.core.requests import WrittenSoFar
from headstart.engine.markup.considered import ConsideredCalls, Looked, ThoughtPiece
from headstart.engine.markup.formats import Mark, ReplyFormat
from headstart.engine.markup.open_call import OpenCall

# a longer header is text
LONGEST_HEADER = 96


class ReplyState:
    """Takes text and marks, in order, and makes pieces of them. `kind` is that of the next text,
    `call` the one that is open, `calls` are the whole ones: name and arguments."""

    def __init__(
        self,
        form: ReplyFormat,
        tokens: Collection[str],
        tools: Mapping[str, Mapping[str, Any]] | None,
    ) -> None:
        """See `TextStream`."""
        self._form = form
        self._plain = {text: mark for text, mark in form.marks.items() if text not in tokens}
        self.kind = PartKind.TEXT
        # None outside a header; the mark that began it
        self.header: str | None = None
        self._header_mark = ""
        self._closing = False
        self._tools = tools
        self._bare_calls = form.calls is not None and form.calls.bare
        self.call: OpenCall | None = None
        self.calls: list[tuple[str, str]] = []
        self.considered = ConsideredCalls(form.calls, tools)
        # thoughts that are looked at again
        self._queue: deque[ThoughtPiece] = deque()
        # text behind a call that has to be looked at again
        self._given_back = ""
        # true while an opening mark may be plain text, as no text has come yet
        self.fresh = True
        self._marked = False
        # line breaks before the next text belong to the mark before them
        self.trims = False
        self._written: dict[PartKind, list[str]] = {PartKind.TEXT: [], PartKind.REASONING: []}
        self._pieces: list[TextPiece] = []
        self.marks = self._expected()

    def written(self, kind: PartKind) -> str:
        """The text or the reasoning so far."""
        return "".join(self._written[kind])

    @property
    def in_words(self) -> bool:
        """True if the next text is neither that of a header nor of a call."""
        return self.header is None and self.call is None

    @property
    def in_text(self) -> bool:
        return self.kind is PartKind.TEXT and self.in_words and not self._closing

    def so_far(self, held: str) -> WrittenSoFar:
        """All text so far; `held` is what comes next."""
        reasoning, text = self.written(PartKind.REASONING), self.written(PartKind.TEXT)
        if self.in_words and self.kind is PartKind.REASONING:
            return WrittenSoFar(reasoning + self.considered.held + held, text)
        return WrittenSoFar(reasoning, text + held if self.in_words else text, closed=True)

    def pieces(self) -> list[TextPiece]:
        """The pieces since the last time."""
        found, self._pieces = self._pieces, []
        return found

    def again(self) -> str:
        """Text to look at again, before all other."""
        found, self._given_back = self._given_back, ""
        return found

    def follow(self, prompt: str, so_far: str) -> None:
        """Take the end of a prompt, and the reply so far, without pieces."""
        plain, self._plain = self._plain, dict(self._form.marks)
        self._marked, self.fresh = True, True
        for text in (prompt, so_far):
            self._follow(text)
        self.fresh = not so_far
        self.trims = bool(so_far) and self.trims
        self._plain = plain
        for written in self._written.values():
            written.clear()
        self.marks = self._expected()

    def say(self, text: str, origin: Origin) -> TextPiece:
        """The piece of a text that certainly has no mark."""
        self._written[self.kind].append(text)
        return TextPiece(self.kind, text, origin)

    def take(self, text: str, origin: Origin) -> bool:
        """Take text without marks; False if it ended a call."""
        if self.call is not None:
            self._into_call(text, origin)
            return self.call is not None
        if self.header is not None:
            self.header += text
            return True
        if self.trims and not self.considered.active:
            text = text.lstrip("\n")
        if text:
            self._consider(ThoughtPiece(text, origin))
        return True

    def apply(self, text: str) -> None:
        """Take the mark with this text."""
        mark = self._form.marks[text]
        if self.call is not None:
            if mark in (Mark.CALL, Mark.IN_CALL) or text in self.call.form.marks:
                self._into_call(text, Origin.TARGET)
                return
            self.end_call()
        if self.kind is PartKind.REASONING and self._within_thoughts(text, mark):
            return
        if mark is Mark.IN_CALL:
            return
        if mark is Mark.CALL and self._form.calls is not None:
            self._begin(PartKind.TEXT)
            self._open_call(text)
            return
        header = self.header or ""
        if mark in (Mark.BODY, Mark.TEXT) and header.strip():
            if self._form.nameless_thoughts and not self._form.is_header(header):
                # a thought that was begun without the word for it
                self._begin(PartKind.REASONING)
                self._put(header + ("\n" if mark is Mark.BODY else ""), Origin.TARGET)
                if mark is Mark.BODY:
                    self.marks = self._expected()
                    return
            elif mark is Mark.BODY and (tool := self._form.tool_in(header)) is not None:
                self._begin(PartKind.TEXT)
                self._open_call(f"{header}{text}", tool)
                return
        if mark in (Mark.HEADER, Mark.CLOSING):
            self._header_mark = text
        self._change(mark)

    def end_call(self, broken: bool = False) -> None:
        """A call is whole, or its message ended, or was `broken` off; text that is no call is
        looked at again."""
        call, self.call = self.call, None
        assert call is not None
        self._pieces += call.finish(broken)
        if call.rejected:
            self.marks = self._expected()
            self._put(call.mark, Origin.TARGET)
        else:
            self.calls += call.calls
            self._begin(PartKind.TEXT)
            self.marks = self._expected()
        rest = call.given_back
        if call.rejected and self._bare_calls:
            rest = rest.removeprefix(call.mark)
        self._given_back = rest

    def finish(self, ended: bool) -> None:
        """The reply is over, `ended` by the model itself: calls in thoughts that it never ended
        are calls."""
        if self.header is not None and not self._form.is_header(self.header):
            self.release()
        open_thoughts = ended and self.header is None
        while open_thoughts and self.considered.reading:
            self._think(self.considered.finish())
        if open_thoughts:
            made, calls = self.considered.made(len(self.calls))
            self._pieces += made
            self.calls += calls
        self._think(self.considered.forget())

    def release(self) -> None:
        """A mistaken header is text, or that of the thoughts around it."""
        text, self.header = (self.header or "").lstrip(), None
        if self._form.nested and self.kind is PartKind.REASONING:
            self._closing = False
            self.marks = self._expected()
            self._consider(ThoughtPiece(f"{self._header_mark}{text}", Origin.TARGET))
            return
        self._begin(PartKind.TEXT)
        self.fresh = self.trims = False
        self.marks = self._expected()
        self._put(text, Origin.TARGET)

    def _follow(self, text: str) -> None:
        while True:
            marks = [mark for mark in self._plain if mark != "\n" or self.header is not None]
            found = [(at, mark) for mark in marks if (at := text.find(mark)) >= 0]
            if not found:
                break
            at, mark = min(found, key=lambda one: (one[0], -len(one[1])))
            if self.header is not None:
                self.header += text[:at]
            self._change(self._plain[mark])
            text = text[at + len(mark) :]
        if self.header is not None:
            self.header += text
        elif text.strip():
            self.trims = False

    def _within_thoughts(self, text: str, mark: Mark) -> bool:
        """Take a mark as a part of thoughts; False where it ends or changes them."""
        header = self.header
        if header is None:
            if self.considered.reads(text) or mark is Mark.IN_CALL:
                self._consider(ThoughtPiece(text, Origin.TARGET, True))
                return True
            if mark is Mark.CALL:
                self.considered.begin(ThoughtPiece(text, Origin.TARGET, True))
                return True
            if mark in (Mark.HEADER, Mark.CLOSING) and self._form.nested:
                # what it begins, or ends, stands behind it
                return False
        elif not self._form.nested or mark is not Mark.BODY:
            return False
        elif not self._form.is_header(header, any):
            raw = ThoughtPiece(f"{self._header_mark}{header}{text}", Origin.TARGET, True)
            tool = None if self._closing else self._form.tool_in(header)
            self.header, self._closing = None, False
            if tool is None:
                self._think(self.considered.push(raw))
            else:
                self.considered.begin(raw, tool)
            self.marks = self._expected()
            return True
        if mark is Mark.REASONING:
            self._think(self.considered.let_go())
        elif mark is not Mark.SAME:
            self._think(self.considered.forget())
        return False

    def _consider(self, thought: ThoughtPiece) -> None:
        """More text, which may belong to a call in thoughts."""
        if self.considered.active:
            self._think(self.considered.push(thought))
        else:
            self._put(thought.text, thought.origin)

    def _think(self, looked: Looked) -> None:
        for said in looked.said:
            self._put(said.text, said.origin)
        # a queue that is being worked off goes on by itself
        waits = bool(self._queue)
        self._queue.extendleft(reversed(looked.again))
        while self._queue and not waits:
            one = self._queue.popleft()
            if one.is_mark:
                self.apply(one.text)
            else:
                self.take(one.text, one.origin)

    def _open_call(self, mark: str, name: str = "") -> None:
        assert self._form.calls is not None
        self.call = OpenCall(self._form.calls, mark, self._tools, False, len(self.calls))
        if name:
            self.call.named(name)
        if self._bare_calls:
            self.call.push(mark, Origin.TARGET)
        self.marks = self._expected()

    def _into_call(self, text: str, origin: Origin) -> None:
        assert self.call is not None
        self._pieces += self.call.push(text, origin)
        if self.call.done:
            self.end_call()

    def _change(self, mark: Mark) -> None:
        """Apply a mark's change of state, without output."""
        self._marked = True
        if mark in (Mark.CALL, Mark.IN_CALL):
            return
        if mark in (Mark.HEADER, Mark.CLOSING):
            # one header may contain several of these marks
            self.header = f"{self.header} " if self.header else ""
            self._closing = mark is Mark.CLOSING
        elif mark is Mark.BODY:
            words = set((self.header or "").split())
            thinks = bool(words & self._form.thinking) and not self._closing
            self._begin(PartKind.REASONING if thinks else PartKind.TEXT)
        elif mark is not Mark.SAME:
            self._begin(PartKind.REASONING if mark is Mark.REASONING else PartKind.TEXT)
        self.marks = self._expected()

    def _begin(self, kind: PartKind) -> None:
        self.header, self._closing = None, False
        self.kind, self.trims = kind, True
        # after reasoning, text may begin with another mark
        self.fresh = kind is PartKind.TEXT

    def _expected(self) -> tuple[str, ...]:
        """The marks that count in the present state."""
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
        if self.header is not None:
            inside = (Mark.BODY, Mark.HEADER, Mark.REASONING, Mark.TEXT, Mark.CALL)
            return tuple(text for text, mark in self._plain.items() if mark in inside)
        marks = []
        for text, mark in self._plain.items():
            if mark in (Mark.BODY, Mark.IN_CALL):
                continue
            if (
                self._form.anywhere
                or (mark is Mark.CALL and (self.fresh or not self._bare_calls))
                or (mark is Mark.TEXT and (self.kind is PartKind.REASONING))
                or (mark is Mark.TEXT and self._marked and self.fresh)
                or (mark is Mark.SAME and self._marked)
                or (mark in (Mark.REASONING, Mark.HEADER) and self.fresh)
            ):
                marks.append(text)
        return tuple(marks)

    def _put(self, text: str, origin: Origin) -> None:
        self.trims = False
        self._written[self.kind].append(text)
        if self.fresh and not text.isspace():
            self.fresh = False
            self.marks = self._expected()
        pieces = self._pieces
        if pieces and pieces[-1].kind is self.kind and pieces[-1].origin is origin:
            text = pieces.pop().text + text
        pieces.append(TextPiece(self.kind, text, origin))

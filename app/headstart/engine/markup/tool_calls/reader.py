"""One call, or a section of calls, of a reply as it is written. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from headstart.engine.markup.tool_calls.feed import (
    CallBegan,
    CallEnded,
    CallEvent,
    Cut,
    Feed,
    NotACall,
    Schemas,
)
from headstart.engine.markup.tool_calls.readers import Reader


class CallReader:
    """Push text from behind the opening mark until it is `done`.

    `rest` is then the text that belongs to no call: behind the last whole call, or all of it.
    `open` is true if that text has the beginning of a call whose events came already.
    """

    def __init__(self, reader: Reader, schemas: Schemas, name: str = "") -> None:
        self._feed = Feed(schemas, name)
        self._reading = reader.read(self._feed)
        # where the last whole call ended
        self._whole = 0
        # whole calls so far
        self.calls = 0
        self.open = self.done = self.cut = False

    @property
    def raw(self) -> str:
        """Everything that was pushed."""
        return self._feed.text

    @property
    def consumed(self) -> int:
        """Characters up to the end of the last whole call, and of its section."""
        return self._whole

    @property
    def rest(self) -> str:
        return self._feed.text[self._whole :]

    def push(self, text: str) -> list[CallEvent]:
        self._feed.push(text)
        return [] if self.done else list(self._run())

    def finish(self, broken: bool = False) -> list[CallEvent]:
        """The reply ended, `broken` if something cut it: `cut` if that was inside a call."""
        self._feed.end(broken)
        return [] if self.done else list(self._run())

    def _run(self) -> Iterable[CallEvent]:
        while True:
            try:
                event = next(self._reading)
            except StopIteration:
                self.done, self._whole = True, self._feed.at
                return
            except NotACall:
                self.done = True
                return
            except Cut:
                self.done, self.cut = True, self.open
                if self._whole or self.open:
                    # the call is closed, or only the end of its section is missing
                    self._whole = len(self._feed.text)
                return
            if event is None:
                return
            if isinstance(event, CallBegan):
                self.open = True
            elif isinstance(event, CallEnded):
                self.open, self._whole = False, self._feed.at
                self.calls += 1
            yield event

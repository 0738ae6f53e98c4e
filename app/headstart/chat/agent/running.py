"""Calls whose tools run, which the user can stop one by one. On the event loop's thread."""

from __future__ import annotations

from collections.abc import Callable


class RunningCalls:
    def __init__(self) -> None:
        self._stops: dict[tuple[str, int], Callable[[], object]] = {}

    def begin(self, chat_id: str, call: int, stop: Callable[[], object]) -> None:
        """A call runs, by its number in the reply; `stop` ends it."""
        self._stops[chat_id, call] = stop

    def end(self, chat_id: str, call: int) -> None:
        self._stops.pop((chat_id, call), None)

    def stop(self, chat_id: str, call: int) -> None:
        """Stop one call, and not the reply; without effect where it has ended."""
        stop = self._stops.get((chat_id, call))
        if stop is not None:
            stop()

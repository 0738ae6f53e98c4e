"""Messages that wait for the reply before them to end. Main thread."""

from __future__ import annotations

from msgspec import Struct

from headstart.core.chats.parts import OtherPart
from headstart.ui.kit.joining import commas


class Queued(Struct, frozen=True):
    text: str
    parts: tuple[OtherPart, ...] = ()

    @property
    def words(self) -> str:
        """The message as one line, for the list."""
        names = [part.name for part in self.parts if part.name]
        return " ".join(self.text.split()) or commas(names)


class Queue:
    """Queued messages by chat, in the order of sending."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Queued]] = {}

    def of(self, chat_id: str) -> tuple[Queued, ...]:
        return tuple(self._waiting.get(chat_id, ()))

    def add(self, chat_id: str, one: Queued, first: bool = False) -> None:
        waiting = self._waiting.setdefault(chat_id, [])
        waiting.insert(0 if first else len(waiting), one)

    def take(self, chat_id: str, number: int = 0) -> Queued | None:
        """Remove and return a message; None if the queue has none with this number."""
        waiting = self._waiting.get(chat_id, [])
        if not 0 <= number < len(waiting):
            return None
        one = waiting.pop(number)
        if not waiting:
            self._waiting.pop(chat_id, None)
        return one

    def discard(self, chat_id: str, one: Queued) -> bool:
        """Remove a message; False if the queue does not have it."""
        waiting = self._waiting.get(chat_id, [])
        return one in waiting and self.take(chat_id, waiting.index(one)) is not None

    def forget(self, chat_id: str) -> None:
        self._waiting.pop(chat_id, None)

    def text_of(self, chat_id: str) -> str:
        """All queued texts of a chat as one, to keep if the program ends."""
        return "\n\n".join(one.text for one in self.of(chat_id) if one.text)

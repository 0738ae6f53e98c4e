"""Reads a reply to who hears the window: sentence by sentence while it is written, and its end.
Main thread."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from headstart.core.chats.sections import ReplySections
from headstart.core.chats.values import Message
from headstart.core.markdown.words import words_of
from headstart.core.text.fences import fenced
from headstart.core.text.sentences import whole_until
from headstart.ui.kit.aloud import is_heard, tell
from headstart.ui.transcript.words import status_text
from headstart.ui.wording import say


class SpokenReply(QObject):
    """`wanted` tells whether the user wants replies read; `found` gives a message by its id."""

    def __init__(
        self,
        view: QWidget,
        wanted: Callable[[], bool],
        found: Callable[[str], Message | None],
    ) -> None:
        super().__init__(view)
        self._view, self._wanted, self._found = view, wanted, found
        self._id = ""
        self._text = ""
        self._told = 0

    def grow(self, message_id: str, sections: ReplySections) -> None:
        """Read the sentences that are whole now."""
        if not self._is_heard():
            self._id = ""
            return
        text = sections.text
        if message_id != self._id or not text.startswith(self._text[: self._told]):
            # a reply that goes on is read from here
            begun = message_id != self._id and len(text) > _SHORT
            self._id, self._told = message_id, len(text) if begun else 0
        self._text = text
        self._tell(whole_until(text, self._told))

    def set_writing(self, writing: bool) -> None:
        """Read the rest of a reply that has ended, and how it ended."""
        if not writing and self._id:
            # the message has its state a moment later
            QTimer.singleShot(0, self, self._end)

    def _end(self) -> None:
        message, self._id = self._found(self._id), ""
        if message is None or not self._is_heard():
            return
        self._tell(len(self._text))
        tell(self._view, status_text(message) or say("transcript.reply-finished"))

    def _tell(self, end: int) -> None:
        if end > self._told:
            part, self._told = self._text[self._told : end], end
            tell(self._view, spoken(part))

    def _is_heard(self) -> bool:
        # in the background, the system tells that a reply is there
        return is_heard() and self._wanted() and self._view.window().isActiveWindow()


# characters of a first piece: more are there when a reply is continued
_SHORT = 400


def spoken(markdown: str) -> str:
    """A part of a reply as words; code by its number of lines."""
    pieces, place = [], 0
    for code in fenced(markdown):
        lines = say("transcript.code-of-lines", lines=code.inside.count("\n") or 1)
        pieces += [markdown[place : code.start], lines]
        place = code.end
    return " ".join(words_of("".join([*pieces, markdown[place:]])).split())

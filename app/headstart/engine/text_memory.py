"""Texts with their tokens, kept apart for each audience. Engine thread.

Tokenizing a known text again takes no time, and replies keep the tokens that the model wrote: both
would tell one audience of another's texts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection
from functools import partial

from headstart.core.audiences import WINDOW, Audience
from headstart.engine.call_memory import CallMemory
from headstart.engine.token_finder import TokenFinder
from headstart.engine.written_replies import WrittenReplies

# a step of an earlier start as it was written, by its key; None if it is not known
Recall = Callable[[str], str | None]

REMEMBERED_CHARACTERS = 8_000_000
# audiences with texts in memory, beside the window's
_MOST_AUDIENCES = 8


class TextMemory:
    """The texts of one audience."""

    def __init__(self, recall: Recall, finder: TokenFinder) -> None:
        self._texts: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self._size = 0
        # the tokens of replies from earlier runs of the app, by a digest of their text, and the
        # chats whose replies are among them; see `reply_tokens`
        self.spelled: dict[bytes, tuple[int, ...]] = {}
        self.loaded: set[str] = set()
        # calls and replies as the model wrote them
        self.calls = CallMemory(recall)
        self.replies = WrittenReplies(finder, recall)

    def get(self, text: str) -> tuple[int, ...] | None:
        known = self._texts.get(text)
        if known is not None:
            self._texts.move_to_end(text)
        return known

    @property
    def known(self) -> Collection[str]:
        """The texts."""
        return self._texts.keys()

    def peek(self, text: str) -> tuple[int, ...] | None:
        """As `get`, for a reader of another audience: it leaves no trace."""
        return self._texts.get(text)

    def put(self, text: str, tokens: tuple[int, ...]) -> None:
        if text not in self._texts:
            self._size += len(text)
        self._texts[text] = tokens
        while self._size > REMEMBERED_CHARACTERS and len(self._texts) > 1:
            old, _ = self._texts.popitem(last=False)
            self._size -= len(old)


class TextMemories:
    """The texts of the present audience, and those that it may read."""

    def __init__(self, recall: Recall, finder: TokenFinder) -> None:
        """`recall`: a step or a reply of an earlier start, as the present audience knows it;
        `finder` knows the control tokens."""
        self._make = partial(TextMemory, recall, finder)
        self._known: OrderedDict[str, TextMemory] = OrderedDict()
        self.own = self._make()
        self.others: list[TextMemory] = []
        self.enter(WINDOW)

    def enter(self, audience: Audience) -> None:
        """Look up texts for this audience from now on."""
        self.own = self._of(audience.name)
        self.others = [self._known[one] for one in audience.reads if one in self._known]

    def forget(self, audience: str) -> None:
        """Drop an audience's texts."""
        gone = self._known.pop(audience, None)
        if gone is self.own:
            self.own = self._of(audience)

    def get(self, text: str) -> tuple[int, ...] | None:
        """The tokens of a text, if they are known."""
        known = self.own.get(text)
        found = (one.peek(text) for one in self.others)
        return known if known is not None else next((one for one in found if one), None)

    def spelled(self, digest: bytes) -> tuple[int, ...] | None:
        """The tokens of a text from an earlier run of the app."""
        for memory in (self.own, *self.others):
            known = memory.spelled.get(digest)
            if known is not None:
                return known
        return None

    @property
    def any_spelled(self) -> bool:
        return any(one.spelled for one in (self.own, *self.others))

    def _of(self, name: str) -> TextMemory:
        found = self._known.pop(name, None) or self._make()
        self._known[name] = found
        if len(self._known) > 1 + _MOST_AUDIENCES:
            oldest = next(one for one in self._known if one != WINDOW.name)
            del self._known[oldest]
        return found

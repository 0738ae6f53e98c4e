"""A target's replies in earlier chats, as sources of drafts: its own candidates (`Recycling`), and
its replies (`History`). Engine thread.

Words of private chats never come here. Which chat words come from is not noted: when one is deleted
for good, all of it goes, and the replies that are left are read once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait

from headstart.core.chats.replies import EarlierReplies
from headstart.core.models.profiles import ProfileKey, ProfileKind, Profiles
from headstart.core.models.ref import ModelRef
from headstart.engine.speculation.history import MOST, History
from headstart.engine.speculation.recycling import Recycling

# of a megabyte or two that is written, so many tokens should be new
NEWS = 4_000
# tokens that are worth sorting all of them again
_FRESH = 2_000
# characters of a token, about
_TOKEN = 4
_LOOK_SECONDS = 0.02


class EarlierChats:
    """Earlier chats of a target. `forgets` counts the times that texts of chats had to go."""

    def __init__(
        self,
        model: ModelRef,
        profiles: Profiles | None,
        replies: EarlierReplies,
        forgets: Callable[[], int] = lambda: 0,
    ) -> None:
        self.recycling, self.history = Recycling(), History()
        self._model = model
        self._key = ProfileKey(model.signature, "", "", ProfileKind.RECYCLED)
        self._profiles, self._replies = profiles, replies
        self._forgets, self._seen = forgets, forgets()
        # whether the replies of before this start were read
        self._read = False
        known = None if profiles is None else profiles.load(self._key)
        if known is not None:
            self.recycling.unpack(known)

    def begin(self) -> None:
        """A reply begins that may give and get words."""
        self.keep(NEWS)
        self.recycling.begin()
        self.history.begin()

    def wrote(self, reply: Sequence[int]) -> None:
        """The tokens of a reply."""
        self.history.add(reply)

    def keep(self, least: int = 1) -> None:
        """Write the candidates where that many tokens are new; none where a chat was deleted."""
        now = self._forgets()
        if now != self._seen:
            self._seen, self._read = now, False
            self.recycling.clear()
            self.history.clear()
        elif self.recycling.news < least:
            return
        if self._profiles is not None:
            self._profiles.save(self._key, self.recycling.pack())

    def build(self, encode: Callable[[str], list[int]]) -> Iterator[None]:
        """Read and index replies, in short pieces of work, while nothing else is to be done."""
        self.keep(NEWS)
        if not self._read:
            asked = self._replies.of(self._model.name, self._model.key, MOST * _TOKEN)
            while not asked.done():
                # a request does not wait for what storage does meanwhile
                wait((asked,), _LOOK_SECONDS)
                yield
            texts = asked.result()
            yield
            # texts since the start are among them
            self.history.clear()
            for text in texts:
                self.history.add(encode(text))
                yield
            self._read = True
        if self.history.waiting >= (_FRESH if len(self.history) else 1):
            yield from self.history.build()

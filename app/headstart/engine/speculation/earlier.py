"""Earlier chats of a target, as sources of drafts: its own candidates (`Recycling`), and its
replies (`History`). Engine thread.

Text of private chats never gets in. The source chat of a text is not recorded: when a chat is
deleted for good, everything is dropped, and the remaining replies are indexed again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait

from headstart.core.audiences import Audience
from headstart.core.chats.replies import EarlierReplies
from headstart.core.models.profiles import ProfileKey, ProfileKind, Profiles
from headstart.core.models.ref import ModelRef
from headstart.engine.speculation.history import MOST, History
from headstart.engine.speculation.recycling import Recycling

# least number of new tokens for writing the candidates, which take one or two megabytes
NEWS = 4_000
# number of new tokens that is worth sorting the whole index again
_FRESH = 2_000
# approximate characters per token
_TOKEN = 4
_LOOK_SECONDS = 0.02
# audiences whose candidates are in memory
_MOST_AUDIENCES = 4


class EarlierChats:
    """Earlier chats of a target. `forgets` counts the times that texts of chats had to be
    forgotten; `audience`: those whose chats they are, "" for the window."""

    def __init__(
        self,
        model: ModelRef,
        profiles: Profiles | None,
        replies: EarlierReplies,
        forgets: Callable[[], int] = lambda: 0,
        audience: str = "",
    ) -> None:
        self.recycling, self.history = Recycling(), History()
        self._model = model
        self._key = ProfileKey(model.signature, audience, "", ProfileKind.RECYCLED)
        self._profiles, self._replies = profiles, replies
        self._forgets, self._seen = forgets, forgets()
        # whether the replies from earlier runs of the app have been loaded
        self._read = False
        known = None if profiles is None else profiles.load(self._key)
        if known is not None:
            self.recycling.unpack(known)

    def begin(self) -> None:
        """Begin a reply that may use, and add to, the earlier text."""
        self.keep(NEWS)
        self.recycling.begin()
        self.history.begin()

    def wrote(self, reply: Sequence[int]) -> None:
        """Add the tokens of a reply."""
        self.history.add(reply)

    def keep(self, least: int = 1) -> None:
        """Save the candidates if at least `least` tokens are new; after a chat was deleted, clear
        them."""
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
        """Load and index replies, in short pieces of work, while the engine is idle."""
        self.keep(NEWS)
        if not self._read:
            asked = self._replies.of(self._model.name, self._model.key, MOST * _TOKEN)
            while not asked.done():
                # a request need not wait for the storage
                wait((asked,), _LOOK_SECONDS)
                yield
            texts = asked.result()
            yield
            # replies of this run are among them
            self.history.clear()
            for text in texts:
                self.history.add(encode(text))
                yield
            self._read = True
        if self.history.waiting >= (_FRESH if len(self.history) else 1):
            yield from self.history.build()


class EarlierByAudience:
    """The earlier chats of each audience: none drafts from another's. `make`: those of an audience,
    by its name."""

    def __init__(self, make: Callable[[str], EarlierChats]) -> None:
        self._make = make
        self._known: OrderedDict[str, EarlierChats] = OrderedDict()

    def of(self, audience: Audience) -> EarlierChats:
        """Those that this audience has written itself."""
        found = self._known.pop(audience.name, None) or self._make(audience.name)
        self._known[audience.name] = found
        while len(self._known) > _MOST_AUDIENCES:
            self._known.popitem(last=False)[1].keep()
        return found

    def keep(self) -> None:
        for one in self._known.values():
            one.keep()

    def build(self, encode: Callable[[str], list[int]]) -> Iterator[None]:
        """As `EarlierChats.build`, for all that were asked for."""
        for one in list(self._known.values()):
            yield from one.build(encode)

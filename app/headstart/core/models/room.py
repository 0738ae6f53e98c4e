"""The room of a context for the next message. Pure."""

from __future__ import annotations

from msgspec import Struct

# the room that a prompt must leave for the reply: a share of the context, at least REPLY_ROOM
# tokens, but never more than a quarter of the context
REPLY_SHARE = 1 / 8
REPLY_ROOM = 256
# an estimate must be over the limit by this much before it is told
_DOUBT = 1.2
# contexts that are offered in place of one that is too small
_STEPS = (4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576)


def prompt_limit(size: int) -> int:
    """The most tokens of a prompt in a context of `size`."""
    return size - min(max(REPLY_ROOM, int(size * REPLY_SHARE)), size // 4)


class Room(Struct, frozen=True):
    """The tokens of a chat's next prompt, and those of the message `alone`, without earlier turns.

    `limit` of a context of `size` tokens leave room for a reply. `drops`: the chat leaves its
    oldest turns out. `sure`: counted by the model, for just this message.
    """

    tokens: int
    alone: int
    limit: int
    size: int
    drops: bool = False
    sure: bool = False

    @property
    def needed(self) -> int:
        """Tokens that must fit, by the chat's rule."""
        return self.alone if self.drops else self.tokens

    @property
    def fits(self) -> bool:
        """True if the message can be answered, or if an estimate leaves that open."""
        return self.needed <= self.limit * (1 if self.sure else _DOUBT)

    def grown(self, tokens: int) -> Room:
        """The estimate for a message that has so many more tokens."""
        return Room(self.tokens + tokens, self.alone + tokens, self.limit, self.size, self.drops)


class Ways(Struct, frozen=True):
    """Ways to make room for a message: a larger context of this model (0: none is possible),
    leaving earlier turns out, another model."""

    context: int = 0
    drop: bool = False
    other: bool = False


def larger_context(needed: int, most: int) -> int:
    """The smallest context in which `needed` tokens fit with some to spare; 0 if `most` is less."""
    wanted = round(needed * 1.05)
    steps = (step for step in (*_STEPS, most) if step <= most)
    return next((step for step in sorted(steps) if prompt_limit(step) >= wanted), 0)

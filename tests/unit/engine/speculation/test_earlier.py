"""What earlier chats give to drafts: kept between starts, and gone with any chat."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from headstart.core.chats.replies import NoReplies
from headstart.core.models.profiles import ProfileKey, ProfileKind
from headstart.core.models.ref import ModelRef
from headstart.engine.decoder import Prediction
from headstart.engine.speculation.earlier import NEWS, EarlierChats

MODEL = ModelRef(Path("/models/a.gguf"), "a", 1)


class Kept:
    def __init__(self) -> None:
        self.rows: dict[ProfileKey, bytes] = {}

    def load(self, key: ProfileKey) -> bytes | None:
        return self.rows.get(key)

    def save(self, key: ProfileKey, data: bytes) -> None:
        self.rows[key] = data


class Replies(NoReplies):
    def __init__(self) -> None:
        self.texts = ["abcdefgh", "xabcdefgy"]
        self.asked = 0

    def of(self, name: str, key: str, most: int) -> Future[list[str]]:
        assert (name, key) == ("a", str(MODEL.path))
        assert most > 1000
        self.asked += 1
        found = Future[list[str]]()
        found.set_result(self.texts)
        return found


def encode(text: str) -> list[int]:
    return [ord(character) for character in text]


def learn(earlier: EarlierChats, tokens: int) -> None:
    earlier.recycling.at(1, 2)
    for number in range(tokens):
        earlier.recycling.wrote(Prediction(number, number + 1, 2.0), number)


def build(earlier: EarlierChats) -> None:
    for _ in earlier.build(encode):
        pass


def test_candidates_come_back_with_the_next_start() -> None:
    kept = Kept()
    earlier = EarlierChats(MODEL, kept, NoReplies())
    learn(earlier, 50)
    # little that is new is not worth a megabyte
    earlier.begin()
    assert not kept.rows
    earlier.keep()
    (key,) = kept.rows
    assert key.kind is ProfileKind.RECYCLED
    assert len(EarlierChats(MODEL, kept, NoReplies()).recycling) == len(earlier.recycling)
    learn(earlier, NEWS)
    before = kept.rows[key]
    earlier.begin()
    assert kept.rows[key] != before


def test_replies_of_before_are_read_once_and_indexed() -> None:
    replies = Replies()
    earlier = EarlierChats(MODEL, None, replies)
    earlier.wrote(encode("xabcdefgy"))
    build(earlier)
    build(earlier)
    assert replies.asked == 1
    chain = earlier.history.chain(encode("abcde"), 2)
    assert chain is not None
    assert list(chain.tokens) == encode("fg")
    # what was written here before the others were read is among those
    assert len(earlier.history) == len("abcdefgh") + len("xabcdefgy") + 2


def test_nothing_is_left_of_a_chat_that_is_deleted() -> None:
    gone, kept, replies = 0, Kept(), Replies()
    earlier = EarlierChats(MODEL, kept, replies, lambda: gone)
    learn(earlier, 50)
    earlier.keep()
    (key,) = kept.rows
    build(earlier)
    gone, replies.texts = 1, ["other words here"]
    earlier.begin()
    assert len(earlier.recycling) == len(earlier.history) == 0
    assert len(EarlierChats(MODEL, kept, NoReplies()).recycling) == 0
    build(earlier)
    assert replies.asked == 2
    assert earlier.history.chain(encode("abcde"), 2) is None
    assert earlier.history.chain(encode("other"), 2) is not None
    assert kept.rows[key]

"""No chat is hidden by a search: all chats with the words are found, counted, and their places come
on demand, in made libraries in which some chats have more matches than any list shows."""

from __future__ import annotations

import random
from functools import partial

import pytest

from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.databases import Databases
from headstart.chat.finding import EACH, LATEST, MORE, Finding
from headstart.core.chats.parts import text_part
from headstart.core.chats.search import FoundChats
from headstart.core.chats.values import Chat, Message, MessageStatus, Role
from headstart.storage.worker import Storage, Store
from tests.support.sampled import sampled

WORDS = ("compost", "river", "heron", "budget", "letter", "winter", "stone", "pump")
DAY = 86_400_000


def _add(messages: list[Message], chat: Chat, store: Store) -> None:
    store.messages.add(messages, chat)


class Library:
    """Random chats; `texts`: those of each chat's messages."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.texts: dict[str, list[str]] = {}
        self.titles: dict[str, str] = {}
        self.chats: list[Chat] = []
        self.messages: list[Message] = []
        for number in range(draw.randrange(1, 14)):
            key = f"{number:032}"
            title = " ".join(draw.choices(WORDS, k=2)) if draw.random() < 0.3 else f"Chat {number}"
            # a long chat has more matches than all the others together
            count = draw.choice((1, 2, 5, 180 if draw.random() < 0.2 else 9))
            said = [" ".join(draw.choices(WORDS, k=draw.randrange(1, 5))) for _ in range(count)]
            moment = 1_700_000_000_000 + draw.randrange(400) * DAY
            self.chats.append(Chat(key, title, moment, moment))
            self.texts[key], self.titles[key] = said, title
            parent = None
            for place, text in enumerate(said):
                message = Message(
                    f"{number:016}{place:016}",
                    key,
                    parent,
                    Role.USER,
                    MessageStatus.COMPLETE,
                    text_part(text),
                    moment + place,
                )
                self.messages.append(message)
                parent = message.id
        self.query = " ".join(draw.sample(WORDS, draw.choice((1, 1, 2))))

    async def stored(self, storage: Storage) -> None:
        for chat in self.chats:
            own = [one for one in self.messages if one.chat_id == chat.id]
            await storage.run(partial(_add, own, chat))
        while await storage.run(lambda store: store.search.build()):
            pass

    def expected(self) -> dict[str, int]:
        """Chats with all words in a message or in the title, and the numbers of such messages."""
        wanted = self.query.split()
        counts = {
            chat_id: sum(all(word in text.split() for word in wanted) for text in texts)
            for chat_id, texts in self.texts.items()
        }
        titled = {one for one, title in self.titles.items() if all(w in title for w in wanted)}
        return {one: count for one, count in counts.items() if count or one in titled}


@pytest.mark.parametrize("seed", sampled(range(500), *range(25)))
async def test_no_chat_is_hidden(seed: int) -> None:
    library, storage = Library(seed), Storage(None)
    try:
        await library.stored(storage)
        databases = Databases(storage, Broadcast())
        finding = Finding(databases, Background(), Broadcast())
        found = await finding.find(library.query)
        assert found.whole
        assert {one.chat_id: one.count for one in found.chats} == library.expected()
        words = library.query.split()
        names = [all(word in one.title for word in words) for one in found.chats]
        assert names == sorted(names, reverse=True), "titles come first"
        for chat in found.chats:
            assert len(chat.messages) == min(EACH, chat.count)
            places = [one.message_id for one in chat.messages]
            while len(places) < chat.count:
                more = await finding.places(library.query, chat.chat_id, len(places))
                assert 0 < len(more) <= MORE
                places += [one.message_id for one in more]
            assert len(set(places)) == len(places) == chat.count
    finally:
        storage.close()


async def test_a_quick_search_says_that_it_is_not_whole() -> None:
    storage = Storage(None)
    try:
        text = "compost"
        for number in range(3):
            key = f"{number:032}"
            own = [
                Message(
                    f"{number:016}{place:016}",
                    key,
                    None,
                    Role.USER,
                    MessageStatus.COMPLETE,
                    text_part(text),
                    place,
                )
                for place in range(LATEST)
            ]
            chat = Chat(key, "Chat", 1, 1)
            await storage.run(partial(_add, own, chat))
        while await storage.run(lambda store: store.search.build()):
            pass
        finding = Finding(Databases(storage, Broadcast()), Background(), Broadcast())
        quick: FoundChats = await finding.find("compost", quick=True)
        assert not quick.whole
        assert len(quick.chats) == 1
        whole = await finding.find("compost")
        assert whole.whole
        assert whole.messages == 3 * LATEST
    finally:
        storage.close()

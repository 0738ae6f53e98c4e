"""Words of chats leave what drafts from earlier chats, whenever a chat may no longer give them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headstart.chat.chat_list import ChatList
from headstart.chat.choices import Choices
from headstart.chat.prefixes import Prefixes
from headstart.core.models.profiles import ProfileKey, ProfileKind
from headstart.core.settings.schema import ChatOptions
from headstart.engine.prefix.store import PrefixStore
from headstart.storage.adapters.prefix_index import StoredPrefixes
from tests.support.answers import Talk

TABLE = ProfileKey("a model", "", "", ProfileKind.RECYCLED)
SPEEDS = ProfileKey("a model", "a draft", "cpu")


class Keeping:
    """The verbs with a store of prefixes, and what a model kept of chats."""

    def __init__(self, talk: Talk, folder: Path) -> None:
        self.talk = talk
        self.store = PrefixStore(folder / "prefixes", StoredPrefixes(talk.storage))
        prefixes = Prefixes(self.store.controls, talk.preferences, talk.broadcast)
        self.choices = Choices(talk.databases, talk.answering, talk.preferences, prefixes)
        self.chat_list = ChatList(
            talk.databases, talk.replies, prefixes, talk.preferences, talk.background
        )

    async def keep(self) -> None:
        def save(store: Any) -> None:
            for key in (TABLE, SPEEDS):
                store.profiles.save(key, b"{}")

        await self.talk.storage.run(save)

    async def kept(self) -> list[bool]:
        def look(store: Any) -> list[bool]:
            return [store.profiles.load(key) is not None for key in (TABLE, SPEEDS)]

        return await self.talk.storage.run(look)


@pytest.fixture
def keeping(talk: Talk, tmp_path: Path, loop: asyncio.AbstractEventLoop) -> Iterator[Keeping]:
    async def make() -> Keeping:
        return Keeping(talk, tmp_path)

    found = loop.run_until_complete(make())
    yield found
    found.store.close(5)


async def test_a_chat_that_may_no_longer_be_kept_takes_the_words_with_it(
    keeping: Keeping, chat: str
) -> None:
    await keeping.talk.say(chat, "Rivers")
    await keeping.keep()
    await keeping.choices.set_options(chat, ChatOptions(keep_on_disk=True))
    assert (keeping.store.controls.forgets, await keeping.kept()) == (0, [True, True])
    await keeping.choices.set_options(chat, ChatOptions(keep_on_disk=False))
    assert keeping.store.controls.forgets == 1
    assert await keeping.kept() == [False, True], "measured speeds are no words"
    await keeping.choices.set_options(chat, ChatOptions(keep_on_disk=False))
    assert keeping.store.controls.forgets == 1


async def test_words_go_before_and_after_a_chat_is_removed_for_good(
    keeping: Keeping, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keeping.talk.say(chat, "Rivers")
    database = keeping.talk.databases.of(chat)
    purge, counts = database.purge, []

    async def counted(chat_id: str) -> list[str]:
        counts.append(keeping.store.controls.forgets)
        return await purge(chat_id)

    monkeypatch.setattr(database, "purge", counted)
    monkeypatch.setattr(keeping.talk.databases, "of", lambda _chat: database)
    await keeping.chat_list.delete(chat)
    assert keeping.store.controls.forgets == 0, "it can still be brought back"
    await keeping.chat_list.delete_for_good([chat])
    # what is written while it is removed must not keep them, nor what was on its way
    assert counts == [1]
    assert keeping.store.controls.forgets == 2


async def test_a_private_chat_has_nothing_to_take_with_it(keeping: Keeping) -> None:
    private = keeping.talk.chat_list.begin(private=True).id
    await keeping.talk.say(private, "Rivers")
    await keeping.chat_list.delete(private)
    await keeping.chat_list.end_undo()
    assert keeping.store.controls.forgets == 0

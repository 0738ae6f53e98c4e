"""The list of chats and the trash, over a real database."""

from __future__ import annotations

import pytest

from headstart.chat import chat_list
from headstart.chat.changes import ChatChanged, What
from headstart.core.errors import EnvironmentProblem
from tests.support.answers import Answer, Talk


async def _titles(talk: Talk) -> list[str]:
    return [chat.title for chat in await talk.chat_list.summaries()]


async def test_a_chat_is_renamed_and_pinned_and_says_so(talk: Talk, chat: str) -> None:
    await talk.say(chat, "Rivers")
    talk.listen(ChatChanged)
    await talk.chat_list.rename(chat, "  Long\n rivers ")
    await talk.chat_list.pin(chat, True)
    summary = await talk.chat_list.summary(chat)
    assert summary is not None
    assert (summary.title, summary.pinned, summary.messages) == ("Long rivers", True, 2)
    assert talk.told == [ChatChanged(chat, What.TITLE), ChatChanged(chat, What.PINNED)]
    await talk.chat_list.rename(chat, "  ")
    assert await _titles(talk) == ["New chat"]


async def test_a_deleted_chat_is_in_the_trash_and_comes_back_whole(talk: Talk, chat: str) -> None:
    await talk.say(chat, "Rivers")
    await talk.chat_list.delete(chat)
    assert await _titles(talk) == []
    (trashed,) = await talk.chat_list.trash()
    assert (trashed.id, trashed.title, trashed.messages) == (chat, "Rivers", 2)
    await talk.chat_list.undo_delete(chat)
    assert await talk.chat_list.trash() == []
    assert (await talk.texts(chat))[0] == "Rivers"


async def test_deleting_a_chat_stops_its_reply(talk: Talk, chat: str) -> None:
    talk.answerer.answers = [Answer(["Rivers"], hold=True)]
    await talk.conversation.send(chat, "Tell me.")
    await talk.chat_list.delete(chat)
    await talk.written(chat)
    assert talk.replies.reply_in(chat) is None


async def test_what_is_deleted_for_good_is_gone(talk: Talk, chat: str) -> None:
    other = talk.databases.begin().id
    for one, text in ((chat, "Rivers"), (other, "Lakes")):
        await talk.say(one, text)
        await talk.chat_list.delete(one)
    await talk.chat_list.delete_for_good([chat])
    assert [trashed.id for trashed in await talk.chat_list.trash()] == [other]
    with pytest.raises(EnvironmentProblem, match="deleted for good"):
        await talk.chat_list.undo_delete(chat)
    await talk.chat_list.delete_for_good([other])
    assert await talk.chat_list.trash() == []
    assert await talk.branches.whole(chat) == []


async def test_the_trash_is_swept_when_the_days_are_over(talk: Talk, chat: str) -> None:
    await talk.say(chat, "Rivers")
    await talk.chat_list.delete(chat)
    await talk.chat_list.sweep()
    assert len(await talk.chat_list.trash()) == 1
    talk.background.pass_time((talk.preferences.current.trash_days + 1) * chat_list.DAY_MS / 1000)
    await talk.chat_list.sweep()
    assert await talk.chat_list.trash() == []


async def test_without_a_trash_a_chat_is_gone_when_its_undo_is_over(talk: Talk, chat: str) -> None:
    talk.preferences.update(trash_days=0)
    await talk.say(chat, "Rivers")
    await talk.chat_list.delete(chat)
    await talk.chat_list.undo_delete(chat)
    talk.background.pass_time(chat_list.UNDO_SECONDS + 1)
    await talk.background.close(5)
    assert await _titles(talk) == ["Rivers"]
    await talk.chat_list.delete(chat)
    talk.background.pass_time(chat_list.UNDO_SECONDS - 1)
    assert len(await talk.chat_list.trash()) == 1
    talk.background.pass_time(2)
    await talk.background.close(5)
    assert await talk.chat_list.trash() == []


async def test_a_private_chat_has_no_trash_and_ends_with_its_undo(talk: Talk) -> None:
    private = talk.chat_list.begin(private=True).id
    await talk.say(private, "Secret")
    (summary,) = await talk.chat_list.summaries()
    assert summary.private
    await talk.chat_list.delete(private)
    assert await talk.chat_list.trash() == []
    await talk.chat_list.end_undo()
    assert await talk.branches.whole(private) == []


async def test_a_chat_that_was_begun_is_in_no_list_until_it_has_a_message(talk: Talk) -> None:
    begun = talk.chat_list.begin().id
    assert talk.chat_list.is_begun(begun)
    assert await _titles(talk) == []
    assert await talk.chat_list.summary(begun) is None
    talk.chat_list.abandon(begun)
    assert not talk.chat_list.is_begun(begun)

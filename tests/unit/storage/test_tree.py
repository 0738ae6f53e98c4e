"""The message tree on a real SQLite file: versions, journal, recovery, undo."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from headstart.core.chats.parts import (
    Origin,
    OriginRun,
    ReasoningPart,
    TextPart,
    text_part,
)
from headstart.core.chats.values import (
    Chat,
    FinishReason,
    Message,
    MessageStatus,
    Role,
    TurnStats,
    new_id,
    now_ms,
)
from headstart.core.settings.schema import ChatOptions, SamplingChoice
from headstart.storage.chats import ChatTable
from headstart.storage.database import open_database
from headstart.storage.messages import MessageTable

FIGURES = TurnStats(FinishReason.END, 30, 20, 0.1, 0.2, 12, 0.5, seed=4)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_database(tmp_path / "a.db", tmp_path / "backups")
    yield engine
    engine.dispose()


@pytest.fixture
def chats(engine: Engine) -> ChatTable:
    return ChatTable(engine)


@pytest.fixture
def messages(engine: Engine) -> MessageTable:
    return MessageTable(engine)


@pytest.fixture
def chat(chats: ChatTable) -> Chat:
    chat = Chat(new_id(), "A chat", now_ms(), now_ms(), model="m")
    chats.create(chat)
    return chat


def _message(chat: Chat, parent: str | None, role: Role, text: str) -> Message:
    status = MessageStatus.OPEN if role is Role.ASSISTANT and not text else MessageStatus.COMPLETE
    return Message(new_id(), chat.id, parent, role, status, text_part(text), now_ms())


def _texts(messages: MessageTable, chat: Chat) -> list[str]:
    return [message.text for message in messages.branch(chat.id)]


def test_a_branch_is_the_way_down_the_active_children(messages: MessageTable, chat: Chat) -> None:
    first = _message(chat, None, Role.USER, "one")
    reply = _message(chat, first.id, Role.ASSISTANT, "answer one")
    messages.add([first, reply])
    second = _message(chat, reply.id, Role.USER, "two")
    messages.add([second])
    edited = _message(chat, first.parent_id, Role.USER, "one, edited")
    messages.add([edited])
    assert _texts(messages, chat) == ["one, edited"]
    assert messages.branch(chat.id)[0].version == 2
    messages.show_version(edited.id, -1)
    assert _texts(messages, chat) == ["one", "answer one", "two"]
    assert messages.branch(chat.id)[0].versions == 2


def test_show_version_stays_at_the_ends(messages: MessageTable, chat: Chat) -> None:
    one, two = (_message(chat, None, Role.USER, text) for text in ("a", "b"))
    messages.add([one, two])
    messages.show_version(two.id, 1)
    assert _texts(messages, chat) == ["b"]
    messages.show_version(two.id, -5)
    assert _texts(messages, chat) == ["a"]


def test_adding_is_all_or_nothing(messages: MessageTable, chat: Chat) -> None:
    good = _message(chat, None, Role.USER, "good")
    orphan = _message(chat, "no such parent", Role.ASSISTANT, "bad")
    with pytest.raises(Exception, match="FOREIGN KEY"):
        messages.add([good, orphan])
    assert messages.branch(chat.id) == []


def test_journaled_text_survives_and_is_marked_interrupted(
    messages: MessageTable, chat: Chat
) -> None:
    question = _message(chat, None, Role.USER, "why?")
    answer = _message(chat, question.id, Role.ASSISTANT, "")
    messages.add([question, answer])
    run = (OriginRun(4, Origin.TARGET),)
    messages.journal(answer.id, [ReasoningPart("hmm.", run)])
    messages.journal(answer.id, [TextPart("It ", (OriginRun(3, Origin.TARGET),))])
    messages.journal(answer.id, [TextPart("is.", (OriginRun(3, Origin.LOOKUP),))])
    assert messages.recover() == 1
    found = messages.branch(chat.id)[1]
    assert found.status is MessageStatus.INTERRUPTED
    assert (found.reasoning, found.text) == ("hmm.", "It is.")
    assert found.parts[1].origins == (OriginRun(3, Origin.TARGET), OriginRun(3, Origin.LOOKUP))
    assert messages.recover() == 0


def test_finish_writes_parts_and_figures_and_clears_the_journal(
    messages: MessageTable, chat: Chat
) -> None:
    question = _message(chat, None, Role.USER, "why?")
    answer = _message(chat, question.id, Role.ASSISTANT, "")
    messages.add([question, answer])
    messages.journal(answer.id, [TextPart("Bec")])
    messages.finish(answer.id, text_part("Because."), MessageStatus.COMPLETE, FIGURES)
    found = messages.branch(chat.id)[1]
    assert (found.text, found.status, found.stats) == (
        "Because.",
        MessageStatus.COMPLETE,
        FIGURES,
    )
    assert messages.recover() == 0


def test_delete_hides_restore_brings_back_purge_removes(
    chats: ChatTable, messages: MessageTable, chat: Chat
) -> None:
    messages.add([_message(chat, None, Role.USER, "keep me")])
    chats.delete(chat.id)
    assert chats.summaries() == []
    assert chats.get(chat.id) is None
    chats.restore(chat.id)
    found = chats.get(chat.id)
    assert found is not None
    assert found.title == chat.title
    assert _texts(messages, chat) == ["keep me"]
    chats.delete(chat.id)
    assert chats.deleted() == [chat.id]
    chats.purge(chats.deleted())
    assert messages.branch(chat.id) == []


def test_a_deleted_chat_of_any_length_is_purged(
    chats: ChatTable, messages: MessageTable, chat: Chat
) -> None:
    """SQLite refuses cascades that are more than a thousand rows deep."""
    chain: list[Message] = []
    for number in range(1500):
        parent = chain[-1].id if chain else None
        chain.append(_message(chat, parent, Role.USER, str(number)))
    messages.add(chain)
    assert len(messages.branch(chat.id)) == 1500
    chats.delete(chat.id)
    assert chats.deleted() == [chat.id]
    chats.purge(chats.deleted())
    assert messages.branch(chat.id) == []


def test_a_chat_and_its_first_messages_are_stored_together_or_not_at_all(
    chats: ChatTable, messages: MessageTable
) -> None:
    fresh = Chat(new_id(), "fresh", now_ms(), now_ms())
    orphan = _message(fresh, "no such parent", Role.USER, "x")
    with pytest.raises(Exception, match="FOREIGN KEY"):
        messages.add([orphan], fresh)
    assert chats.get(fresh.id) is None
    messages.add([_message(fresh, None, Role.USER, "x")], fresh)
    assert chats.get(fresh.id) is not None


def test_automatic_titles_never_replace_the_users(chats: ChatTable, chat: Chat) -> None:
    chats.rename(chat.id, "automatic", by_user=False)
    chats.rename(chat.id, "mine", by_user=True)
    chats.rename(chat.id, "automatic again", by_user=False)
    found = chats.get(chat.id)
    assert found is not None
    assert found.title == "mine"


def test_options_round_trip_and_pinned_come_first(chats: ChatTable, chat: Chat) -> None:
    options = ChatOptions("be brief", SamplingChoice(temperature=0.1, stop=("x",)), "drop_oldest")
    chats.set_options(chat.id, options)
    found = chats.get(chat.id)
    assert found is not None
    assert found.options == options
    newer = Chat(new_id(), "newer", now_ms() + 5, now_ms() + 5)
    chats.create(newer)
    assert [summary.id for summary in chats.summaries()] == [newer.id, chat.id]
    chats.pin(chat.id, True)
    assert [summary.id for summary in chats.summaries()] == [chat.id, newer.id]

"""The verbs of a conversation, over a real database and answers from a queue."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from headstart.chat.changes import BranchChanged, ChatChanged, ReplyEnded, Trouble, What
from headstart.core.chats.parts import FilePart, TextPart
from headstart.core.chats.values import Folder, MessageStatus
from headstart.core.errors import EnvironmentProblem
from headstart.core.settings.schema import ChatOptions
from tests.support.answers import MODEL, Answer, Talk


async def test_a_message_is_stored_with_its_chat_and_answered(talk: Talk, chat: str) -> None:
    talk.listen(ChatChanged, BranchChanged, ReplyEnded)
    talk.answerer.answers = [Answer(["Rivers ", "flow."])]
    await talk.say(chat, "Tell me about rivers.")
    question, answer = await talk.branches.whole(chat)
    assert (question.text, answer.text) == ("Tell me about rivers.", "Rivers flow.")
    assert answer.status is MessageStatus.COMPLETE
    assert (answer.model, answer.model_key, answer.model_host) == (MODEL.name, MODEL.key, None)
    assert answer.stats is not None
    stored = await talk.branches.chat(chat)
    assert stored is not None
    assert stored.title == "Tell me about rivers"
    assert talk.told == [
        ChatChanged(chat, What.ADDED), BranchChanged(chat), ReplyEnded(chat, answer.id),
    ]  # fmt: skip


async def test_an_edit_is_a_version_beside_the_old_one_and_names_the_chat(
    talk: Talk, chat: str
) -> None:
    await talk.say(chat, "Rivers")
    first = (await talk.branches.whole(chat))[0]
    await talk.conversation.edit(chat, first.id, "Lakes")
    await talk.written(chat)
    edited = (await talk.branches.whole(chat))[0]
    assert (edited.text, edited.version, edited.versions) == ("Lakes", 2, 2)
    stored = await talk.branches.chat(chat)
    assert stored is not None
    assert stored.title == "Lakes"
    await talk.conversation.show_version(chat, edited.id, -1)
    assert (await talk.texts(chat))[0] == "Rivers"


async def test_an_edit_keeps_what_belongs_to_the_message_besides_its_text(
    talk: Talk, chat: str
) -> None:
    await talk.say(chat, "Rivers")
    first = (await talk.branches.whole(chat))[0]
    blob = await talk.storage.run(lambda store: store.blobs.put(b"notes", "text/plain"))
    notes = FilePart("notes.txt", blob, "notes")
    await talk.storage.run(
        lambda store: store.messages.finish(
            first.id, (notes, TextPart("Rivers")), MessageStatus.COMPLETE, None
        )
    )
    await talk.conversation.edit(chat, first.id, "Lakes")
    await talk.written(chat)
    edited = (await talk.branches.whole(chat))[0]
    assert edited.parts == (notes, TextPart("Lakes"))


async def test_another_reply_and_going_on_with_one_that_was_stopped(talk: Talk, chat: str) -> None:
    talk.answerer.answers = [Answer(["One "], hold=True), Answer(["two."]), Answer(["Three."])]
    await talk.conversation.send(chat, "Count.")
    while not (await talk.branches.whole(chat))[1].parts:
        reply = talk.replies.reply_in(chat)
        assert reply is not None
        if reply.parts:
            break
        await asyncio.sleep(0.005)
    talk.replies.stop(chat)
    await talk.written(chat)
    answer = (await talk.branches.whole(chat))[1]
    assert (answer.text, answer.status) == ("One ", MessageStatus.STOPPED)
    await talk.conversation.continue_reply(chat, answer.id)
    await talk.written(chat)
    assert talk.answerer.asked[1].written == answer.parts
    assert await talk.texts(chat) == ["Count.", "One two."]
    await talk.conversation.regenerate(chat, answer.id)
    await talk.written(chat)
    assert await talk.texts(chat) == ["Count.", "Three."]
    assert [message.text for message in talk.answerer.asked[2].branch] == ["Count."]


async def test_a_second_message_waits_for_no_reply_and_is_refused(talk: Talk, chat: str) -> None:
    talk.answerer.answers = [Answer(hold=True)]
    await talk.conversation.send(chat, "One")
    with pytest.raises(EnvironmentProblem, match="being written"):
        await talk.conversation.send(chat, "Two")
    message = (await talk.branches.whole(chat))[0]
    with pytest.raises(EnvironmentProblem, match="being written"):
        await talk.conversation.edit(chat, message.id, "Other")
    await talk.conversation.show_version(chat, message.id, 1)
    assert len(await talk.texts(chat)) == 2


async def test_a_model_that_may_not_be_asked_leaves_nothing_stored(talk: Talk, chat: str) -> None:
    talk.answerer.refuses = True
    with pytest.raises(EnvironmentProblem, match="may not be asked"):
        await talk.conversation.send(chat, "Secret")
    assert await talk.databases.summaries() == []
    assert talk.databases.begun(chat) is not None


async def test_a_failure_keeps_what_was_written(talk: Talk, chat: str) -> None:
    talk.answerer.answers = [Answer(["Half"], fails="The model is gone.")]
    await talk.say(chat, "Tell me.")
    answer = (await talk.branches.whole(chat))[1]
    assert (answer.text, answer.status) == ("Half", MessageStatus.FAILED)
    assert answer.error == "The model is gone."


@pytest.mark.logs("a reply could not be stored")
async def test_a_reply_that_cannot_be_stored_is_shown_and_said(
    talk: Talk, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headstart.chat import reply

    monkeypatch.setattr(reply, "STORE_AGAIN", ())
    talk.listen(Trouble)
    store = await talk.storage.ready()

    def full(*_arguments: object) -> None:
        raise EnvironmentProblem(
            "as-written", message="The disk is full.", remedy="Free some space."
        )

    monkeypatch.setattr(store.messages, "finish", full)
    await talk.say(chat, "Tell me.")
    answer = (await talk.branches.whole(chat))[1]
    assert answer.text == "Yes."
    assert answer.error == "Not saved yet: The disk is full."
    (trouble,) = talk.told
    assert isinstance(trouble, Trouble)
    assert "could not be saved" in trouble.told.message


async def test_a_private_chat_is_answered_like_any_other(talk: Talk, tmp_path: Path) -> None:
    private = talk.databases.begin(private=True).id
    await talk.say(private, "xylophone")
    assert await talk.texts(private) == ["xylophone", "Yes."]
    assert talk.answerer.asked[0].chat.private
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"xylophone" not in path.read_bytes()


@pytest.mark.logs("a reply could not be stored")
async def test_a_reply_that_cannot_be_stored_ends_with_a_sentence(
    talk: Talk, chat: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the fault is: here one of ours."""
    store = await talk.storage.ready()

    def broken(*_arguments: object) -> None:
        raise UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates not allowed")

    talk.listen(Trouble, ReplyEnded)
    talk.answerer.answers = [Answer(["Rivers ", "flow"])]
    with monkeypatch.context() as patched:
        patched.setattr(store.messages, "finish", broken)
        patched.setattr(store.messages, "journal", broken)
        await talk.say(chat, "Rivers")
    assert talk.replies.reply_in(chat) is None
    trouble, ended = talk.told
    assert isinstance(trouble, Trouble)
    assert trouble.told.message
    assert isinstance(ended, ReplyEnded)
    shown = await talk.branches.whole(chat)
    assert shown[-1].status is not MessageStatus.OPEN
    # and the next one works
    talk.answerer.answers = [Answer(["Yes."])]
    await talk.say(chat, "And lakes?")
    assert (await talk.texts(chat))[-1] == "Yes."


async def test_the_first_question_of_a_folders_chat_has_the_folders_options(talk: Talk) -> None:
    """As all later ones have: else its second turn would be processed from the beginning."""
    options = ChatOptions(system_prompt="Answer in verse.")
    folder = Folder("Poems/New", options)
    await talk.storage.run(lambda store: store.folders.save(folder))
    chat = talk.databases.begin(folder=folder).id
    await talk.say(chat, "Rivers")
    await talk.say(chat, "Lakes")
    first, second = talk.answerer.asked
    assert first.chat.above == second.chat.above
    assert options in first.chat.above

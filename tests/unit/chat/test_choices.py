"""What the user chooses for a chat, over a real database."""

from __future__ import annotations

from pathlib import Path

from headstart.chat.changes import ChatChanged, What
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import ChatOptions, SamplingChoice
from tests.support.answers import Talk

OTHER = ModelRef(Path("/models/other.gguf"), "other", 1)
OPTIONS = ChatOptions(system_prompt="Be brief.", sampling=SamplingChoice(temperature=0.2))


async def test_a_model_is_that_of_the_chat_and_of_new_ones(talk: Talk, chat: str) -> None:
    await talk.say(chat, "Rivers")
    talk.listen(ChatChanged)
    await talk.choices.set_model(chat, OTHER)
    stored = await talk.branches.chat(chat)
    assert stored is not None
    assert stored.model == OTHER.key == talk.preferences.current.model
    assert talk.told == [ChatChanged(chat, What.MODEL)]


async def test_a_private_chats_model_is_not_kept(talk: Talk) -> None:
    private = talk.chat_list.begin(private=True).id
    before = talk.preferences.current.model
    await talk.choices.set_model(private, OTHER)
    assert talk.preferences.current.model == before
    found = await talk.branches.chat(private)
    assert found is not None
    assert found.model == OTHER.key


async def test_options_are_kept_before_and_after_the_first_message(talk: Talk, chat: str) -> None:
    await talk.choices.set_options(chat, OPTIONS)
    await talk.say(chat, "Rivers")
    stored = await talk.branches.chat(chat)
    assert stored is not None
    assert stored.options == OPTIONS
    assert talk.answerer.asked[0].chat.options == OPTIONS
    await talk.choices.set_options(chat, ChatOptions(keep_on_disk=False))
    stored = await talk.branches.chat(chat)
    assert stored is not None
    assert not stored.options.keep_on_disk

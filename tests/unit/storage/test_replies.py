"""Replies that drafts may be made of: of one model, of chats that are there and may be kept."""

from __future__ import annotations

from pathlib import Path

from headstart.core.chats.parts import text_part
from headstart.core.chats.values import Chat, Message, MessageStatus, Role
from headstart.core.models.profiles import ProfileKey, ProfileKind
from headstart.core.settings.schema import ChatOptions
from headstart.storage.adapters.profiles import StoredProfiles
from headstart.storage.adapters.replies import StoredReplies
from headstart.storage.worker import Storage, Store


def say(storage: Storage, chat_id: str, texts: list[str], model: str, options: ChatOptions) -> None:
    def add(store: Store) -> None:
        store.chats.create(Chat(chat_id, chat_id, 0, 0, options=options))
        parent = None
        for number, text in enumerate(texts):
            role = Role.ASSISTANT if number % 2 else Role.USER
            message = Message(
                f"{chat_id}{number}", chat_id, parent, role, MessageStatus.COMPLETE,
                text_part(text), number, model=model if role is Role.ASSISTANT else None,
            )  # fmt: skip
            store.messages.add([message])
            parent = message.id

    storage.submit(add).result()


def test_replies_are_of_one_model_and_of_chats_that_may_be_kept(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "a.db", tmp_path / "backups")
    free, kept_off = ChatOptions(), ChatOptions(keep_on_disk=False)
    say(storage, "a", ["q", "first reply", "q", "second reply"], "wide", free)
    say(storage, "b", ["q", "of another"], "small", free)
    say(storage, "c", ["q", "of a chat that is not kept"], "wide", kept_off)
    say(storage, "d", ["q", "of a deleted chat"], "wide", free)
    storage.submit(lambda store: store.chats.delete("d")).result()
    replies = StoredReplies(storage)
    assert replies.of("wide", "/m/wide.gguf", 1000).result() == ["first reply", "second reply"]
    # the latest ones, when they are many
    assert replies.of("wide", "/m/wide.gguf", 5).result() == ["second reply"]
    assert replies.of("none", "/m/none.gguf", 1000).result() == []
    storage.close()


def test_candidates_of_all_models_go_when_a_chat_is_deleted_for_good(tmp_path: Path) -> None:
    storage = Storage(tmp_path / "a.db", tmp_path / "backups")
    say(storage, "a", ["q", "a reply"], "wide", ChatOptions())
    profiles = StoredProfiles(storage)
    candidates, speeds = (
        ProfileKey("wide", "", "", ProfileKind.RECYCLED),
        ProfileKey("wide", "", "cpu"),
    )
    for key in (candidates, speeds):
        profiles.save(key, b"{}")
    assert profiles.load(candidates) == b"{}"
    storage.submit(lambda store: store.profiles.forget_words()).result()
    assert profiles.load(candidates) is None
    profiles.save(candidates, b"{}")
    storage.submit(lambda store: store.chats.delete("a")).result()
    assert profiles.load(candidates) == b"{}"
    storage.submit(lambda store: store.chats.purge(["a"])).result()
    assert profiles.load(candidates) is None
    assert profiles.load(speeds) == b"{}"
    storage.close()

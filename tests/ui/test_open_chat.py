"""What is open, and what was not sent: by id, never by comparing text."""

from __future__ import annotations

from headstart.core.chats.values import Chat, ChatDraft, Folder
from headstart.ui.open_chat import OpenChat


class Begun:
    """The two verbs that the open chat calls."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.made = 0

    def begin(self, private: bool = False, folder: Folder | None = None) -> ChatDraft:
        self.made += 1
        self.ids.append(f"new{self.made}")
        return ChatDraft(self.ids[-1], private)

    def abandon(self, chat_id: str) -> None:
        self.ids.remove(chat_id)

    def is_begun(self, chat_id: str) -> bool:
        return chat_id in self.ids


STORED = Chat("stored", "Rivers", 0, 0)


def test_a_new_chat_with_unsent_text_is_found_again() -> None:
    begun = Begun()
    chats = OpenChat(begun)
    first = chats.id
    chats.write("half a question")
    chats.open(STORED)
    assert (chats.id, chats.unsent) == ("stored", "")
    chats.begin()
    assert (chats.id, chats.unsent) == (first, "half a question")
    assert not chats.stored


def test_unsent_text_stays_when_a_new_chat_is_asked_for_again() -> None:
    begun = Begun()
    chats = OpenChat(begun)
    first = chats.id
    chats.write("half a question")
    chats.begin()
    assert (chats.id, chats.unsent) == (first, "half a question")
    chats.begin(private=True)
    chats.begin()
    assert (chats.id, chats.unsent) == (first, "half a question")


def test_a_new_chat_without_text_goes_when_another_is_begun() -> None:
    begun = Begun()
    chats = OpenChat(begun)
    first = chats.id
    chats.write("  ")
    chats.begin()
    assert chats.id != first
    assert begun.ids == [chats.id]


def test_what_was_begun_for_a_private_chat_is_forgotten_with_it() -> None:
    begun = Begun()
    chats = OpenChat(begun)
    chats.write("not private")
    first = chats.id
    chats.begin(private=True)
    assert chats.private
    chats.write("a secret")
    secret = chats.id
    chats.open(STORED)
    assert secret not in begun.ids
    chats.begin(private=True)
    assert (chats.id != secret, chats.unsent) == (True, "")
    chats.begin()
    assert (chats.id, chats.unsent) == (first, "not private")


def test_sent_text_leaves_only_the_chat_that_it_was_sent_in() -> None:
    begun = Begun()
    chats = OpenChat(begun)
    sent: list[str] = []
    chats.sent.connect(lambda: sent.append(chats.id))
    first = chats.id
    chats.write("the same words")
    chats.begin_sending(first)
    assert chats.sending
    chats.open(STORED)
    chats.write("the same words")
    assert not chats.sending
    chats.end_sending(first, stored=True)
    assert chats.unsent == "the same words"
    assert sent == []
    chats.begin_sending("stored")
    chats.end_sending("stored", stored=False)
    assert chats.unsent == "the same words"
    chats.begin_sending("stored")
    chats.end_sending("stored", stored=True)
    assert (chats.unsent, sent) == ("", ["stored"])


def test_text_that_could_not_be_sent_is_found_again_though_its_chat_was_left() -> None:
    begun = Begun()
    chats = OpenChat(begun)
    first = chats.id
    chats.write("half a question")
    chats.begin_sending(first)
    chats.open(STORED)
    chats.end_sending(first, stored=False)
    chats.begin()
    assert (chats.id, chats.unsent) == (first, "half a question")

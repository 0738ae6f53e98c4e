"""Where something of a chat may be kept: one decision."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from headstart.core.chats.values import Chat
from headstart.core.retention import Retention, decide, owner_of
from headstart.core.settings.prefix import PrefixSettings
from headstart.core.settings.schema import ChatOptions, Settings

CHAT = Chat("c", "Rivers", 0, 0)
OFF = Settings(prefix=PrefixSettings(on_disk=False))
KEPT_OUT = ChatOptions(keep_on_disk=False)


@pytest.mark.parametrize(
    ("settings", "chat", "stored", "wanted"),
    [
        (Settings(), CHAT, True, Retention.DISK),
        (Settings(), CHAT, False, Retention.MEMORY),
        (Settings(), replace(CHAT, private=True), True, Retention.MEMORY),
        (Settings(), replace(CHAT, options=KEPT_OUT), True, Retention.MEMORY),
        (OFF, CHAT, True, Retention.MEMORY),
    ],
)
def test_only_a_stored_chat_that_nobody_keeps_out_is_on_disk(
    settings: Settings, chat: Chat, stored: bool, wanted: Retention
) -> None:
    assert decide(settings, chat, stored) is wanted


def test_only_what_may_be_on_disk_has_an_owner_there() -> None:
    assert owner_of("c", Retention.DISK) == "c"
    assert owner_of("c", Retention.MEMORY) is None
    assert owner_of("c", Retention.NOTHING) is None
    assert owner_of(None, Retention.DISK) is None

"""An approval holds for a server's folder and variables, too: other ones ask again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from headstart.chat.agent.permissions import Permission
from headstart.chat.changes import ReplyEvent
from headstart.core.settings.schema import ChatOptions
from headstart.core.tool_servers.entry import Variable
from headstart.ui.transcript.call_words import about_call
from tests.support.answers import Talk
from tests.support.tool_servers import asked, calls, results, scripted

KEY = Variable("KEY", "", True)
ECHO = ("Scripted__echo", '{"text": "hello"}')


@pytest.mark.parametrize(
    ("changes", "secrets", "shown"),
    [
        ({"environment": (Variable("MODE", "write"), KEY)}, {}, "MODE=write"),
        ({"environment": (KEY,)}, {}, ""),
        ({"environment": (Variable("MODE", "read"), KEY, Variable("LD_PRELOAD", "x.so"))}, {},
         "LD_PRELOAD=x.so"),
        ({}, {"KEY": "another value"}, "KEY=••• (2)"),
        ({"folder": "/"}, {}, "folder: /"),
    ],
)  # fmt: skip
async def test_other_variables_ask_again_and_show_the_difference(
    talk: Talk, chat: str, changes: dict[str, Any], secrets: dict[str, str], shown: str
) -> None:
    draft = replace(scripted(), environment=(Variable("MODE", "read"), KEY))
    server_id, _ = await talk.servers.entries.save(draft, {"KEY": "s3cret value"})
    await talk.choices.set_options(chat, ChatOptions(tools_from=(server_id,)))
    talk.listen(ReplyEvent)
    await calls(talk, chat, ECHO)
    talk.permissions.answer(chat, (await asked(talk.told)).call, Permission.ALWAYS)
    await results(talk, chat)
    server = talk.servers.entries.get(server_id)
    assert server is not None
    # the same values again change nothing
    await talk.servers.entries.save(server, {"KEY": "s3cret value"})
    assert talk.servers.entries.get(server_id) == server
    await calls(talk, chat, ECHO)
    assert [one.text for one in await results(talk, chat)] == ["hello"]
    await talk.servers.entries.save(replace(server, **changes), secrets)
    assert talk.preferences.current.tool_approvals == ()
    await calls(talk, chat, ECHO)
    found = await asked(talk.told, 2)
    assert found.ground is not None
    told = about_call(found.ground)
    assert "differently" in told
    assert shown in told
    assert "−" in told or "+" in told
    assert "value" not in told
    assert found.ground.answers == ("once", "chat", "denied")
    talk.permissions.answer(chat, found.call, Permission.ONCE)
    assert [one.text for one in await results(talk, chat)] == ["hello"]
    # the server runs with what was agreed to
    await calls(talk, chat, ("Scripted__environment", "{}"))
    talk.permissions.answer(chat, (await asked(talk.told, 3)).call, Permission.ONCE)
    [environment] = await results(talk, chat)
    now = talk.servers.entries.get(server_id)
    assert now is not None
    for name, value in (await talk.servers.entries.values(now)).items():
        assert json.loads(environment.text)[name] == value


def test_what_was_allowed_before_there_were_variables_in_it_holds() -> None:
    bare = scripted()
    assert bare.surroundings == bare.binding
    assert replace(bare, environment=(KEY,)).surroundings != bare.binding

"""Entries for the scripted tool server, and chats that use it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from headstart.chat.changes import Change, ReplyEvent
from headstart.core.chats.parts import ToolResultPart
from headstart.core.events import ToolAsked
from headstart.core.settings.schema import ChatOptions
from headstart.core.tool_servers.entry import ToolServer, Variable
from tests.support.answers import Answer, Talk
from tests.support.patience import PATIENCE

SCRIPT = Path(__file__).with_name("scripted_tool_server.py")
T = TypeVar("T")


def scripted(*faults: str, name: str = "Scripted", secrets: tuple[str, ...] = ()) -> ToolServer:
    """An entry for the scripted server with these faults."""
    return ToolServer(
        id="",
        name=name,
        command=sys.executable,
        arguments=(str(SCRIPT), *faults),
        environment=tuple(Variable(one, "", True) for one in secrets),
    )


async def until(found: Callable[[], T | None], seconds: float = PATIENCE) -> T:
    """Wait until something is there."""
    async with asyncio.timeout(seconds):
        while (value := found()) is None:
            await asyncio.sleep(0.005)
    return value


async def add_server(talk: Talk, chat_id: str, server: ToolServer) -> str:
    """Add an entry and switch it on in a chat; returns its id."""
    server_id, _notice = await talk.servers.entries.save(server, {})
    chat = await talk.branches.chat(chat_id)
    assert chat is not None
    known = chat.options.tools_from or ()
    await talk.choices.set_options(chat_id, ChatOptions(tools_from=(*known, server_id)))
    return server_id


async def began(talk: Talk, server_id: str) -> None:
    """Start a server, and wait until it is ready."""
    await talk.servers.running.ready(server_id)


async def asked(told: list[Change], count: int = 1) -> ToolAsked:
    """The call that waits for the user's answer."""

    def look() -> ToolAsked | None:
        found = [
            one.event
            for one in told
            if isinstance(one, ReplyEvent) and isinstance(one.event, ToolAsked)
        ]
        return found[count - 1] if len(found) >= count else None

    return await until(look)


async def calls(talk: Talk, chat_id: str, *wanted: tuple[str, str]) -> None:
    """Send a message to which the model answers with these calls."""
    talk.answerer.answers = [Answer([], calls=wanted), Answer(["Done."])]
    await talk.conversation.send(chat_id, "Go.")


async def results(talk: Talk, chat_id: str) -> list[ToolResultPart]:
    """The results of the last reply."""
    await talk.written(chat_id)
    reply = (await talk.branches.whole(chat_id))[-1]
    return [part for part in reply.parts if isinstance(part, ToolResultPart)]

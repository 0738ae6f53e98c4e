"""No call of a server's tool runs without the user's word: generated sequences of calls, answers,
changed definitions, other commands and variables, restarts, over two servers with tools of the
same names."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from headstart.chat.agent.permissions import Permission
from headstart.chat.changes import ReplyEvent
from headstart.core.events import ToolAsked
from headstart.core.settings.schema import ChatOptions
from headstart.core.tool_servers.entry import ToolServer, Variable
from headstart.core.tool_servers.lists import ToolDefinition
from tests.support.answers import Answer, Talk
from tests.support.tool_session import NotedSession

SEQUENCES, STEPS = 12, 12
NAMES = ("read", "write")
HERE = ToolServer("", "Files", command="files")
AWAY = ToolServer("", "Files", url="https://tools.example.org/mcp")


class User:
    """Answers at random, and knows what it has agreed to."""

    def __init__(self, talk: Talk, session: NotedSession, rng: random.Random) -> None:
        self.talk, self.session, self.rng = talk, session, rng
        # agreed to for ever, and in a chat of this run of the program
        self.always: set[tuple[str, str, str, str]] = set()
        self.chats: set[tuple[str, str, str, str, str]] = set()
        self.private: set[str] = set()
        talk.listen(ReplyEvent)

    async def begin(self) -> None:
        for entry in (HERE, AWAY):
            server_id, _ = await self.talk.servers.entries.save(entry, {})
            for name in NAMES:
                self.session.define(server_id, ToolDefinition(name, description="First."))

    async def chat(self, private: bool) -> str:
        chat_id = self.talk.databases.begin(private=private).id
        if private:
            self.private.add(chat_id)
        ids = tuple(one.id for one in self.talk.servers.entries.all)
        await self.talk.choices.set_options(chat_id, ChatOptions(tools_from=ids))
        return chat_id

    async def call(self, chat_id: str) -> None:
        """A reply that calls a tool; what runs must be what was agreed to."""
        server = self.rng.choice(self.talk.servers.entries.all)
        tool = self.rng.choice(NAMES)
        self.talk.told.clear()
        self.session.called.clear()
        name = f"{server.prefix}__{tool}"
        self.talk.answerer.answers = [Answer([], calls=[(name, "{}")]), Answer()]
        await self.talk.conversation.send(chat_id, "Go.")
        answer, asked_for = None, None
        while self.talk.replies.reply_in(chat_id) is not None:
            asked = [
                one.event
                for one in self.talk.told
                if isinstance(one, ReplyEvent) and isinstance(one.event, ToolAsked)
            ]
            if asked and answer is None:
                assert asked[0].ground is not None
                answer = Permission(self.rng.choice(asked[0].ground.answers))
                before = self.session.tools[server.id][tool].digest
                asked_for = (server.id, server.surroundings, tool, before)
                # the ground may change while the question is on show
                if self.rng.random() < 0.3:
                    self.redefine()
                if self.rng.random() < 0.1:
                    await self.move()
                self.talk.permissions.answer(chat_id, asked[0].call, answer)
            await asyncio.sleep(0)
        digest = self.session.tools[server.id][tool].digest
        now = self.talk.servers.entries.get(server.id)
        assert now is not None
        what = (server.id, now.surroundings, tool, digest)
        once_only = chat_id in self.private and bool(server.url)
        agreed = not once_only and (what in self.always or (chat_id, *what) in self.chats)
        ran = self.session.called == [(server.id, tool, digest)]
        assert ran or self.session.called == []
        if answer is None:
            # nobody was asked: it had to be agreed to before
            assert ran
            assert agreed
            return
        assert asked_for is not None
        # what runs is what was shown
        assert ran == (answer is not Permission.DENIED and what == asked_for)
        what = asked_for
        if answer is Permission.ALWAYS:
            assert not once_only
            self.always = {one for one in self.always if (one[0], one[2]) != (server.id, tool)}
            self.always.add(what)
        elif answer is Permission.CHAT:
            assert not once_only
            self.chats.add((chat_id, *what))

    def redefine(self) -> None:
        server = self.rng.choice(self.talk.servers.entries.all)
        words = self.rng.choice(("First.", "Second.", "Sends it to a stranger."))
        tool = ToolDefinition(self.rng.choice(NAMES), description=words)
        self.session.define(server.id, tool)

    async def move(self) -> None:
        """Another command, or other variables, under the same name."""
        server = self.rng.choice(self.talk.servers.entries.all)
        values = (Variable("MODE", self.rng.choice(("read", "write"))),)[: self.rng.randint(0, 1)]
        moved = (
            replace(server, headers=values)
            if server.url
            else replace(
                server, command=self.rng.choice(("files", "other-files")), environment=values
            )
        )
        await self.talk.servers.entries.save(moved, {})
        now = self.talk.servers.entries.get(server.id)
        assert now is not None
        if now.surroundings != server.surroundings:
            self.always = {one for one in self.always if one[0] != server.id}
            self.talk.servers.running.end(server.id)

    def withdraw(self) -> None:
        for approval in self.talk.preferences.current.tool_approvals[:1]:
            self.talk.permissions.withdraw_approval(approval)
            gone = (approval.server, approval.tool)
            # the definition that was agreed to for ever is the only one of this tool
            before = {one for one in self.always if (one[0], one[2]) == gone}
            self.always -= before
            self.chats = {one for one in self.chats if one[1:] not in before}


async def _sequence(folder: Path, seed: int, steps: int) -> int:
    """Calls, mixed with everything that may change their ground, over two runs of the program."""
    rng, calls = random.Random(seed), 0
    always: set[tuple[str, str, str, str]] = set()
    tools: dict[str, dict[str, ToolDefinition]] = {}
    for run in range(2):
        session = NotedSession()
        session.tools = tools
        talk = Talk(folder, session)
        user = User(talk, session, rng)
        user.always = always
        if not run:
            await user.begin()
        chats = [await user.chat(private) for private in (False, False, True)]
        try:
            for _ in range(steps):
                act = rng.random()
                if act < 0.6:
                    await user.call(rng.choice(chats))
                    calls += 1
                elif act < 0.8:
                    user.redefine()
                elif act < 0.9:
                    await user.move()
                else:
                    user.withdraw()
        finally:
            await talk.close()
        # what is agreed to in a chat ends with the program
        always, tools = user.always, session.tools
    return calls


async def test_no_call_runs_without_the_users_word(tmp_path: Path) -> None:
    calls = 0
    for seed in range(SEQUENCES):
        calls += await _sequence(tmp_path / str(seed), seed, STEPS)
    assert calls > SEQUENCES * STEPS


@pytest.mark.proof
async def test_no_call_of_many_sequences_runs_without_the_users_word(tmp_path: Path) -> None:
    calls = 0
    for seed in range(1_000, 1_500):
        calls += await _sequence(tmp_path / str(seed), seed, 2 * STEPS)
    assert calls > 10_000

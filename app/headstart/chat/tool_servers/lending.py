"""The tools that servers lend to a chat's model: offered, asked for, called. On the event loop's
thread. Words for models stay English."""

from __future__ import annotations

import json
import logging
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.agent.permissions import Permission, ToolKey
from headstart.chat.agent.toolbox import ToolOutcome
from headstart.chat.preferences import Preferences
from headstart.chat.tool_servers.entries import ToolEntries
from headstart.chat.tool_servers.lists import ToolLists
from headstart.chat.tool_servers.results import Receiving
from headstart.chat.tool_servers.running import RunningTools
from headstart.core.chats.grounds import CallGround
from headstart.core.chats.values import Chat
from headstart.core.errors import EnvironmentProblem
from headstart.core.settings.inheritance import effective
from headstart.core.text.shown import shortened
from headstart.core.tool_servers.entry import ToolApproval, ToolServer, approval_key
from headstart.core.tool_servers.lists import ToolDefinition
from headstart.core.tool_servers.offer import (
    OfferedTool,
    OfferKind,
    Offers,
    chosen_servers,
    chosen_tools,
    describe_tool,
    plain_name,
    search_tools,
)
from headstart.core.tools import ToolSpec
from headstart.tools.session import Progress

log = logging.getLogger(__name__)

# what a model may ask of a brief offer without asking the user: nothing leaves the program
_FREE = (OfferKind.SEARCH, OfferKind.DESCRIBE)
_CHANGED = "The tool changed while the user was asked, so it was not called."
# characters of a tool's name in a question
_LONGEST_NAME = 60


class LentCall(Struct, frozen=True):
    """A call of a server's tool, ready to be asked for. `key` None: it needs no permission;
    `refusal`: it cannot be carried out, and why, to the model."""

    offer: OfferedTool
    server: ToolServer
    tool: ToolDefinition | None = None
    arguments: str = "{}"
    key: ToolKey | None = None
    ground: CallGround | None = None
    refusal: str = ""


class Lending:
    def __init__(
        self,
        entries: ToolEntries,
        lists: ToolLists,
        running: RunningTools,
        preferences: Preferences,
        receiving: Receiving,
    ) -> None:
        self._entries = entries
        self._lists = lists
        self._running = running
        self._preferences = preferences
        self._receiving = receiving
        self._offers = Offers()

    # --- offers --------------------------------------------------------------------------

    def choice(self, chat: Chat, model_key: str) -> tuple[str, ...]:
        """The servers and tools that a chat has switched on, as `core.tool_servers.offer` writes
        them, without those that were removed."""
        settings = self._preferences.current
        chosen = effective(settings, chat.options, model_key, above=chat.above).tools_from
        known = {server.id for server in self._entries.all}
        return tuple(one for one in chosen if one.partition("/")[0] in known)

    async def offers(self, chat: Chat, model_key: str) -> tuple[OfferedTool, ...]:
        """The tools that a chat's model is offered: those of the lists that servers gave last, so
        that the prompt is the same before they run."""
        choice = self.choice(chat, model_key)
        if not choice:
            return ()
        await self._lists.load(chosen_servers(choice))
        return self._offers.all(self._entries.all, self._lists.known(), choice)

    async def specs(self, chat: Chat, model_key: str) -> tuple[ToolSpec, ...]:
        return tuple(one.spec for one in await self.offers(chat, model_key))

    async def begin(self, chat: Chat, model_key: str) -> tuple[str, ...]:
        """Start the servers of a chat that sends; returns the ids of those whose tools are not
        known yet, which must be waited for."""
        chosen = chosen_servers(self.choice(chat, model_key))
        await self._lists.load(chosen)
        lists = self._lists.known()
        for server_id in chosen:
            self._running.start(server_id)
        return tuple(one for one in chosen if one not in lists)

    def name_of(self, server_id: str) -> str:
        server = self._entries.get(server_id)
        return server_id if server is None else server.name

    async def ready(self, server_id: str) -> None:
        """Wait for a server's first start. Raises EnvironmentProblem."""
        await self._running.ready(server_id)

    # --- calls ---------------------------------------------------------------------------

    async def prepare(
        self, chat: Chat, model_key: str, name: str, arguments: str
    ) -> LentCall | None:
        """A call by the name that the model wrote; None if no server lends such a tool. The server
        is started first: the user is asked about the tool as it is defined now."""
        offers = {one.spec.name: one for one in await self.offers(chat, model_key)}
        offer = offers.get(name)
        server = None if offer is None else self._entries.get(offer.server)
        if offer is None or server is None:
            return None
        call = LentCall(offer, server, arguments=arguments)
        tool_name = offer.tool
        if offer.kind is not OfferKind.TOOL:
            given = _object(arguments)
            if given is None:
                return replace(call, refusal="The arguments are no JSON object.")
            if offer.kind in _FREE:
                return call
            inner = given.get("arguments", {})
            tool_name = str(given.get("name", ""))
            # some models write the inner arguments as text
            text = inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
            call = replace(call, arguments=text)
        if _object(call.arguments) is None:
            return replace(call, refusal="The arguments are no JSON object.")
        try:
            await self._running.ready(server.id)
        except EnvironmentProblem as problem:
            return replace(call, refusal=problem.told.message)
        tools = self._tools_of(chat, model_key, server)
        tool = next((one for one in tools if one.name == tool_name), None)
        if tool is None:
            return replace(call, refusal=f"The server {server.prefix} has no tool {tool_name}.")
        key, ground = self.ask_for(chat, server, tool)
        return replace(call, tool=tool, key=key, ground=ground)

    def allowed(self, call: LentCall) -> None:
        """The user allowed a call: the tool's definition is agreed to."""
        if call.tool is not None:
            self._lists.agree(call.server, call.tool)

    async def run(self, chat_id: str, call: LentCall, progress: Progress) -> ToolOutcome:
        """Carry out an allowed call; its faults are results, too."""
        if call.refusal:
            return ToolOutcome(call.refusal, failed=True, source=call.server.name)
        if call.tool is None:
            return self._from_list(call)
        source = call.server.name
        try:
            await self._running.ready(call.server.id)
            if not self._is_as_asked(call):
                return ToolOutcome(_CHANGED, failed=True)
            # nothing is awaited between the look and the call
            found = await self._running.call(
                call.server.id, call.tool.name, call.arguments, progress
            )
        except EnvironmentProblem as problem:
            return ToolOutcome(problem.told.message, failed=True, source=source)
        return await self._receiving.outcome(chat_id, found, source)

    def _is_as_asked(self, call: LentCall) -> bool:
        """True if the entry and the tool are still those that the user was asked about."""
        server = self._entries.get(call.server.id)
        lists = self._lists.known().get(call.server.id)
        if call.tool is None or server is None or lists is None:
            return False
        tool = lists.tool(call.tool.name)
        same = server.surroundings == call.server.surroundings
        return same and tool is not None and tool.digest == call.tool.digest

    def _from_list(self, call: LentCall) -> ToolOutcome:
        """The answer of a brief offer from the server's list."""
        given = _object(call.arguments) or {}
        lists = self._lists.known().get(call.server.id)
        tools = (
            [] if lists is None else [one for one in lists.tools if one.name not in call.server.off]
        )
        if call.offer.kind is OfferKind.SEARCH:
            text = search_tools(tools, str(given.get("words", "")))
            return ToolOutcome(text, source=call.server.name)
        wanted = str(given.get("name", ""))
        tool = next((one for one in tools if one.name == wanted), None)
        if tool is None:
            return ToolOutcome(f"There is no tool {wanted}.", failed=True)
        return ToolOutcome(describe_tool(tool), source=call.server.name)

    def _tools_of(self, chat: Chat, model_key: str, server: ToolServer) -> list[ToolDefinition]:
        lists = self._lists.known().get(server.id)
        if lists is None:
            return []
        return chosen_tools(server, lists.tools, self.choice(chat, model_key))

    def ask_for(
        self, chat: Chat, server: ToolServer, tool: ToolDefinition
    ) -> tuple[ToolKey, CallGround]:
        """The scope of an answer to a call, and the facts to ask with."""
        agreed = self._lists.agreed(server.id, tool.name)
        changed = agreed is not None and agreed.digest != tool.digest
        before = self._lists.agreed_with(server.id, tool.name)
        moved = bool(before) and before != server.as_text
        # the words of a private chat leave this computer one call at a time
        once = bool(server.host) and chat.private
        digest = approval_key(server.surroundings, tool.digest)
        approval = ToolApproval(server.id, tool.name, digest)
        key = ToolKey(tool.name, approval, once=once, always=not (changed or moved))
        hint = "reads" if tool.reads_only else "destroys" if tool.destroys else ""
        ground = CallGround(
            server=server.name,
            tool=shortened(plain_name(tool.name), _LONGEST_NAME),
            target=server.target,
            host=server.host,
            description=tool.description,
            hint=hint,
            before=agreed.as_text if changed and agreed is not None else "",
            after=tool.as_text if changed else "",
            started_before=before if moved else "",
            started_now=server.as_text if moved else "",
            answers=tuple(one.value for one in Permission if key.takes(one)),
            private=once,
        )
        return key, ground


def _object(text: str) -> dict[str, Any] | None:
    """Arguments as an object; None for anything else."""
    try:
        found = json.loads(text, strict=False) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None

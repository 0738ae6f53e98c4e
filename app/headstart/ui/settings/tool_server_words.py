"""The state and the tools of a tool server in words."""

from __future__ import annotations

from headstart.chat.tool_servers.shown import ShownToolServer
from headstart.core.tool_servers.lists import ServerLists
from headstart.core.tool_servers.state import ToolServerState, ToolServerView
from headstart.ui.wording import say

_STATES = {
    ToolServerState.OFF: "settings.server-off",
    ToolServerState.STARTING: "settings.server-starting",
    ToolServerState.READY: "settings.server-ready",
    ToolServerState.ENDED: "settings.server-ended",
}


def state_text(view: ToolServerView) -> str:
    return say(_STATES[view.state])


def facts_of(shown: ShownToolServer) -> str:
    """The tools that are on, and their tokens; "" before the server gave a list."""
    if shown.view.lists is None:
        return ""
    return say("settings.server-tools", tools=shown.tools_on, tokens=shown.offered)


def left_out_text(lists: ServerLists | None, most: int) -> str:
    """The entries that a server's lists lost, with the reasons, a line each; "" for none."""
    if lists is None or not lists.left_out:
        return ""
    lines = [reason.message for reason in lists.reasons[:most]]
    further = lists.left_out - len(lines)
    if further > 0:
        lines.append(say("transfer.and-left-out-further", left_out=further))
    return "\n".join(lines)

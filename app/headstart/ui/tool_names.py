"""The program's own tools in words for the user."""

from __future__ import annotations

from headstart.core.own_tools import (
    CALCULATE,
    NOW,
    READ_FILE,
    READ_INDEXED,
    SEARCH,
    SEARCH_FILES,
)
from headstart.core.tool_servers.offer import split_name
from headstart.ui.wording import say

_TITLES = {
    CALCULATE.name: "window.tool-calculate",
    NOW.name: "window.tool-time",
    SEARCH.name: "window.tool-search",
    READ_FILE.name: "window.tool-read",
    SEARCH_FILES.name: "window.tool-search-files",
    READ_INDEXED.name: "window.tool-read-indexed",
}
_ABOUT = {
    CALCULATE.name: "window.about-calculate",
    NOW.name: "window.about-time",
    SEARCH.name: "window.about-search",
    READ_FILE.name: "window.about-read",
    SEARCH_FILES.name: "window.about-search-files",
    READ_INDEXED.name: "window.about-read-indexed",
}


def tool_title(name: str) -> str:
    """The name of a tool: of the program's own tools in words, of a server's with its server."""
    if name in _TITLES:
        return say(_TITLES[name])
    server, tool = split_name(name)
    return say("window.tool-of-server", tool=tool, server=server) if server else name


def about_tool(name: str) -> str:
    """The work of one of the program's own tools; "" for others."""
    return say(_ABOUT[name]) if name in _ABOUT else ""

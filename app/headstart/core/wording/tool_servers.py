"""Problems with tool servers: what happened, and what to do. `{server}` is the name of one."""

from __future__ import annotations

_LOG = "Its log under Settings, Tools may say more."

PROBLEMS: dict[str, tuple[str, str]] = {
    "tool-call-cancelled": ("The call was cancelled.", ""),
    "tool-command-quotes": (
        "A quotation mark of the command has no other one.",
        "Write the command as in a terminal.",
    ),
    "tool-command-variable": (
        "“{name}” at the beginning of a command is a variable.",
        "Add it below the command, under environment variables.",
    ),
    "tool-config-empty": (
        "No tool servers are in this text.",
        "Choose the file in which a program keeps its MCP servers.",
    ),
    "tool-config-unreadable": (
        "This file cannot be read as a list of tool servers.",
        "It must be JSON with “mcpServers” or the like, or TOML with “mcp_servers”.",
    ),
    "tool-entry-field": (
        "“{name}” of “{list}” is used without its “{field}”, which is not as the protocol has it.",
        "",
    ),
    "tool-entry-odd": (
        "“{name}” of “{list}” is left out: its “{field}” is not as the protocol has it.",
        "",
    ),
    "tool-entry-unnamed": ("An entry of “{list}” has no name and is left out.", ""),
    "tool-host-ended": (
        "The process that speaks with tool servers ended.",
        "It starts again with the next call.",
    ),
    "tool-host-failed": (
        "The process that speaks with tool servers could not be started: {reason}.",
        "Try again.",
    ),
    "tool-list-too-long": (
        "“{list}” is too long. Entries that are left out: {count:,}.",
        "",
    ),
    "tool-list-unreadable": ("“{list}” of this server cannot be read and is left out.", ""),
    "tool-server-empty": (
        "A tool server needs a command or an address.",
        "Enter one of the two.",
    ),
    "tool-server-ended": ("The tool server “{server}” ended.", _LOG),
    "tool-server-exited": (
        "The tool server “{server}” ended with the exit status {status}.",
        _LOG,
    ),
    "tool-server-failed": ("The tool server “{server}” failed: {reason}.", _LOG),
    "tool-server-flooded": (
        (
            "The tool server “{server}” sent more in one message than is read: 32 MB, 200,000 "
            "values or 400 levels."
        ),
        "Ask it for less at a time.",
    ),
    "tool-server-left-out": (
        "{problem:message} The reply is written without its tools.",
        "{problem:remedy}",
    ),
    "tool-server-not-allowed": (
        "The tool server “{server}” cannot be started: {command} may not be run.",
        "Check the command under Settings, Tools.",
    ),
    "tool-server-not-found": (
        "The tool server “{server}” cannot be started: there is no program {command}.",
        "Install it, or check the command under Settings, Tools.",
    ),
    "tool-server-not-running": (
        "The tool server “{server}” does not run.",
        "Start it under Settings, Tools.",
    ),
    "tool-server-refused": (
        "The tool server “{server}” wants a sign-in that it was not given ({status}).",
        "Add a header with your key under Settings, Tools.",
    ),
    "tool-server-says": ("The tool server “{server}” answers: {said}", _LOG),
    "tool-server-secret": (
        "The tool server “{server}” needs the value of {name} again.",
        "It was not in the system's keychain. Enter it under Settings, Tools.",
    ),
    "tool-server-silent": (
        "The tool server “{server}” does not answer.",
        _LOG,
    ),
    "tool-server-slow": (
        "The tool server “{server}” has not started yet.",
        "A first start may download it. Try again in a moment.",
    ),
    "tool-server-sse": (
        "This server speaks an age of the protocol that Headstart does not (SSE).",
        "Look for its newer address, which often ends with /mcp.",
    ),
    "tool-server-status": (
        "The tool server “{server}” answers with the HTTP status {status}.",
        "Check the address under Settings, Tools.",
    ),
    "tool-servers-too-many": (
        "There are {most} tool servers already.",
        "Remove one first.",
    ),
    "tool-server-too-long": (
        "This entry for a tool server has a text that is too long.",
        "An argument or value has at most 20,000 characters, an address 2,000.",
    ),
    "tool-server-unreachable": (
        "The tool server “{server}” cannot be reached.",
        "Is it running, and the address right?",
    ),
    "tool-server-unreadable": (
        "The tool server “{server}” sent something that is no part of the protocol.",
        _LOG,
    ),
    "tool-server-variable": (
        "“{name}” cannot be the name of a variable or a header.",
        "Use letters, digits and _ or -.",
    ),
}

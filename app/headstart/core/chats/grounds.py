"""The ground on which the user decides about a call of a server's tool. Pure."""

from __future__ import annotations

from msgspec import Struct


class CallGround(Struct, frozen=True):
    """Facts for the user before a call of a server's tool is allowed. `target`: the command
    that was started, or the address; `host`: the other computer that gets the arguments.
    `before`, `after`: the definition of the tool that the user agreed to earlier, and the present
    one, where they differ; `started_before`, `started_now`: the same of the server's command or
    address, folder and variables, without values of secrets. `hint`: the server's own word on the
    tool, "reads" or "destroys". `answers`: the names of permissions that may be given. `private`:
    the chat is, and its words would leave this computer."""

    server: str = ""
    tool: str = ""
    target: str = ""
    host: str = ""
    description: str = ""
    hint: str = ""
    before: str = ""
    after: str = ""
    started_before: str = ""
    started_now: str = ""
    answers: tuple[str, ...] = ("once", "chat", "always", "denied")
    private: bool = False

"""Asks, once for each server, whether the words of a chat may go there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from headstart.core.servers import Connection
from headstart.ui.kit.asking import Question

_HOLDS = "Your answer holds for the server “{name}” until its address changes."


def ask_consent(
    parent: QWidget,
    answered: Callable[[], None],
    connection: Connection,
    allowed: Callable[[], None],
) -> None:
    """Show the question; `allowed` is called when the user agrees, `answered` in any case."""
    host, holds = connection.host, _HOLDS.format(name=connection.name)
    if connection.is_here:
        question = f"Have {connection.name or host} answer?"
        about = (
            f"Another program on this computer answers, at {host}. Chats with this model are given "
            "to it; what it does with them is its own affair."
        )
    else:
        question = f"Send chats with this model to {host}?"
        way = (
            "The connection is encrypted."
            if connection.url.startswith("https://")
            else "The connection is not encrypted: others on the network could read it."
        )
        about = f"The text of such chats leaves this computer. {way}"
    Question(parent, question, f"{about}\n\n{holds}", "Send").ask(allowed, answered)

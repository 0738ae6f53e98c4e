"""Asks, once per server, for consent to send it the text of chats."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from headstart.core.servers import Connection
from headstart.ui.kit.asking import Question
from headstart.ui.wording import say

_HOLDS = "shell.your-answer-holds-for-server"


def ask_consent(
    parent: QWidget,
    answered: Callable[[], None],
    connection: Connection,
    allowed: Callable[[], None],
) -> None:
    """Show the question; `allowed` is called when the user agrees, `answered` in any case."""
    host, holds = connection.host, say(_HOLDS, name=connection.name)
    if connection.is_here:
        question = say("shell.have-value-answer", value=connection.name or host)
        about = say("shell.consent-here", host=host)
    else:
        question = say("shell.send-chats-with-model-to", host=host)
        way = (
            say("shell.connection-encrypted")
            if connection.url.startswith("https://")
            else say("shell.connection-not-encrypted-others-on")
        )
        about = say("shell.text-of-such-chats-leaves", way=way)
    Question(parent, question, f"{about}\n\n{holds}", say("shell.send")).ask(allowed, answered)

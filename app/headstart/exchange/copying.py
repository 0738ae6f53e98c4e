"""A chat or a message for the clipboard, in several forms for the pasting program to choose
from."""

from __future__ import annotations

from msgspec import Struct

from headstart.exchange.include import Include
from headstart.exchange.tree import ExchangeChat
from headstart.exchange.writers.html import CLIPBOARD, body, message_html
from headstart.exchange.writers.markdown import message_markdown, to_markdown
from headstart.exchange.writers.text import message_text, to_text

# reasoning is rarely wanted: it can be copied from its own display
_INCLUDE = Include(reasoning=False)


class Copied(Struct, frozen=True):
    markdown: str
    html: str
    text: str


def copies_of(conversation: ExchangeChat, message_id: str = "") -> Copied:
    """Copies of the shown branch, or of one message; text without reasoning."""
    node = next((one for one in conversation.nodes if one.id == message_id), None)
    if node is not None:
        return Copied(
            message_markdown(node, _INCLUDE),
            message_html(node, _INCLUDE),
            message_text(node, _INCLUDE, plain=True),
        )
    return Copied(
        to_markdown(conversation, _INCLUDE),
        body(conversation, _INCLUDE, CLIPBOARD),
        to_text(conversation, _INCLUDE),
    )

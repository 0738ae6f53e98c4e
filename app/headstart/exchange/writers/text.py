"""A conversation as plain text, for people and for search."""

from __future__ import annotations

import textwrap

from headstart.core.chats.parts import ReasoningPart, WrittenPart
from headstart.core.chats.prompt_words import label, words_in
from headstart.core.chats.values import Role
from headstart.core.markdown.words import words_of
from headstart.exchange.include import WORDS, Include
from headstart.exchange.tree import ChatNode, ExchangeChat
from headstart.exchange.writers.words import (
    author_of,
    date_words,
    ending_of,
    prompt_of,
    stats_words,
)


def to_text(conversation: ExchangeChat, include: Include = WORDS) -> str:
    head = [conversation.title]
    if conversation.created_at > 0:
        head.append(date_words(conversation.created_at))
    blocks = ["\n".join(head)]
    if prompt_of(conversation):
        blocks.append(f"System:\n{prompt_of(conversation)}")
    blocks += [_message(node, include) for node in conversation.branch()]
    return "\n\n".join(blocks) + "\n"


def message_text(node: ChatNode, include: Include = WORDS, plain: bool = False) -> str:
    """One message, without its author; `plain`: without Markdown markup."""
    pieces = []
    for part in node.parts:
        text = words_in(part).strip("\n")
        if isinstance(part, ReasoningPart):
            if include.reasoning and text:
                pieces.append(textwrap.indent(text, "    ", lambda _: True))
        elif isinstance(part, WrittenPart):
            # the user's text is not Markdown
            pieces.append(words_of(text) if plain and node.role is not Role.USER else text)
        else:
            pieces.append(f"[{label(part)}]" + (f"\n{text}" if text else ""))
    if include.stats and node.stats is not None:
        pieces.append(f"({stats_words(node.stats)})")
    return "\n\n".join(piece for piece in pieces if piece)


def _message(node: ChatNode, include: Include) -> str:
    who = "You" if node.role is Role.USER else "Assistant"
    if node.model is not None and node.role is Role.ASSISTANT:
        who = author_of(node.model)
    ending = ending_of(node)
    return f"{who}{f' ({ending})' if ending else ''}:\n{message_text(node, include)}"

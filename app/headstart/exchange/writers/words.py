"""Texts shared by the writers for people."""

from __future__ import annotations

import datetime as dt

from headstart.core.chats.values import MessageStatus, Role, TurnStats
from headstart.exchange.tree import ChatNode, ExchangeChat, ModelName

HEADINGS = {Role.USER: "User", Role.ASSISTANT: "Assistant", Role.SYSTEM: "System"}
ENDINGS = {
    MessageStatus.INTERRUPTED: "interrupted",
    MessageStatus.STOPPED: "stopped",
    MessageStatus.FAILED: "failed",
    MessageStatus.OPEN: "being written",
}


def ending_of(node: ChatNode) -> str:
    """Sentence for a reply that was cut off; "" for others."""
    return ENDINGS.get(node.status, "") if node.role is Role.ASSISTANT else ""


def heading_of(node: ChatNode) -> str:
    ending = ending_of(node)
    return f"{HEADINGS[node.role]} ({ending})" if ending else HEADINGS[node.role]


def author_of(model: ModelName) -> str:
    return f"{model.name} on {model.host}" if model.host else model.name


def models_of(nodes: list[ChatNode]) -> str:
    return ", ".join(sorted({author_of(node.model) for node in nodes if node.model is not None}))


def stats_words(stats: TurnStats) -> str:
    words = [f"{stats.generated_tokens:,} tokens"]
    speed = stats.tokens_per_second
    if speed is not None:
        words.append(f"{speed:.1f} tokens/s")
    if stats.against_plain is not None:
        words.append(f"{stats.against_plain:.2f}x plain decoding")
    return " · ".join(words)


def local_time(milliseconds: int) -> str:
    """ISO 8601, in this computer's time zone; "" for an unknown time."""
    if milliseconds <= 0:
        return ""
    moment = dt.datetime.fromtimestamp(milliseconds / 1000, dt.UTC).astimezone()
    return moment.isoformat(timespec="seconds")


def date_words(milliseconds: int) -> str:
    return local_time(milliseconds)[:16].replace("T", " ")


def prompt_of(conversation: ExchangeChat) -> str:
    return (conversation.options.system_prompt or "").strip()

"""The texts around a message: its author, its stats, and its status."""

from __future__ import annotations

import html

from headstart.core.chats.parts import LeftOutPart, ReasoningPart
from headstart.core.chats.values import (
    FinishReason,
    Message,
    MessageStatus,
    Role,
    TurnStats,
    gain_words,
)
from headstart.core.text.locale import locale
from headstart.core.text.shown import at_start, shortened
from headstart.ui.attachment import part_words
from headstart.ui.kit import theme
from headstart.ui.kit.joining import quoted, titled
from headstart.ui.kit.when import clock_text
from headstart.ui.wording import say

# characters of reasoning that are examined, and that are shown while it is folded
_LAST, _SHOWN = 400, 60
# characters of a model's name above a reply, and of the text that describes a message
_AUTHOR, _BEGINNING = 48, 120


def figures_text(stats: TurnStats, whole: bool = False) -> str:
    """Speed and gain in brief; `whole` adds the time to the first token and the reused tokens."""
    pieces = []
    if stats.tokens_per_second is not None:
        pieces.append(say("transcript.number-tok-s", number=_number(stats.tokens_per_second)))
    gain = gain_words(stats.against_plain)
    if gain:
        pieces.append(gain)
    if whole and stats.first_token_seconds is not None:
        pieces.append(
            say(
                "transcript.first-word-after-first-token",
                first_token_seconds=duration_text(stats.first_token_seconds),
            )
        )
    if whole and stats.reused_tokens:
        pieces.append(
            say("transcript.reused-tokens-tokens-reused", reused_tokens=stats.reused_tokens)
        )
    return " · ".join(pieces)


def figures_of(stats: TurnStats) -> list[tuple[str, str]]:
    """Names and values of all known stats of a turn, without zeros."""
    found: list[tuple[str, str]] = []
    speed = stats.tokens_per_second
    if speed is not None:
        plain = stats.against_plain if gain_words(stats.against_plain) else None
        code = "transcript.speed-and-plain" if plain else "transcript.tokens-per-second"
        words = say(code, speed=_number(speed), plain=_number(speed / (plain or 1)))
        found.append((say("transcript.speed"), words))
    if stats.generated_tokens:
        found.append(
            (
                say("transcript.written"),
                say("transcript.tokens", count=stats.generated_tokens),
            )
        )
    speculation = stats.speculation
    if speculation is not None and speculation.accepted:
        found.append(
            (
                say("transcript.drafts-kept"),
                locale().percent(speculation.accepted / speculation.verified),
            )
        )
    if stats.first_token_seconds is not None:
        found.append((say("transcript.first-word-after"), duration_text(stats.first_token_seconds)))
    if stats.reused_tokens:
        code = "transcript.reused-from-disk" if stats.prefix.from_disk else "transcript.reused-of"
        words = say(code, reused=stats.reused_tokens, prompt=stats.prompt_tokens)
        found.append((say("transcript.reused"), words))
    elif stats.prompt_tokens:
        found.append(
            (
                say("transcript.processed"),
                say("transcript.tokens", count=stats.prompt_tokens),
            )
        )
    if stats.prefix.recomputed:
        reason = stats.prefix.reason
        words = say("transcript.tokens", count=stats.prefix.recomputed)
        if reason is not None:
            words = titled(words, reason.text)
        found.append((say("transcript.recomputed"), words))
    return found


def _number(value: float) -> str:
    return locale().number(value, 1 if value < 9.95 else 0)


def reasoning_text(reasoning: str, stats: TurnStats | None, writing: bool) -> str:
    """The line of folded reasoning: its duration and first words; its last words while it is
    being written."""
    words = " ".join(reasoning[-_LAST:].split()) if writing else " ".join(reasoning[:_LAST].split())
    if writing:
        shown = words[-_SHOWN:].lstrip()
        return (
            say("transcript.thinking-shown", shown=shown) if shown else say("transcript.thinking")
        )
    seconds = None if stats is None else stats.reasoning_seconds
    took = "" if seconds is None else duration_text(seconds)
    line = say("transcript.thought-for", took=took) if took else say("transcript.thought")
    return f"{line} · {quoted(shortened(words, _SHOWN))}" if words else line


def duration_text(seconds: float) -> str:
    if seconds < 9.95:
        return say("transcript.short-time", seconds=seconds)
    if seconds < 99.5:
        return say("transcript.seconds", seconds=seconds)
    return say("transcript.minutes", minutes=seconds / 60)


def author_html(message: Message) -> str:
    """Author and time of a reply, for a line above it."""
    if message.role is not Role.ASSISTANT:
        return ""
    colours, small = theme.current(), theme.px(theme.SMALL_SIZE)
    who = html.escape(shortened(message.author or say("transcript.model"), _AUTHOR))
    when = clock_text(message.created_at)
    # a Latin name would begin the line at the other end
    return (
        f'<span style="font-size:{small}px"><b>{at_start(who)}</b>'
        f'&nbsp; <span style="color:{colours.quiet}">{when}</span></span>'
    )


def described(message: Message) -> str:
    """Author and beginning of a message, for screen readers."""
    who = (
        {Role.USER: say("transcript.you"), Role.SYSTEM: say("transcript.system")}.get(message.role)
        or message.author
        or say("transcript.model")
    )
    words = shortened(" ".join(message.text[: 4 * _BEGINNING].split()), _BEGINNING)
    return titled(who, words) if words else who


def place_text(at: int, count: int) -> str:
    """A message's place among all, for screen readers."""
    return say("transcript.message-of-count", at=at, count=count)


def status_text(message: Message) -> str:
    """The lines below a reply: how it ended, and what its prompts lacked."""
    left_out = [part_words(one) for one in message.parts if isinstance(one, LeftOutPart)]
    return "\n".join(filter(None, (_end_text(message), *left_out)))


def _end_text(message: Message) -> str:
    if message.role is not Role.ASSISTANT:
        return ""
    if message.status is MessageStatus.INTERRUPTED:
        return say("transcript.interrupted-program-ended-while-was")
    if message.status is MessageStatus.FAILED:
        return message.error or say("transcript.reply-failed")
    if message.error and message.status in (MessageStatus.STOPPED, MessageStatus.COMPLETE):
        return message.error
    if message.status is MessageStatus.STOPPED and message.stats is not None:
        return {
            FinishReason.CANCELLED: say("transcript.stopped"),
            FinishReason.LENGTH: say("transcript.stopped-at-longest-reply-chat"),
            FinishReason.CONTEXT_FULL: say("transcript.stopped-models-context-full"),
        }.get(message.stats.finish, say("transcript.stopped"))
    if message.status is MessageStatus.COMPLETE and not any(
        part.text.strip() for part in message.parts if not isinstance(part, ReasoningPart)
    ):
        return say("transcript.model-returned-empty-reply")
    return ""

"""The words around a message: who wrote it, its figures, and how it ended."""

from __future__ import annotations

import html

from headstart.core.chats.parts import OriginRun, ReasoningPart, TextPart, append_run
from headstart.core.chats.values import Message, MessageStatus, Role, TurnStats, gain_words
from headstart.core.text.shown import shortened
from headstart.ui.kit import theme
from headstart.ui.kit.when import clock_text

# characters of reasoning that are looked at, and shown where it is folded
_LAST, _SHOWN = 400, 60
# of a model's name above a reply; of a message's words where they name it
_AUTHOR, _BEGINNING = 48, 120


def origins_of(message: Message) -> tuple[OriginRun, ...]:
    """The origins of a message's text, its reasoning left out."""
    runs: list[OriginRun] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            for run in part.origins:
                append_run(runs, run.length, run.origin)
    return tuple(runs)


def figures_text(stats: TurnStats, whole: bool = False) -> str:
    """Speed and gain in a few words; the `whole` with first word and what was reused."""
    pieces = []
    if stats.tokens_per_second is not None:
        pieces.append(f"{_number(stats.tokens_per_second)} tok/s")
    gain = gain_words(stats.against_plain)
    if gain:
        pieces.append(gain)
    if whole and stats.first_token_seconds is not None:
        pieces.append(f"first word after {duration_text(stats.first_token_seconds)}")
    if whole and stats.reused_tokens:
        pieces.append(f"{stats.reused_tokens:,} tokens reused")
    return " · ".join(pieces)


def figures_of(stats: TurnStats) -> list[tuple[str, str]]:
    """Names and values of everything that is known of a turn; nothing that is nought."""
    found: list[tuple[str, str]] = []
    speed = stats.tokens_per_second
    if speed is not None:
        plain = stats.against_plain if gain_words(stats.against_plain) else None
        beside = f", plain {_number(speed / plain)}" if plain else ""
        found.append(("Speed", f"{_number(speed)} tokens per second{beside}"))
    if stats.generated_tokens:
        found.append(("Written", f"{stats.generated_tokens:,} tokens"))
    speculation = stats.speculation
    if speculation is not None and speculation.accepted:
        found.append(("Drafts kept", f"{speculation.accepted / speculation.verified:.0%}"))
    if stats.first_token_seconds is not None:
        found.append(("First word after", duration_text(stats.first_token_seconds)))
    if stats.reused_tokens:
        disk = ", some from the disk" if stats.prefix.from_disk else ""
        words = f"{stats.reused_tokens:,} of {stats.prompt_tokens:,} tokens{disk}"
        found.append(("Reused", words))
    elif stats.prompt_tokens:
        found.append(("Processed", f"{stats.prompt_tokens:,} tokens"))
    if stats.prefix.recomputed:
        reason = stats.prefix.reason
        why = f": {reason.text}" if reason is not None else ""
        found.append(("Recomputed", f"{stats.prefix.recomputed:,} tokens{why}"))
    return found


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def reasoning_text(reasoning: str, stats: TurnStats | None, writing: bool) -> str:
    """Line of folded reasoning: how long it took, and its first words; while it is written, the
    last ones."""
    words = " ".join(reasoning[-_LAST:].split()) if writing else " ".join(reasoning[:_LAST].split())
    if writing:
        shown = words[-_SHOWN:].lstrip()
        return f"Thinking… {shown}" if shown else "Thinking…"
    seconds = None if stats is None else stats.reasoning_seconds
    took = "" if seconds is None else f" for {duration_text(seconds)}"
    return f"Thought{took} · “{shortened(words, _SHOWN)}”" if words else f"Thought{took}"


def duration_text(seconds: float) -> str:
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def author_html(message: Message) -> str:
    """Author and time of a reply, for a line above it."""
    if message.role is not Role.ASSISTANT:
        return ""
    colours, small = theme.current(), theme.px(theme.SMALL_SIZE)
    who = html.escape(shortened(message.author or "Model", _AUTHOR))
    when = clock_text(message.created_at)
    return (
        f'<span style="font-size:{small}px"><b>{who}</b>'
        f'&nbsp; <span style="color:{colours.quiet}">{when}</span></span>'
    )


def described(message: Message) -> str:
    """Author and beginning of a message, for screen readers."""
    who = {Role.USER: "You", Role.SYSTEM: "System"}.get(message.role) or message.author or "Model"
    words = shortened(" ".join(message.text[: 4 * _BEGINNING].split()), _BEGINNING)
    return f"{who}: {words}" if words else who


def status_text(message: Message) -> str:
    if message.role is not Role.ASSISTANT:
        return ""
    if message.status is MessageStatus.INTERRUPTED:
        return (
            "Interrupted: the program ended while this was written. Nothing written before that "
            "was lost."
        )
    if message.status is MessageStatus.FAILED:
        return message.error or "This reply failed."
    if message.status is MessageStatus.STOPPED and message.error:
        return message.error
    if message.status is MessageStatus.STOPPED and message.stats is not None:
        return {
            "cancelled": "Stopped.",
            "length": "Stopped at the longest reply that this chat allows.",
            "context full": "Stopped: the model's context is full.",
        }.get(message.stats.finish.value, "Stopped.")
    if message.status is MessageStatus.COMPLETE and not any(
        part.text.strip() for part in message.parts if not isinstance(part, ReasoningPart)
    ):
        return "The model returned an empty reply."
    return ""

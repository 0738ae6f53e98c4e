"""What stands under a message in plain words: its figures, and how it ended; pure."""

from __future__ import annotations

from headstart.core.parts import OriginRun, ReasoningPart, TextPart, append_run
from headstart.core.text import shortened
from headstart.core.values import Message, MessageStatus, Role, TurnStats

# characters of reasoning that are looked at, and shown where it is folded
_LAST, _SHOWN = 400, 60


def origins_of(message: Message) -> tuple[OriginRun, ...]:
    """The origins of a message's text, its reasoning left out."""
    runs: list[OriginRun] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            for run in part.origins:
                append_run(runs, run.length, run.origin)
    return tuple(runs)


def stats_text(stats: TurnStats) -> str:
    """The figures of a turn in plain words."""
    pieces = []
    if stats.tokens_per_second is not None:
        pieces.append(f"{stats.tokens_per_second:.1f} tok/s")
    if stats.first_token_seconds is not None:
        seconds = stats.first_token_seconds
        pieces.append(
            f"first token {seconds:.2f} s" if seconds < 10 else f"first token {seconds:.0f} s"
        )
    if stats.prompt_tokens:
        pieces.append(
            f"reused {stats.reused_tokens:,} of {stats.prompt_tokens:,} tokens"
            f"{' (disk)' if stats.prefix.from_disk else ''}"
        )
    if stats.prefix.recomputed:
        pieces.append(f"{stats.prefix.recomputed:,} recomputed")
    speculation = stats.speculation
    if speculation is not None and speculation.verified:
        pieces.append(f"drafts accepted {speculation.accepted / speculation.verified:.0%}")
    if stats.against_plain is not None:
        pieces.append(f"{stats.against_plain:.1f}× plain")
    return "    ".join(pieces)


def reasoning_text(reasoning: str, stats: TurnStats | None, writing: bool) -> str:
    """What stands for reasoning that is folded: how long it took, and its first words; while it is
    written, the last ones."""
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
        return "The model had nothing to say."
    return ""

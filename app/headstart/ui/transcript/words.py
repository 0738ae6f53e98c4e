"""What stands under a message in plain words: its figures, and how it ended; pure."""

from __future__ import annotations

from headstart.core.parts import OriginRun, ReasoningPart, TextPart, append_run
from headstart.core.values import Message, MessageStatus, Role, TurnFigures


def origins_of(message: Message) -> tuple[OriginRun, ...]:
    """The origins of a message's text, its reasoning left out."""
    runs: list[OriginRun] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            for run in part.origins:
                append_run(runs, run.length, run.origin)
    return tuple(runs)


def figures_text(figures: TurnFigures) -> str:
    """The figures of a turn in plain words."""
    pieces = []
    if figures.tokens_per_second is not None:
        pieces.append(f"{figures.tokens_per_second:.1f} tok/s")
    if figures.first_token_seconds is not None:
        seconds = figures.first_token_seconds
        pieces.append(
            f"first token {seconds:.2f} s" if seconds < 10 else f"first token {seconds:.0f} s"
        )
    if figures.prompt_tokens:
        pieces.append(
            f"reused {figures.reused_tokens:,} of {figures.prompt_tokens:,} tokens"
            f"{' (disk)' if figures.prefix.from_disk else ''}"
        )
    if figures.prefix.reread:
        pieces.append(f"{figures.prefix.reread:,} recomputed")
    guessed = figures.speculation
    if guessed is not None and guessed.tested:
        pieces.append(f"drafts accepted {guessed.accepted / guessed.tested:.0%}")
    if figures.against_plain is not None:
        pieces.append(f"{figures.against_plain:.1f}× plain")
    return "    ".join(pieces)


def status_text(message: Message) -> str:
    if message.role is not Role.ASSISTANT:
        return ""
    if message.status is MessageStatus.INTERRUPTED:
        return "Interrupted: the program ended while this was written. Nothing before was lost."
    if message.status is MessageStatus.FAILED:
        return message.error or "This reply failed."
    if message.status is MessageStatus.STOPPED and message.error:
        return message.error
    if message.status is MessageStatus.STOPPED and message.figures is not None:
        return {
            "cancelled": "Stopped.",
            "length": "Stopped at the longest reply that this chat allows.",
            "context full": "Stopped: the model's context is full.",
        }.get(message.figures.finish.value, "Stopped.")
    if message.status is MessageStatus.COMPLETE and not any(
        part.text.strip() for part in message.parts if not isinstance(part, ReasoningPart)
    ):
        return "The model had nothing to say."
    return ""

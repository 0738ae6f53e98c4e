"""Rows to values and back; the only place that knows both shapes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import Row

from headstart.core.settings import ChatOptions
from headstart.core.values import (
    Chat,
    FinishReason,
    Message,
    MessageStatus,
    Origin,
    OriginRun,
    Part,
    PartKind,
    PrefixFigures,
    Role,
    SpeculationFigures,
    TurnFigures,
)

_options = msgspec.json.Decoder(ChatOptions)


def encode_options(options: ChatOptions) -> str:
    return msgspec.json.encode(options).decode()


def decode_options(text: str) -> ChatOptions:
    """A chat's options; a value this version cannot read falls back to the settings."""
    try:
        return _options.decode(text)
    except msgspec.MsgspecError:
        return ChatOptions()


def encode_origins(origins: Iterable[OriginRun]) -> str:
    return json.dumps([[run.length, run.origin.value] for run in origins], separators=(",", ":"))


def decode_origins(text: str) -> tuple[OriginRun, ...]:
    return tuple(OriginRun(int(length), Origin(origin)) for length, origin in json.loads(text))


def chat_value(row: Row[Any]) -> Chat:
    return Chat(
        id=row.id,
        title=row.title,
        created_at=row.created_at,
        updated_at=row.updated_at,
        pinned=row.pinned,
        titled_by_user=row.titled_by_user,
        model=row.model,
        options=decode_options(row.options),
    )


def part_value(row: Row[Any]) -> Part:
    return Part(PartKind(row.kind), row.text, decode_origins(row.origins))


def figures_value(row: Row[Any]) -> TurnFigures:
    return TurnFigures(
        finish=FinishReason(row.finish),
        prompt_tokens=row.prompt_tokens,
        reused_tokens=row.reused_tokens,
        read_seconds=row.read_seconds,
        first_token_seconds=row.first_token_seconds,
        generated_tokens=row.generated_tokens,
        generate_seconds=row.generate_seconds,
        seed=row.seed,
        speculation=None
        if row.rounds is None
        else SpeculationFigures(
            rounds=row.rounds,
            draft_tested=row.draft_tested,
            draft_accepted=row.draft_accepted,
            repeat_tested=row.repeat_tested,
            repeat_accepted=row.repeat_accepted,
            plain_seconds=row.plain_seconds,
        ),
        prefix=PrefixFigures(
            from_memory=row.from_memory,
            from_disk=row.from_disk,
            ahead=row.ahead,
            reread=row.reread,
            reason=row.reread_reason,
        ),
    )


def figures_row(figures: TurnFigures) -> dict[str, Any]:
    """The columns of a turn, without those that say which one it is."""
    row = {
        "finish": figures.finish.value,
        "prompt_tokens": figures.prompt_tokens,
        "reused_tokens": figures.reused_tokens,
        "read_seconds": figures.read_seconds,
        "first_token_seconds": figures.first_token_seconds,
        "generated_tokens": figures.generated_tokens,
        "generate_seconds": figures.generate_seconds,
        "seed": figures.seed,
        "from_memory": figures.prefix.from_memory,
        "from_disk": figures.prefix.from_disk,
        "ahead": figures.prefix.ahead,
        "reread": figures.prefix.reread,
        "reread_reason": figures.prefix.reason,
    }
    guessed = figures.speculation
    if guessed is not None:
        row |= {
            "rounds": guessed.rounds,
            "draft_tested": guessed.draft_tested,
            "draft_accepted": guessed.draft_accepted,
            "repeat_tested": guessed.repeat_tested,
            "repeat_accepted": guessed.repeat_accepted,
            "plain_seconds": guessed.plain_seconds,
        }
    return row


def message_value(
    row: Row[Any],
    parts: Iterable[Part],
    figures: TurnFigures | None,
    version: int,
    versions: int,
) -> Message:
    return Message(
        id=row.id,
        chat_id=row.chat_id,
        parent_id=row.parent_id,
        role=Role(row.role),
        status=MessageStatus(row.status),
        parts=tuple(parts),
        created_at=row.created_at,
        model=row.model,
        error=row.error,
        figures=figures,
        version=version,
        versions=versions,
    )

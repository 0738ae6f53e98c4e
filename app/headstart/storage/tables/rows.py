"""Conversion between rows and values; the only module that knows both forms."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeVar

import msgspec
import xxhash
from sqlalchemy import Row

from headstart.core.chats.attachments import with_sound_choice
from headstart.core.chats.bounds import MOST, converted, moment_of
from headstart.core.chats.parts import (
    OTHER_KINDS,
    Origin,
    OriginRun,
    OtherPart,
    Part,
    PartKind,
    UnknownPart,
    WrittenPart,
    blob_of,
    sound_origins,
    written,
)
from headstart.core.chats.values import (
    Chat,
    FinishReason,
    Message,
    MessageStatus,
    PrefixStats,
    Role,
    SpeculationStats,
    TurnStats,
)
from headstart.core.settings.renamed import with_new_names
from headstart.core.settings.schema import ChatOptions
from headstart.core.text.whole import whole_json
from headstart.core.told import from_stored, told

_E = TypeVar("_E", bound=Enum)
# the code of the error for a message with an unreadable row
DAMAGED = "message-damaged"


def encode_options(options: ChatOptions) -> str:
    return whole_json(options).decode()


def decode_options(text: str) -> ChatOptions:
    """A chat's options; a value that this version cannot read falls back to the settings."""
    try:
        values = msgspec.json.decode(text)
        return converted(with_new_names(values), ChatOptions)[0]
    except (msgspec.MsgspecError, TypeError, AttributeError):
        return ChatOptions()


def encode_origins(origins: Iterable[OriginRun]) -> str:
    return json.dumps([[run.length, run.origin.value] for run in origins], separators=(",", ":"))


def decode_origins(text: str) -> tuple[OriginRun, ...]:
    """Origins of a text's characters; empty if they cannot be read."""
    try:
        runs = [OriginRun(length, Origin(origin)) for length, origin in json.loads(text)]
    except (ValueError, TypeError, RecursionError):
        return ()
    return tuple(runs) if all(map(_is_run, runs)) else ()


def _is_run(run: OriginRun) -> bool:
    return type(run.length) is int and 0 <= run.length <= MOST


def digest_of(text: str) -> int:
    """A signed 64-bit integer, as in SQLite: XXH3 of the text's UTF-8."""
    return int(xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))) - (1 << 63)


class StoredPart(NamedTuple):
    """The columns of a part that its digest covers, and the digest."""

    kind: str
    text: str
    data: str | None
    blob: str | None
    digest: int | None

    def whole_digest(self) -> int:
        """The digest of a part; for written parts that of the text alone, as in older versions."""
        if self.data is None and self.blob is None:
            return digest_of(self.text)
        return digest_of("\x1f".join((self.kind, self.text, self.data or "", self.blob or "")))

    @property
    def is_sound(self) -> bool:
        """True if it is unchanged since it was stored; texts from before there were digests are
        trusted, unless bytes are visibly missing."""
        if self.digest is not None:
            return self.whole_digest() == self.digest
        return "\0" not in self.text and "\N{REPLACEMENT CHARACTER}" not in self.text


def stored_part(row: Mapping[str, Any]) -> StoredPart:
    """The part in a row of parts or of the journal, of this version or an older one."""
    text, data, blob = row.get("text"), row.get("data"), row.get("blob")
    journaled = str(row.get("origins") or "")
    if "data" not in row and journaled.startswith("{"):
        # the journal has one column for what a part has besides its text
        data = journaled
    return StoredPart(
        str(row.get("kind") or ""),
        text if isinstance(text, str) else str(text or ""),
        None if data is None else str(data),
        None if blob is None else str(blob),
        row.get("digest"),
    )


def chat_value(row: Row[Any]) -> Chat:
    return Chat(
        id=row.id,
        title=str(row.title),
        created_at=moment_of(row.created_at),
        updated_at=moment_of(row.updated_at),
        pinned=row.pinned,
        titled_by_user=row.titled_by_user,
        model=row.model,
        options=decode_options(row.options),
        folder=row.folder or "",
        tags=decode_names(row.tags),
        archived=row.archived_at is not None,
    )


def encode_names(names: Sequence[str]) -> str | None:
    return json.dumps(list(names), ensure_ascii=False) if names else None


def decode_names(text: object) -> tuple[str, ...]:
    """A list of names; empty if it cannot be read."""
    try:
        found = json.loads(text) if isinstance(text, str) else []
    except ValueError:
        return ()
    return tuple(str(name) for name in found) if isinstance(found, list) else ()


def part_value(row: Row[Any]) -> tuple[Part, bool]:
    """A part, and whether it is unchanged since it was stored; see `part_of`."""
    values = row._asdict()
    return part_of(stored_part(values), values["origins"])


def part_of(stored: StoredPart, origins: str) -> tuple[Part, bool]:
    """A part, and whether it is unchanged since it was stored. Lost characters are marked; unknown
    or unreadable data is kept as it is."""
    kind, sound = _one_of(PartKind, stored.kind), stored.is_sound
    shown = stored.text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    plain = stored.data is None and stored.blob is None
    if kind in (PartKind.TEXT, PartKind.REASONING) or (plain and (kind or not sound)):
        known = kind is not None and sound
        runs = sound_origins(decode_origins(origins), shown)
        return written(kind or PartKind.TEXT, shown, runs), known
    other = _OTHERS.get(kind) if kind is not None else None
    if other is not None:
        try:
            data = json.loads(stored.data or "")
            part, _ = converted({**_known(data, shown), "text": shown}, other)
            return with_sound_choice(part), sound
        except (ValueError, TypeError, AttributeError, RecursionError, msgspec.MsgspecError):
            sound = False
    mark = None if sound else stored.digest
    return UnknownPart(stored.kind, shown, stored.data, stored.blob, mark), sound


def _known(data: dict[str, Any], text: str) -> dict[str, Any]:
    """Data without origins that another version named, or that go beyond the text."""
    if "origins" not in data:
        return data
    try:
        runs = msgspec.convert(data["origins"], list[OriginRun])
    except msgspec.ValidationError:
        runs = []
    return {**data, "origins": sound_origins(runs, text)}


def journal_row(part: Part) -> dict[str, Any]:
    """The columns of a part of a reply in progress, except those that locate it."""
    row = part_row(part)
    extra = row["origins"] if row["data"] is None else row["data"]
    return {"kind": row["kind"], "text": row["text"], "origins": extra}


def part_row(part: Part) -> dict[str, Any]:
    """The columns of a part, except those that locate it."""
    data, blob, digest = None, None, None
    if isinstance(part, UnknownPart):
        kind, data, blob, digest = part.name, part.data, part.blob_digest, part.digest
    else:
        kind = part.kind.value
        if not isinstance(part, WrittenPart):
            facts = msgspec.to_builtins(part)
            facts.pop("text", None)
            data = json.dumps(facts, ensure_ascii=False)
        stored_blob = blob_of(part)
        blob = None if stored_blob is None else stored_blob.digest
    stored = StoredPart(kind, part.text, data, blob, digest)
    return {
        "kind": kind,
        "text": part.text,
        "origins": encode_origins(part.origins) if isinstance(part, WrittenPart) else "[]",
        "digest": stored.whole_digest() if digest is None else digest,
        "data": data,
        "blob": blob,
    }


_OTHERS: dict[PartKind, type[OtherPart]] = {kind.kind: kind for kind in OTHER_KINDS}


def _one_of(kind: type[_E], value: object) -> _E | None:
    try:
        return kind(value)
    except ValueError:
        return None


def stats_value(row: Row[Any]) -> TurnStats | None:
    """Returns None for an unreadable row: stats are dispensable."""
    finish = _one_of(FinishReason, row.finish)
    if finish is None:
        return None
    prefix = {**_fields_of(row, PrefixStats), "reason": from_stored(row.reread_reason)}
    speculation = None if row.rounds is None else _fields_of(row, SpeculationStats)
    values = {"finish": finish.value, "prefix": prefix, "speculation": speculation}
    return converted({**_fields_of(row, TurnStats), **values}, TurnStats)[0]


def _fields_of(row: Row[Any], kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The columns with the names of the struct's fields."""
    return {name: getattr(row, name) for name in kind.__struct_fields__ if hasattr(row, name)}


def stats_row(stats: TurnStats) -> dict[str, Any]:
    """The columns of a turn, except those that identify it."""
    row = {
        "finish": stats.finish.value,
        "prompt_tokens": stats.prompt_tokens,
        "reused_tokens": stats.reused_tokens,
        "prefill_seconds": stats.prefill_seconds,
        "first_token_seconds": stats.first_token_seconds,
        "generated_tokens": stats.generated_tokens,
        "generate_seconds": stats.generate_seconds,
        "seed": stats.seed,
        "from_memory": stats.prefix.from_memory,
        "from_disk": stats.prefix.from_disk,
        "ahead": stats.prefix.ahead,
        "recomputed": stats.prefix.recomputed,
        "reasoning_seconds": stats.reasoning_seconds,
        "reread_reason": stats.prefix.reason.stored if stats.prefix.reason is not None else "",
    }
    speculation = stats.speculation
    if speculation is not None:
        row |= {
            "rounds": speculation.rounds,
            "draft_verified": speculation.draft_verified,
            "draft_accepted": speculation.draft_accepted,
            "lookup_verified": speculation.lookup_verified,
            "lookup_accepted": speculation.lookup_accepted,
            "plain_seconds": speculation.plain_seconds,
        }
    return row


def role_of(name: object, model: object) -> Role:
    """A message's role, or one derived for a damaged role: text that a model wrote is a reply."""
    found = _one_of(Role, name)
    return found if found is not None else Role.ASSISTANT if model else Role.USER


def _error(stored: str | None) -> str | None:
    said = from_stored(stored)
    return None if said is None else said.text


def message_value(
    row: Row[Any],
    parts: Iterable[tuple[Part, bool]],
    stats: TurnStats | None,
    version: int,
    versions: int,
    parent_id: str | None,
) -> Message:
    """A message; one with a damaged row or text says so in its `error`, and is shown regardless."""
    found = list(parts)
    role, status = _one_of(Role, row.role), _one_of(MessageStatus, row.status)
    written = role is Role.USER or (stats is not None and stats.generated_tokens > 0)
    empty = not found and written and row.error is None
    sound = role is not None and status is not None and all(one[1] for one in found) and not empty
    if role is None:
        # replies have stats or were begun by a model
        role = Role.ASSISTANT if row.model or stats is not None else Role.USER
    return Message(
        id=row.id,
        chat_id=row.chat_id,
        parent_id=parent_id,
        role=role,
        status=status or MessageStatus.STOPPED,
        parts=tuple(part for part, _ in found),
        created_at=moment_of(row.created_at),
        model=row.model,
        model_host=row.model_host,
        model_key=row.model_key,
        error=_error(row.error) if sound else told(DAMAGED).text,
        stats=stats,
        version=version,
        versions=versions,
    )

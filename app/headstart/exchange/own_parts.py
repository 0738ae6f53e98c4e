"""The parts of a message in our own conversation format, to values and back. Pure.

Numbers out of their bounds are left out and counted; other keys and kinds that this version does
not know are kept, and written again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from headstart.core.chats.attachments import with_sound_choice
from headstart.core.chats.bounds import MOST, converted
from headstart.core.chats.parts import (
    OTHER_KINDS,
    ImagePart,
    Origin,
    OriginRun,
    Part,
    PartKind,
    PassagePart,
    ToolResultPart,
    UnknownPart,
    blob_of,
    is_digest,
    sound_origins,
    written,
)
from headstart.core.images import image_of
from headstart.exchange.fields import Fields, as_object, compact, fits, one_of

_KEYS = {
    PartKind.TEXT: {"kind", "text", "origins"},
    PartKind.REASONING: {"kind", "text", "origins"},
    PartKind.FILE: {"kind", "text", "name", "blob", "pages", "unit", "chosen", "encoding"},
    PartKind.IMAGE: {"kind", "text", "name", "blob", "width", "height"},
    PartKind.TOOL_CALL: {"kind", "text", "id", "name", "cut", "origins"},
    PartKind.TOOL_RESULT: {
        "kind",
        "text",
        "id",
        "name",
        "failed",
        "end",
        "seconds",
        "whole",
        "source",
    },
    PartKind.PASSAGE: {
        "kind",
        "text",
        "number",
        "name",
        "source",
        "path",
        "digest",
        "start",
        "end",
        "page",
        "line",
        "heading",
        "again",
        "note",
    },
    PartKind.COVERAGE: {"kind", "text", "total", "read", "found", "unread", "short"},
    PartKind.SEARCH: {"kind", "text", "sources", "given", "outcome", "problem"},
    PartKind.LEFT_OUT: {"kind", "text", "told"},
}


class ReadPart(NamedTuple):
    """A part, its keys that this version does not know, and the count of numbers left out."""

    part: Part
    unknown: dict[str, Any]
    left_out: int = 0


def part_value(part: Part) -> dict[str, Any]:
    if isinstance(part, UnknownPart):
        data = as_object(part.data)
        plain = part.blob_digest is None and part.digest is None
        if plain and (part.data is None or (data and compact(data) == part.data)):
            return {"kind": part.name, "text": part.text, **data}
        stored = {"data": part.data, "blob": part.blob_digest, "digest": part.digest}
        return {"kind": part.name, "text": part.text, "stored": stored}
    value: dict[str, Any] = {"kind": part.kind.value, **msgspec.to_builtins(part)}
    value.pop("origins", None)
    if isinstance(part, PassagePart):
        value.pop("source", None)
    if part.origins:
        value["origins"] = [[run.length, run.origin.value] for run in part.origins]
    return value


def part_of(fields: Fields) -> ReadPart:
    name = fields.text("kind")
    kind = one_of(PartKind, name, PartKind.UNKNOWN)
    known = _KEYS.get(kind, {"kind", "text", "stored"})
    unknown = {key: one for key, one in fields.all.items() if key not in known}
    text = fields.text("text")
    if kind in (PartKind.TEXT, PartKind.REASONING):
        return ReadPart(written(kind, text, _origins(fields.list("origins"), text)), unknown)
    for form in OTHER_KINDS:
        if form.kind is kind:
            facts = {key: fields.all[key] for key in known if key in fields.all}
            if "origins" in facts:
                facts["origins"] = _origins(fields.list("origins"), text)
            odd = not isinstance(facts.get("chosen", ""), str)
            if odd:
                # pages by their numbers
                del facts["chosen"]
            try:
                part, left_out = converted({**facts, "text": text}, form)
            except msgspec.ValidationError:
                break
            bytes_of = blob_of(part)
            if bytes_of is None or is_digest(bytes_of.digest):
                return ReadPart(with_sound_choice(part), unknown, left_out + odd)
            break
    stored = fields.inside("stored")
    if stored:
        digest, blob = stored.all.get("digest"), stored.text("blob")
        kept = UnknownPart(
            name,
            text,
            stored.text("data") or None,
            blob if is_digest(blob) else None,
            digest if isinstance(digest, int) and fits(digest) else None,
        )
        return ReadPart(kept, {})
    rest = {key: one for key, one in fields.all.items() if key not in ("kind", "text")}
    return ReadPart(UnknownPart(name, text, compact(rest) or None), {})


def measured(part: Part, blobs: Mapping[str, bytes]) -> Part:
    """The part with the sizes that its bytes have, if they are there: a file may say anything."""
    blob = blob_of(part)
    data = blobs.get(blob.digest) if blob is not None else None
    if blob is None or data is None:
        return part
    sized = replace(blob, size=len(data))
    if isinstance(part, ToolResultPart):
        return replace(part, whole=sized)
    image = image_of(data) if isinstance(part, ImagePart) else None
    if image is None:
        return replace(part, blob=sized)
    _, width, height = image
    return replace(part, blob=sized, width=width, height=height)


def _origins(given: Sequence[Any], text: str) -> tuple[OriginRun, ...]:
    found = []
    for one in given:
        if not (isinstance(one, list) and len(one) == 2):
            return ()
        length, origin = one[0], one_of(Origin, one[1], None)
        if origin is None or type(length) is not int or not 0 <= length <= MOST:
            return ()
        found.append(OriginRun(length, origin))
    return sound_origins(found, text)

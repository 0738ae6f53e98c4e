"""The parts of a message: text and reasoning, and what else belongs to it. Pure.

A file or an image is a blob, kept by its content; the part says which one, and what is known of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import ClassVar, TypeAlias

from msgspec import Struct

from headstart.core.text.locale import PLAIN
from headstart.core.text.shown import size_text


class PartKind(StrEnum):
    TEXT = "text"
    REASONING = "reasoning"
    FILE = "file"
    IMAGE = "image"
    TOOL_CALL = "tool call"
    TOOL_RESULT = "tool result"
    # never stored: what is stored keeps the name that it came with
    UNKNOWN = ""


class Origin(StrEnum):
    """Source of a token: the target itself, what drafts for it (a model, a head, layers in its own
    file), or text that is there already: in this chat, or in earlier ones."""

    TARGET = "target"
    DRAFT = "draft"
    HEAD = "head"
    OWN_LAYERS = "own layers"
    LOOKUP = "repeat"
    EARLIER = "earlier chats"

    @property
    def drafted(self) -> bool:
        """True if a draft computed it."""
        return self in (Origin.DRAFT, Origin.HEAD, Origin.OWN_LAYERS)


class OriginRun(Struct, frozen=True):
    """A run of characters of one part that share an origin."""

    length: int
    origin: Origin


class TextPart(Struct, frozen=True):
    text: str
    # where its characters came from
    origins: tuple[OriginRun, ...] = ()
    kind: ClassVar[PartKind] = PartKind.TEXT


class ReasoningPart(Struct, frozen=True):
    text: str
    origins: tuple[OriginRun, ...] = ()
    kind: ClassVar[PartKind] = PartKind.REASONING


class BlobRef(Struct, frozen=True):
    """Bytes that are kept by their content: SHA-256 in hexadecimal, and how many there are."""

    digest: str
    size: int
    media_type: str


def is_digest(text: str) -> bool:
    """True if it can name a blob: nothing else is ever made a path of."""
    return len(text) == 64 and all(one in "0123456789abcdef" for one in text)


class FilePart(Struct, frozen=True):
    """`text` is what can be read of the file; "" where nothing can.

    Of `pages` pages, or parts (see `unit`), it has those that are `chosen`, as `ranges_text` writes
    them; "" for all. `encoding`: the one of `core.encodings` in which it was read, where that is
    not certain; "" where it is.
    """

    name: str
    blob: BlobRef
    text: str = ""
    pages: int = 0
    unit: str = ""
    chosen: str = ""
    encoding: str = ""
    kind: ClassVar[PartKind] = PartKind.FILE
    origins: ClassVar[tuple[OriginRun, ...]] = ()


class ImagePart(Struct, frozen=True):
    """Sizes are pixels; `text` is what is said of the image where it cannot be seen."""

    name: str
    blob: BlobRef
    width: int
    height: int
    text: str = ""
    kind: ClassVar[PartKind] = PartKind.IMAGE
    origins: ClassVar[tuple[OriginRun, ...]] = ()


class ToolCallPart(Struct, frozen=True):
    """A model asks for a tool; `text` are the arguments, as JSON."""

    id: str
    name: str
    text: str
    kind: ClassVar[PartKind] = PartKind.TOOL_CALL
    origins: ClassVar[tuple[OriginRun, ...]] = ()


class ToolResultPart(Struct, frozen=True):
    """Result of the tool call with this id."""

    id: str
    name: str
    text: str
    failed: bool = False
    kind: ClassVar[PartKind] = PartKind.TOOL_RESULT
    origins: ClassVar[tuple[OriginRun, ...]] = ()


class UnknownPart(Struct, frozen=True):
    """A part that another version stored, or that is damaged: kept as it is, by every verb.

    `name` is its kind, `data` and `blob` what the database has there; `digest` marks damage.
    """

    name: str
    text: str
    data: str | None = None
    blob_digest: str | None = None
    digest: int | None = None
    kind: ClassVar[PartKind] = PartKind.UNKNOWN
    origins: ClassVar[tuple[OriginRun, ...]] = ()


def needed_blobs(parts: Iterable[Part]) -> list[str]:
    """The digests of the bytes that parts name, each once."""
    found: dict[str, None] = {}
    for part in parts:
        if isinstance(part, FilePart | ImagePart):
            found[part.blob.digest] = None
        elif isinstance(part, UnknownPart) and part.blob_digest:
            found[part.blob_digest] = None
    return list(found)


# written by a person or a model, character by character
WrittenPart: TypeAlias = TextPart | ReasoningPart
OtherPart: TypeAlias = FilePart | ImagePart | ToolCallPart | ToolResultPart | UnknownPart
Part: TypeAlias = WrittenPart | OtherPart


def written(
    kind: PartKind, text: str, origins: Sequence[OriginRun] = ()
) -> TextPart | ReasoningPart:
    """Text or reasoning; every other kind of text counts as text."""
    make = ReasoningPart if kind is PartKind.REASONING else TextPart
    return make(text, tuple(origins))


def text_part(text: str) -> tuple[TextPart, ...]:
    return (TextPart(text),) if text else ()


def label(part: OtherPart) -> str:
    """The part in one line, as models and exported files have it: the same in every language, or
    a change of language would have every chat processed again."""
    match part:
        case FilePart(chosen=""):
            return f"File {part.name} ({size_text(part.blob.size, PLAIN)})"
        case FilePart():
            which = f"{part.unit}s {part.chosen} of {part.pages}"
            return f"File {part.name} ({size_text(part.blob.size, PLAIN)}), {which}"
        case ImagePart():
            return f"Image {part.name} ({part.width} × {part.height})"
        case ToolCallPart():
            return f"Call of {part.name}"
        case ToolResultPart(failed=True):
            return f"{part.name} failed"
        case ToolResultPart():
            return f"Result of {part.name}"
        case UnknownPart():
            return f"Unknown content ({part.name})"


def prompt_text(parts: Iterable[Part]) -> str:
    """A message as a model reads it that knows text only; reasoning is left out.

    Text goes together as it was written, everything else is a paragraph with its label.
    """
    result, after_other = "", False
    for part in parts:
        if isinstance(part, ReasoningPart):
            continue
        other, text = False, part.text
        if not isinstance(part, TextPart):
            other, text = True, f"[{label(part)}]\n{part.text}".rstrip()
        if result and text and (other or after_other):
            result = f"{result.rstrip()}\n\n"
        result, after_other = result + text, other or (after_other and not text)
    return result


def append_run(runs: list[OriginRun], length: int, origin: Origin) -> None:
    """Add `length` characters to a run-length list, joining runs of the same origin."""
    if runs and runs[-1].origin is origin:
        runs[-1] = OriginRun(runs[-1].length + length, origin)
    elif length:
        runs.append(OriginRun(length, origin))


def joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Neighbouring text as one part, and reasoning too; origins are kept, nothing is empty."""
    result: list[Part] = []
    for part in parts:
        if not isinstance(part, WrittenPart):
            result.append(part)
            continue
        last = result[-1] if result else None
        if isinstance(last, WrittenPart) and last.kind is part.kind:
            result.pop()
            runs = list(last.origins)
            for run in part.origins:
                append_run(runs, run.length, run.origin)
            part = written(part.kind, last.text + part.text, runs)
        if part.text:
            result.append(part)
    return tuple(result)

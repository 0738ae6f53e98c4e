"""The parts of a message: text, reasoning, and everything attached to it. Pure.

A file or an image is a blob stored under its digest; the part names the blob and describes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import ClassVar, TypeAlias

from msgspec import Struct

from headstart.core.chats.bounds import Count, Pages, Pixels, Seconds, Size


class PartKind(StrEnum):
    TEXT = "text"
    REASONING = "reasoning"
    FILE = "file"
    IMAGE = "image"
    TOOL_CALL = "tool call"
    TOOL_RESULT = "tool result"
    PASSAGE = "passage"
    COVERAGE = "coverage"
    SEARCH = "search"
    LEFT_OUT = "left out"
    # never stored: a stored part keeps its original name
    UNKNOWN = ""


class Origin(StrEnum):
    """Source of a token: the target itself, a drafter (a model, a head, layers in the target's
    file), or existing text, in this chat or in earlier ones."""

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

    length: Count
    origin: Origin


class TextPart(Struct, frozen=True):
    text: str
    # sources of its characters
    origins: tuple[OriginRun, ...] = ()
    kind: ClassVar[PartKind] = PartKind.TEXT


class ReasoningPart(Struct, frozen=True):
    text: str
    origins: tuple[OriginRun, ...] = ()
    kind: ClassVar[PartKind] = PartKind.REASONING


class BlobRef(Struct, frozen=True):
    """Bytes stored under their digest: SHA-256 in hexadecimal, and their size."""

    digest: str
    size: Size
    media_type: str


def is_digest(text: str) -> bool:
    """True if it can name a blob: paths are made from nothing else."""
    return len(text) == 64 and all(one in "0123456789abcdef" for one in text)


class FilePart(Struct, frozen=True):
    """`text` is the extracted text of the file; "" if it has none.

    The text covers the `chosen` ones of `pages` pages, or parts (see `unit`), written as
    `ranges_text` writes them; "" for all. `encoding`: the one of `core.text.encodings` that decoded
    it, if it was detected; "" if it is certain.
    """

    name: str
    blob: BlobRef
    text: str = ""
    pages: Pages = 0
    unit: str = ""
    chosen: str = ""
    encoding: str = ""
    kind: ClassVar[PartKind] = PartKind.FILE
    origins: ClassVar[tuple[OriginRun, ...]] = ()


class ImagePart(Struct, frozen=True):
    """Sizes are pixels, 0 if unknown; `text` stands in for the image where it cannot be shown."""

    name: str
    blob: BlobRef
    width: Pixels
    height: Pixels
    text: str = ""
    kind: ClassVar[PartKind] = PartKind.IMAGE
    origins: ClassVar[tuple[OriginRun, ...]] = ()


class ToolCallPart(Struct, frozen=True, omit_defaults=True):
    """A model's request to call a tool; `text` holds the arguments, as JSON. `cut`: the reply ended
    inside it, and the arguments are as far as they were written."""

    id: str
    name: str
    text: str
    cut: bool = False
    # sources of the arguments' characters
    origins: tuple[OriginRun, ...] = ()
    kind: ClassVar[PartKind] = PartKind.TOOL_CALL


class CallEnd(StrEnum):
    """The end of a call: the tool returned, or the user denied or stopped it."""

    RETURNED = "returned"
    DENIED = "denied"
    STOPPED = "stopped"


class ToolResultPart(Struct, frozen=True, omit_defaults=True):
    """Result of the tool call with this id; `failed`: it is an error. `seconds` is how long the
    tool ran. `whole`: the result before it was shortened to `text`. `source`: the tool server that
    wrote it; "" for the program's own tools. Files and images of a result are the parts after it.
    """

    id: str
    name: str
    text: str
    failed: bool = False
    end: CallEnd = CallEnd.RETURNED
    seconds: Seconds = 0.0
    whole: BlobRef | None = None
    source: str = ""
    kind: ClassVar[PartKind] = PartKind.TOOL_RESULT
    origins: ClassVar[tuple[OriginRun, ...]] = ()


class PassagePart(Struct, frozen=True, omit_defaults=True):
    """A passage of a file that was found for a question. `number`: its mark, through the whole
    chat. The place is characters `start` to `end` of the text of the file whose bytes have this
    `digest` (SHA-256); `page` and `line`: from 1 on, 0 if unknown. `source`: the folder that the
    user added, `path`: in it. `again`: it was given earlier in the chat, and has no text here.
    `note`: a model's words about a document that it read whole; `text` is then what it quoted."""

    number: Count
    name: str
    text: str
    source: str = ""
    path: str = ""
    digest: str = ""
    start: Count = 0
    end: Count = 0
    page: Count = 0
    line: Count = 0
    heading: str = ""
    again: bool = False
    note: str = ""
    kind: ClassVar[PartKind] = PartKind.PASSAGE
    origins: ClassVar[tuple[OriginRun, ...]] = ()


class CoveragePart(Struct, frozen=True, omit_defaults=True):
    """The reading of whole documents for a question: `read` of `total` were read, and `found` of
    these say something on it. `unread`: names of documents that could not be read; `short`: the
    number of notes that the context had no room for."""

    total: Count
    read: Count = 0
    found: Count = 0
    unread: tuple[str, ...] = ()
    short: Count = 0
    text: str = ""
    name: ClassVar[str] = ""
    kind: ClassVar[PartKind] = PartKind.COVERAGE
    origins: ClassVar[tuple[OriginRun, ...]] = ()


class SearchOutcome(StrEnum):
    """The end of a search for a question's passages: some were given; they only resemble the
    question, and the user had them given; the user left those out; none has to do with the
    question; the context had no room for any; the search failed."""

    GIVEN = "given"
    RESEMBLING = "resembling"
    LEFT_OUT = "left out"
    NOTHING = "nothing"
    NO_ROOM = "no room"
    FAILED = "failed"


class SearchPart(Struct, frozen=True, omit_defaults=True):
    """A search of the user's files for a question; models do not read it. `sources`: names of the
    folders and files that were searched; `given`: the number of passages that the question was
    given. `problem`: why the search failed, as a stored Told."""

    sources: tuple[str, ...]
    given: Count = 0
    outcome: SearchOutcome = SearchOutcome.GIVEN
    problem: str = ""
    text: str = ""
    name: ClassVar[str] = ""
    kind: ClassVar[PartKind] = PartKind.SEARCH
    origins: ClassVar[tuple[OriginRun, ...]] = ()


class LeftOutPart(Struct, frozen=True, omit_defaults=True):
    """Something that the prompt of a reply lacked; models do not read it. `told`: a stored Told,
    see `left_out`."""

    told: str = ""
    text: str = ""
    name: ClassVar[str] = ""
    kind: ClassVar[PartKind] = PartKind.LEFT_OUT
    origins: ClassVar[tuple[OriginRun, ...]] = ()


class UnknownPart(Struct, frozen=True):
    """A damaged part, or one that another version stored: every verb keeps it unchanged.

    `name` is its kind, `data` and `blob` the stored values; `digest` marks damage.
    """

    name: str
    text: str
    data: str | None = None
    blob_digest: str | None = None
    digest: int | None = None
    kind: ClassVar[PartKind] = PartKind.UNKNOWN
    origins: ClassVar[tuple[OriginRun, ...]] = ()


def blob_of(part: Part) -> BlobRef | None:
    """The stored bytes of a known part."""
    if isinstance(part, FilePart | ImagePart):
        return part.blob
    return part.whole if isinstance(part, ToolResultPart) else None


def needed_blobs(parts: Iterable[Part]) -> list[str]:
    """The digests of all blobs that parts refer to, each once."""
    found: dict[str, None] = {}
    for part in parts:
        blob = blob_of(part)
        if blob is not None:
            found[blob.digest] = None
        elif isinstance(part, UnknownPart) and part.blob_digest:
            found[part.blob_digest] = None
    return list(found)


# written by a person or a model, character by character
WrittenPart: TypeAlias = TextPart | ReasoningPart
# parts of the steps of a reply
ToolPart: TypeAlias = ToolCallPart | ToolResultPart
OtherPart: TypeAlias = (
    FilePart
    | ImagePart
    | ToolCallPart
    | ToolResultPart
    | PassagePart
    | CoveragePart
    | SearchPart
    | LeftOutPart
    | UnknownPart
)
Part: TypeAlias = WrittenPart | OtherPart
# the known kinds of them
OTHER_KINDS: tuple[type[OtherPart], ...] = (
    FilePart,
    ImagePart,
    ToolCallPart,
    ToolResultPart,
    PassagePart,
    CoveragePart,
    SearchPart,
    LeftOutPart,
)


def written(
    kind: PartKind, text: str, origins: Sequence[OriginRun] = ()
) -> TextPart | ReasoningPart:
    """Make a part of text or reasoning; any other kind becomes text."""
    make = ReasoningPart if kind is PartKind.REASONING else TextPart
    return make(text, tuple(origins))


def text_part(text: str) -> tuple[TextPart, ...]:
    return (TextPart(text),) if text else ()


# between texts that a tool call separates
PARAGRAPH = "\n\n"


def text_of(parts: Iterable[Part]) -> str:
    """The text, in which those pieces that a tool call separates are paragraphs."""
    return joined_text((part.kind, part.text) for part in parts)


def joined_text(parts: Iterable[tuple[PartKind | str, str]]) -> str:
    """`text_of` for kinds and texts."""
    found: list[str] = []
    called = False
    for kind, text in parts:
        if kind in (PartKind.TOOL_CALL, PartKind.TOOL_RESULT):
            called = bool(found)
        elif kind == PartKind.TEXT and text:
            if called:
                found.append(PARAGRAPH)
            called = False
            found.append(text)
    return "".join(found)


def origins_of(parts: Iterable[Part]) -> tuple[OriginRun, ...]:
    """The origins of `text_of`'s characters; () if none is known."""
    runs: list[OriginRun] = []
    called = known = False
    for part in parts:
        if isinstance(part, ToolPart):
            called = bool(runs)
        elif isinstance(part, TextPart) and part.text:
            if called:
                append_run(runs, len(PARAGRAPH), Origin.TARGET)
            called, known = False, known or bool(part.origins)
            for run in part.origins:
                append_run(runs, run.length, run.origin)
            rest = len(part.text) - sum(run.length for run in part.origins)
            append_run(runs, max(0, rest), Origin.TARGET)
    return tuple(runs) if known else ()


def append_run(runs: list[OriginRun], length: int, origin: Origin) -> None:
    """Add `length` characters to a run-length list, joining runs of the same origin."""
    if runs and runs[-1].origin is origin:
        runs[-1] = OriginRun(runs[-1].length + length, origin)
    elif length:
        runs.append(OriginRun(length, origin))


def cut_runs(runs: Iterable[OriginRun], length: int) -> tuple[OriginRun, ...]:
    """The runs of the first `length` characters."""
    found: list[OriginRun] = []
    for run in runs:
        append_run(found, min(run.length, length), run.origin)
        length -= min(run.length, length)
    return tuple(one for one in found if one.length)


def sound_origins(runs: Sequence[OriginRun], text: str) -> tuple[OriginRun, ...]:
    """The runs of a text from a file or a row, without those beyond its end."""
    beyond = sum(run.length for run in runs) > len(text)
    return cut_runs(runs, len(text)) if beyond else tuple(runs)


def joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Join neighbouring text parts, and reasoning parts; keeps origins and drops empty parts."""
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

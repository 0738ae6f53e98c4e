"""A file of the next message as the window shows it, and the texts about files. Pure."""

from __future__ import annotations

from msgspec import Struct

from headstart.core.chats.attachments import about_tokens, numbers_of, pages_without_text
from headstart.core.chats.left_out import told_of
from headstart.core.chats.parts import (
    CoveragePart,
    FilePart,
    ImagePart,
    LeftOutPart,
    OtherPart,
    PassagePart,
    SearchPart,
    ToolCallPart,
    ToolResultPart,
)
from headstart.core.text.locale import locale
from headstart.core.text.shown import size_text
from headstart.ui.source_words import passage_place, search_words
from headstart.ui.wording import say


class Attachment(Struct, frozen=True):
    """Has `part` once the file is read, `fraction` until then, `tokens` once they are counted."""

    id: str
    name: str
    part: FilePart | ImagePart | None = None
    fraction: float = 0.0
    tokens: int = 0

    @property
    def facts(self) -> str:
        if self.part is None:
            return (
                say("window.reading-fraction", fraction=self.fraction)
                if self.fraction
                else say("window.reading")
            )
        if isinstance(self.part, ImagePart):
            return facts_of(self.part)
        if self.warning:
            return pages_of(self.part)
        tokens = self.tokens or about_tokens(self.part.text)
        counted = say("window.tokens" if self.tokens else "window.about-tokens", tokens=tokens)
        return " · ".join(fact for fact in (pages_of(self.part), counted) if fact)

    @property
    def warning(self) -> str:
        """Short warning about pages without text; "" for none."""
        return missing_text(self.part) if isinstance(self.part, FilePart) else ""


def missing_text(part: FilePart) -> str:
    """Short warning about a file's pages without text; "" for none."""
    missing = pages_without_text(part.text, part.pages)
    if not missing:
        return ""
    if not only_marks(part):
        return say("window.missing-without-text", missing=missing)
    return say("window.no-text-to-read-scan")


def only_marks(part: FilePart) -> bool:
    """True for a file without any text."""
    chosen = part.pages if not part.chosen else len(numbers_of(part.chosen, part.pages))
    return pages_without_text(part.text, part.pages) >= chosen


def facts_of(part: FilePart | ImagePart) -> str:
    """Dimensions of an image, or the pages or size of another file."""
    if isinstance(part, ImagePart):
        known = part.width and part.height
        return f"{locale().number(part.width)} × {locale().number(part.height)}" if known else ""
    return pages_of(part) or size_text(part.blob.size)


def pages_of(part: FilePart) -> str:
    if part.chosen:
        return say("window.chosen", unit=part.unit, chosen=part.chosen, pages=part.pages)
    return say("window.pages", pages=part.pages) if part.unit == "page" else ""


def part_words(part: OtherPart) -> str:
    """One-line description of the part for the user."""
    match part:
        case FilePart(chosen=""):
            return say("window.file", name=part.name, size=part.blob.size)
        case FilePart():
            file = say("window.file", name=part.name, size=part.blob.size)
            return f"{file}, {pages_of(part)}"
        case ImagePart(width=0) | ImagePart(height=0):
            return part.name
        case ImagePart():
            return say("window.image", name=part.name, width=part.width, height=part.height)
        case ToolCallPart():
            return say("window.tool-call", name=part.name)
        case ToolResultPart(failed=True):
            return say("window.tool-failed", name=part.name)
        case ToolResultPart():
            return say("window.tool-result", name=part.name)
        case PassagePart():
            return say("window.passage", number=part.number, place=passage_place(part))
        case CoveragePart():
            return say("window.coverage", read=part.read, total=part.total)
        case SearchPart():
            return " ".join(filter(None, search_words(part)))
        case LeftOutPart():
            told = told_of(part)
            return "" if told is None else told.message
        case _:
            return say("window.unknown-part", name=part.name)

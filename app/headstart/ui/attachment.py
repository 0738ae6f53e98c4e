"""One file of the next message, as the window shows it; and what is said of files. Pure."""

from __future__ import annotations

from msgspec import Struct

from headstart.core.chats.attachments import about_tokens, numbers_of, pages_without_text
from headstart.core.chats.parts import FilePart, ImagePart
from headstart.core.text.shown import count_words, size_text


class Attachment(Struct, frozen=True):
    """`part` when it is read, `fraction` until then; `tokens` when they are counted."""

    id: str
    name: str
    part: FilePart | ImagePart | None = None
    fraction: float = 0.0
    tokens: int = 0

    @property
    def facts(self) -> str:
        if self.part is None:
            return f"reading… {self.fraction:.0%}" if self.fraction else "reading…"
        if isinstance(self.part, ImagePart):
            return facts_of(self.part)
        if self.warning:
            return pages_of(self.part)
        tokens = self.tokens or about_tokens(self.part.text)
        counted = f"{'' if self.tokens else 'about '}{tokens:,} tokens"
        return " · ".join(fact for fact in (pages_of(self.part), counted) if fact)

    @property
    def warning(self) -> str:
        """Text that a model would miss, in a few words; "" for none."""
        if not isinstance(self.part, FilePart):
            return ""
        missing = pages_without_text(self.part.text, self.part.pages)
        if not missing:
            return ""
        if not only_marks(self.part):
            return f"{count_words(missing, 'page')} without text"
        return "no text to read: a scan"


def only_marks(part: FilePart) -> bool:
    """True for a file without any text."""
    chosen = part.pages if not part.chosen else len(numbers_of(part.chosen, part.pages))
    return pages_without_text(part.text, part.pages) >= chosen


def facts_of(part: FilePart | ImagePart) -> str:
    """Facts of a file besides its name."""
    if isinstance(part, ImagePart):
        return f"{part.width:,} × {part.height:,}"
    return pages_of(part) or size_text(part.blob.size)


def pages_of(part: FilePart) -> str:
    if part.chosen:
        return f"{part.unit}s {part.chosen} of {part.pages}"
    return count_words(part.pages, part.unit) if part.unit == "page" else ""

"""A question to every document: prompts, stretches of long documents, notes, coverage. Pure.

Each document is read whole, by a prompt that begins with it and nothing else: its computed state is
found by every later question, and by every chat that pins it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.chats.attachments import about_tokens, about_tokens_of, wide_in
from headstart.core.chats.parts import PassagePart
from headstart.core.knowledge.citations import is_quote, quote_span, quotes_in
from headstart.core.knowledge.pieces import PAGE_BREAK, CutPiece, cut
from headstart.core.knowledge.pinned import END, DocumentText, PinnedDocument
from headstart.core.requests import SharedText

# behind a document, in place of the user's system prompt
INSTRUCTIONS = (
    "Answer the question from this document only. First copy the sentences that answer it, word"
    " for word, in quotation marks. Then answer in one short sentence. If the document does not"
    " answer the question, write only: NOTHING"
)
# tokens of a note, and the fewest to which a note is shortened
NOTE_TOKENS, LEAST_NOTE = 160, 40
# the share of the free context that notes may fill, and their tokens where it is unknown
_SHARE, _USUAL = 0.5, 4_000
# tokens that stay free for the answer
_REST = 1_024
# estimated tokens of a stretch as a share of the context: most texts have fewer, and one that has
# more is cut once its tokens were counted; where nobody counts; where the context is unknown, their
# number
_FILLED, _SURE, _STRETCH = 1.1, 0.65, 6_000
# the share of the context that a counted stretch fills
_COUNTED = 0.8
_NOTHING = "nothing"
# letters of a note that only says so
_LONGEST_NOTHING = 24
# quotes of a document with a number of their own, and characters between two that share one
_MOST_QUOTES, _NEAR = 3, 400
_CHARACTERS = 4
# characters by which the end of a document is found in a prompt
_ENDING = 40
_PREFIX = "document:"


class SurveyDocument(Struct, frozen=True):
    """A file as it was read: `digest` as in `PinnedDocument`; `tokens` are estimated. `paged`: its
    pages are separated by PAGE_BREAK."""

    source: str
    path: str
    digest: str
    tokens: int
    paged: bool = False

    @property
    def name(self) -> str:
        return self.pinned.name

    @property
    def pinned(self) -> PinnedDocument:
        return PinnedDocument(self.source, self.path, self.digest)


class Stretch(Struct, frozen=True):
    """A part of a document that fits the context: characters from `start` on."""

    number: int
    total: int
    start: int
    text: str

    def named(self, name: str) -> str:
        """The document's name as its prompt has it."""
        return name if self.total == 1 else f"{name}, part {self.number} of {self.total}"


def document_owner(
    digest: str, model_key: str, stretch: Stretch | None = None, alone: str = ""
) -> str:
    """The owner of the state that a model computed for a stretch, in place of a chat's id; None:
    the beginning of all stretches' owners. `alone`: the chat that shares its state with no other:
    what a private chat computes must not be stored for the next one."""
    model = hashlib.blake2b(model_key.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    owner = f"{document_begin(digest)}{model}" + (f":alone:{alone}" if alone else "")
    if stretch is None or stretch.total == 1:
        return owner
    return f"{owner}:{stretch.number}/{stretch.total}"


def shared_texts(documents: Sequence[DocumentText], model_key: str) -> tuple[SharedText, ...]:
    """The texts of whole documents that stand first in a prompt, with the owners of their state.
    What stands behind another document is another state than alone."""
    found: list[SharedText] = []
    before = hashlib.blake2b(digest_size=4)
    for number, one in enumerate(documents, 2):
        if not one.digest:
            break
        owner = document_owner(one.digest, model_key)
        if found:
            owner = f"{owner}:{before.hexdigest()}"
        before.update(one.digest.encode())
        # a text may repeat itself: its end is where the next one begins
        after = f"\n\n[Document {number}: " if number <= len(documents) else f"\n\n{END}"
        found.append(SharedText(owner, one.text.strip()[-_ENDING:] + after))
    return tuple(found)


def document_begin(digest: str) -> str:
    """The beginning of the owners of all that was computed for a document."""
    return f"{_PREFIX}{digest[:24]}:"


def begin_of(owner: str) -> str:
    """The beginning of a document's owner, as `document_begin` makes it."""
    return ":".join(owner.split(":")[:2]) + ":"


def whole_owner(owner: str) -> str:
    """The owner of a whole document, for that of a part of it."""
    return ":".join(owner.split(":")[:3])


def is_document(owner: str) -> bool:
    """True for the owner of a document's computed state."""
    return owner.startswith(_PREFIX)


def stretch_tokens(context: int, counted: bool = True) -> int:
    """Estimated tokens of a document for one prompt in a context of this size; 0: unknown.
    `counted`: a prompt that is too long is refused with its number of tokens."""
    if not context:
        return _STRETCH
    return int(context * (_FILLED if counted else _SURE))


def smaller_stretch(stretch: Stretch, facts: Mapping[str, object]) -> int:
    """Estimated tokens for smaller stretches, after one was too long; `facts`: those of the
    problem, the counted tokens and the size of the context among them."""
    now = about_tokens(stretch.text)
    tokens, size = facts.get("tokens"), facts.get("size")
    if isinstance(tokens, int) and isinstance(size, int) and tokens:
        # what was counted may be a part of the prompt
        return int(now * _COUNTED * min(1.0, size / tokens))
    return now // 2


def stretches(text: str, tokens: int, paged: bool = False) -> list[Stretch]:
    """A document in parts of at most `tokens` (estimated), along headings where it has some."""
    if about_tokens(text) <= tokens:
        return [Stretch(1, 1, 0, text)]
    spans, start, first = list[tuple[int, int]](), 0, 0
    pieces = cut(text, paged)
    wide = [wide_in(text[one.start : one.end]) for one in pieces]
    for number, piece in enumerate(pieces):
        # what a border leaves over may not fit together with the piece either
        while number > first and tokens < about_tokens_of(
            piece.end - start, sum(wide[first : number + 1])
        ):
            at = _border(pieces, first, number)
            spans.append((start, pieces[at].start))
            start, first = pieces[at].start, at
        if number + 1 == len(pieces):
            spans.append((start, piece.end))
    return [
        Stretch(number, len(spans), begin, text[begin:end])
        for number, (begin, end) in enumerate(spans, 1)
    ]


def _border(pieces: Sequence[CutPiece], first: int, end: int) -> int:
    """The piece with which the next stretch begins: the last one under other headings in the second
    half, else the one that does not fit."""
    for at in range(end, first + (end - first) // 2, -1):
        if pieces[at].heading != pieces[at - 1].heading:
            return at
    return end


def says_nothing(note: str) -> bool:
    """True for the note on a document that does not answer the question."""
    letters = "".join(one for one in note.casefold() if one.isalpha())
    return not letters or (letters.startswith(_NOTHING) and len(letters) <= _LONGEST_NOTHING)


def noted(
    document: SurveyDocument, text: str, stretch: Stretch, note: str, number: int
) -> tuple[PassagePart, ...]:
    """The parts for a note on a stretch of `text`, numbered from `number` on: the first has the
    note, each has a place that the note quotes literally. () where the note says nothing."""
    note = note.strip()
    if says_nothing(note):
        return ()
    spans = _spans(stretch.text, note)
    parts = []
    for place, (begin, stop) in enumerate(spans or [(0, 0)]):
        start, end = stretch.start + begin, stretch.start + stop
        page, line, heading = _place(text, start, document.paged)
        parts.append(
            PassagePart(
                number + place,
                document.name,
                text[start:end],
                document.source,
                document.path,
                document.digest,
                start,
                end,
                page,
                line,
                heading,
                note="" if place else note,
            )
        )
    return tuple(parts)


def _spans(text: str, note: str) -> list[tuple[int, int]]:
    """The places of a note's quotes in a text, in their order there; near ones are one place."""
    found = [quote_span(text, one) for one in quotes_in(note) if is_quote(one)]
    joined: list[tuple[int, int]] = []
    for start, end in sorted(one for one in found if one is not None):
        if joined and start - joined[-1][1] <= _NEAR:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined[:_MOST_QUOTES]


def _place(text: str, start: int, paged: bool) -> tuple[int, int, str]:
    """Page (0 without pages), line and headings of a character of a text."""
    before = text[:start]
    page = before.count(PAGE_BREAK) + 1 if paged else 0
    line = before.count("\n", before.rfind(PAGE_BREAK) + 1 if paged else 0) + 1
    heading = next((one.heading for one in cut(text, paged) if one.start <= start < one.end), "")
    return page, line, heading


def fitted(parts: Sequence[PassagePart], tokens: int) -> tuple[tuple[PassagePart, ...], int]:
    """The parts of all notes in at most `tokens` (estimated), and the number of notes left out.
    Long notes are shortened first, then those without a literal quote are left out, then the
    last."""
    notes = [one for one in parts if one.note]
    if not notes or sum(map(_cost, parts)) <= tokens:
        return tuple(parts), 0
    room = max(LEAST_NOTE, tokens // len(notes)) * _CHARACTERS
    short = [replace(one, note=_shortened(one.note, room)) for one in notes]
    short.sort(key=lambda one: not one.text)
    kept, left = list[PassagePart](), tokens
    for one in short:
        left -= _cost(one)
        if kept and left < 0:
            break
        kept.append(one)
    kept.sort(key=lambda one: one.number)
    return tuple(kept), len(notes) - len(kept)


def room_for_notes(context: int, used: int) -> int:
    """Tokens for all notes, in a context of this size, `used` of which are; 0: unknown."""
    if not context:
        return _USUAL
    return max(LEAST_NOTE, int((context - min(_REST, context // 4) - used) * _SHARE))


def _cost(part: PassagePart) -> int:
    return about_tokens(part.note or part.text) + 16


def _shortened(note: str, room: int) -> str:
    if len(note) <= room:
        return note
    space = note.rfind(" ", room // 2, room - 1)
    return note[: space if space > 0 else room - 1].rstrip() + "…"

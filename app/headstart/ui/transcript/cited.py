"""Marks of passages in replies: where they are in a block, and their tips. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

from msgspec import Struct
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)

from headstart.core.chats.parts import PassagePart
from headstart.core.chats.values import Message
from headstart.core.knowledge.citations import Cited, citations
from headstart.core.knowledge.passages import cited_texts
from headstart.core.text.shown import shortened
from headstart.core.text.units import spans_in_units
from headstart.ui.kit import theme
from headstart.ui.kit.tips import plain_tip
from headstart.ui.source_words import passage_place
from headstart.ui.wording import say

# characters of a passage in a tip
_MOST_TIP = 700


class CitedMark(Struct, frozen=True):
    """A mark in a block's document: UTF-16 units from `begin` to `end`. `quote`: the words before
    it that are in the passage, if any."""

    begin: int
    end: int
    part: PassagePart
    state: Cited
    quote: str = ""


def marks_in(shown: str, passages: Mapping[int, PassagePart]) -> list[CitedMark]:
    """The marks in a block's text; `passages`: those of the chat, by number."""
    if "[" not in shown:
        return []
    found = citations(shown, cited_texts(passages))
    spans = spans_in_units(shown, [(one.start, one.end, one) for one in found])
    return [
        CitedMark(begin, end, passages[one.number], one.state, one.quote)
        for begin, end, one in spans
    ]


class HasMessage(Protocol):
    """A row of the transcript."""

    message: Message


class ChatCitations:
    """The marks in the documents of a chat's blocks, kept until a text or a passage changes."""

    def __init__(self) -> None:
        # passages by number, and the messages that have them
        self._passages: dict[int, PassagePart] = {}
        self._earlier: dict[int, PassagePart] = {}
        self._state: tuple[int, str, int] = (0, "", 0)
        self._marks: WeakKeyDictionary[
            QTextDocument, tuple[str, dict[int, PassagePart], list[CitedMark]]
        ] = WeakKeyDictionary()

    def set_earlier(self, passages: Iterable[PassagePart]) -> None:
        """The passages of messages that are not loaded."""
        self._earlier = {part.number: part for part in passages}
        self._state = (0, "", 0)

    def marks(self, document: QTextDocument, items: Sequence[HasMessage]) -> list[CitedMark]:
        """The marks in a document of the chat with these messages."""
        passages = self._of(items)
        if not passages:
            return []
        shown = document.toPlainText()
        known = self._marks.get(document)
        if known is None or known[0] != shown or known[1] is not passages:
            known = self._marks[document] = (shown, passages, marks_in(shown, passages))
        return known[2]

    def _of(self, items: Sequence[HasMessage]) -> dict[int, PassagePart]:
        # the notes of documents arrive after their question
        parts = sum(len(item.message.parts) for item in items[-2:])
        state = (len(items), items[-1].message.id if items else "", parts)
        if state != self._state:
            self._state = state
            self._passages = self._earlier | {
                part.number: part
                for item in items
                for part in item.message.parts
                if isinstance(part, PassagePart) and not part.again
            }
        return self._passages


def cited_at(
    document: QTextDocument, point: QPointF, marks: Sequence[CitedMark]
) -> CitedMark | None:
    """The mark under a point of the document."""
    if not marks:
        return None
    at = document.documentLayout().hitTest(point, Qt.HitTestAccuracy.ExactHit)
    return next((one for one in marks if one.begin <= at < one.end), None)


def cited_selections(
    document: QTextDocument, marks: Sequence[CitedMark]
) -> list[QAbstractTextDocumentLayout.Selection]:
    """Marks as an overlay: solid where the quotes are in the passage, dashed where one is not."""
    colours, found = theme.current(), []
    for one in marks:
        cursor, form = QTextCursor(document), QTextCharFormat()
        cursor.setPosition(one.begin)
        cursor.setPosition(one.end, QTextCursor.MoveMode.KeepAnchor)
        form.setForeground(QColor(colours.accent_text))
        if one.state is Cited.FOUND:
            form.setBackground(QColor(colours.found))
        elif one.state is Cited.NOT_FOUND:
            form.setForeground(QColor(colours.quiet))
            form.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DashUnderline)
        part = QAbstractTextDocumentLayout.Selection()
        part.cursor, part.format = cursor, form
        found.append(part)
    return found


def cited_tip(mark: CitedMark) -> str:
    """The place and the text of a passage, and whether a quote is in it."""
    part = mark.part
    lines = [passage_place(part), shortened(part.note or part.text, _MOST_TIP)]
    if mark.state is Cited.FOUND:
        lines.insert(1, say("transcript.quote-found"))
    elif mark.state is Cited.NOT_FOUND:
        lines.insert(1, say("transcript.quote-not-found"))
    return plain_tip("\n\n".join(lines))

"""The text of a file at the place of a passage, with the passage marked. Main thread."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QTextEdit, QWidget

from headstart.core.chats.parts import PassagePart
from headstart.core.knowledge.citations import quote_span
from headstart.core.text.shown import shortened
from headstart.core.text.units import units
from headstart.ui.kit import theme
from headstart.ui.kit.sheet import Sheet
from headstart.ui.source_words import passage_place
from headstart.ui.wording import say

# characters shown before and after a passage
_AROUND = 100_000
# characters of a note
_NOTE = 1_000


class PassageWindow(Sheet):
    """The passage itself at once; its surroundings when they were read."""

    def __init__(self, part: PassagePart, parent: QWidget | None, quote: str = "") -> None:
        title = passage_place(part)
        super().__init__(title, parent, (760, 600))
        self.part = part
        # the words to mark, in the passage
        self._span = quote_span(part.text, quote) or (0, len(part.text))
        path = part.path or part.name
        facts = [one for one in (path, part.heading) if one and one != title]
        self.facts = self.word(" · ".join(facts))
        self.facts.setVisible(bool(facts))
        self.told = QLabel(self)
        self.told.setObjectName("quiet")
        self.told.setWordWrap(True)
        self.told.setTextFormat(Qt.TextFormat.PlainText)
        self.told.hide()
        if part.note:
            self._tell(say("knowledge.note-of-model", note=shortened(part.note, _NOTE)))
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(say("knowledge.text-of", name=part.name))
        self.text.setPlainText(part.text)
        self.column.addWidget(self.facts)
        self.column.addWidget(self.told)
        self.column.addWidget(self.text, 1)

    def show_text(self, text: str) -> None:
        """Show the whole text of the file as it was read; "": the index does not have it."""
        part = self.part
        if text[part.start : part.end] != part.text or not part.text:
            if not (part.again or part.note):
                # the file changed since, or its folder was removed
                self._tell(say("knowledge.changed-since"))
                return
            if not text:
                self._tell(say("knowledge.text-gone"))
                return
        first = max(0, part.start - _AROUND)
        shown = text[first : part.end + _AROUND].replace("\f", "\n")
        self.text.setPlainText(shown)
        at = part.start - first
        span = (0, part.end - part.start) if part.again else self._span
        begin = units(shown[: at + span[0]])
        self._mark(begin, begin + units(shown[at + span[0] : at + span[1]]))

    def _tell(self, words: str) -> None:
        self.told.setText(words)
        self.told.show()

    @property
    def marked(self) -> str:
        """The marked text."""
        marks = self.text.extraSelections()
        return marks[0].cursor.selectedText().replace("\u2029", "\n") if marks else ""

    def _mark(self, begin: int, end: int) -> None:
        cursor = QTextCursor(self.text.document())
        cursor.setPosition(begin)
        self.text.setTextCursor(cursor)
        self.text.centerCursor()
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        mark = QTextEdit.ExtraSelection()
        form = QTextCharFormat()
        form.setBackground(QColor(theme.current().found))
        mark.cursor, mark.format = cursor, form
        self.text.setExtraSelections([mark])

"""The text of a file at the place of a passage, with the passage marked. Main thread."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QStackedWidget,
    QTextEdit,
    QToolButton,
    QWidget,
)

from headstart.core.chats.parts import PassagePart
from headstart.core.knowledge.citations import quote_span
from headstart.core.knowledge.pieces import PAGE_BREAK
from headstart.core.knowledge.values import PagePicture
from headstart.core.text.shown import shortened
from headstart.core.text.units import units
from headstart.ui.kit import icons, theme
from headstart.ui.kit.mirrored import back_icon, forward_icon
from headstart.ui.kit.segments import Segments
from headstart.ui.kit.sheet import Sheet
from headstart.ui.knowledge.page_view import PageView
from headstart.ui.source_words import passage_place
from headstart.ui.wording import say

# characters shown before and after a passage
_AROUND = 100_000
# characters of a note
_NOTE = 1_000
# pages of a file: an imported number may be any
_MOST_PAGES = 1_000_000


class PassageWindow(Sheet):
    """The passage itself at once; its surroundings when they were read. A page of a PDF is shown
    as a picture: emits `page_wanted` with its number, the words to mark, and its width in pixels.
    """

    page_wanted = Signal(int, str, int)

    def __init__(self, part: PassagePart, parent: QWidget | None, quote: str = "") -> None:
        title = passage_place(part)
        super().__init__(title, parent, (760, 720) if part.page else (760, 600))
        self.part = part
        # the words to mark, in the passage
        self._span = quote_span(part.text, quote) or (0, len(part.text))
        self._marked = part.text[slice(*self._span)].split(PAGE_BREAK)
        self._first = part.page + part.text.count(PAGE_BREAK, 0, self._span[0])
        self._page, self._pages, self._width = self._first, 0, 0
        # the page on show
        self._drawn = 0
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
        self.text.setPlainText(part.text.replace(PAGE_BREAK, "\n"))
        self.view = PageView(self)
        self.shown = QStackedWidget(self)
        self.shown.addWidget(self.text)
        self.shown.addWidget(self.view)
        self.view.resized.connect(self._on_resized)
        self.column.addWidget(self.facts)
        self.column.addWidget(self.told)
        self.column.addWidget(self._bar())
        self.column.addWidget(self.shown, 1)

    def _bar(self) -> QWidget:
        """The choice between the page and its text, and the way to other pages; hidden until a page
        was drawn."""
        labels = {"page": say("knowledge.as-page"), "text": say("knowledge.as-text")}
        self.kind = Segments(say("knowledge.shown-as"), labels, self)
        self.kind.chosen.connect(self._show_kind)
        self.before = self._turn(back_icon(), say("knowledge.page-before"), -1)
        self.after = self._turn(forward_icon(), say("knowledge.page-after"), 1)
        self.number = QLabel(self)
        self.number.setObjectName("quiet")
        self.bar = QWidget(self)
        row = QHBoxLayout(self.bar)
        row.setContentsMargins(0, 0, 0, 0)
        for one in (self.kind, self.before, self.number, self.after):
            row.addWidget(one)
        row.addStretch(1)
        self.bar.hide()
        return self.bar

    def _turn(self, icon: str, title: str, step: int) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(icons.icon(icon))
        button.setToolTip(title)
        button.setAccessibleName(title)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: self.want_page(self._page + step or -1))
        return button

    def want_page(self, page: int = 0) -> None:
        """Ask for a page, by default that of the marked words."""
        page = page or self._first
        if not 0 < page <= (self._pages or _MOST_PAGES):
            return
        self._page = page
        at = self._page - self._first
        words = self._marked[at] if 0 <= at < len(self._marked) else ""
        if self._page:
            self.before.setEnabled(page > 1)
            self.after.setEnabled(page < self._pages)
            self._width = self.view.pixels(self.shown.width())
            self.page_wanted.emit(self._page, words, self._width)

    def _on_resized(self) -> None:
        if self._pages and self.view.pixels(self.shown.width()) != self._width:
            self.want_page(self._page)

    def show_page(self, page: int, picture: PagePicture | None) -> None:
        """Show a page that was drawn; None: it cannot be, the text stays."""
        if page != self._page:
            return
        if picture is None:
            self._page = self._drawn
            return
        self._drawn = page
        if not self._pages:
            self.kind.set_value("page")
            self._show_kind("page")
            self.bar.show()
        self._pages = picture.pages
        words = say("knowledge.page-of", page=page, pages=picture.pages)
        self.number.setText(words)
        self.view.show_picture(picture, f"{self.part.name}, {words}")
        self.before.setEnabled(page > 1)
        self.after.setEnabled(page < picture.pages)

    def _show_kind(self, kind: str) -> None:
        self.shown.setCurrentWidget(self.view if kind == "page" else self.text)

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
        shown = text[first : part.end + _AROUND].replace(PAGE_BREAK, "\n")
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

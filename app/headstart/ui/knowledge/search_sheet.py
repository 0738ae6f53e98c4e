"""Search of all files, without a model: type, see passages with their places, open one, ask about
them. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from headstart.chat.knowledge.searching import KnowledgeFound
from headstart.core.chats.parts import PassagePart
from headstart.core.knowledge.values import KnowledgeHit
from headstart.core.text.shown import isolated, shortened
from headstart.ui.kit.fields import clearable
from headstart.ui.kit.hints import set_hint
from headstart.ui.kit.sheet import Sheet
from headstart.ui.source_words import part_of, passage_place, snippet_of
from headstart.ui.wording import say


class FileSearchSheet(Sheet):
    """Emits `wanted` with each query, `opened` with a passage, and `asked` with the query and the
    sources of the passages."""

    wanted = Signal(str)
    opened = Signal(PassagePart)
    asked = Signal(str, tuple)

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(say("knowledge.search-files"), parent, (760, 600))
        self._hits: tuple[KnowledgeHit, ...] = ()
        self.field = QLineEdit(self)
        self.field.setObjectName("searchBox")
        set_hint(self.field, say("knowledge.words-or-question"))
        self.field.setAccessibleName(say("knowledge.search-files"))
        clearable(self.field)
        self.field.textEdited.connect(self._on_text)
        self.field.textChanged.connect(lambda text: None if text else self._on_text(""))
        self.field.installEventFilter(self)
        self.list = QListWidget(self)
        self.list.setObjectName("plainList")
        self.list.setAccessibleName(say("knowledge.passages"))
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemActivated.connect(self._open)
        self.list.itemClicked.connect(self._open)
        self.told = self.word(say("knowledge.about-search"))
        self.ask_button = QPushButton(say("knowledge.ask-about-these"), self)
        self.ask_button.setAutoDefault(False)
        self.ask_button.setEnabled(False)
        self.ask_button.clicked.connect(self._ask)
        line = QHBoxLayout()
        line.addWidget(self.told, 1)
        line.addWidget(self.ask_button)
        self.column.addWidget(self.field)
        self.column.addWidget(self.list, 1)
        self.column.addLayout(line)
        self.field.setFocus()

    @property
    def is_written(self) -> bool:
        """A query is no text that could be lost."""
        return False

    def show_found(self, query: str, found: KnowledgeFound) -> None:
        """Show the passages for a query, unless it has changed."""
        if query != self.field.text():
            return
        self._hits = found.hits
        self.list.clear()
        for hit in found.hits:
            row = QListWidgetItem(self._line(query, hit), self.list)
            row.setToolTip(hit.place.path or hit.place.source)
        self.ask_button.setEnabled(bool(found.hits))
        if not query.strip():
            self.told.setText(say("knowledge.about-search"))
        elif not found.hits:
            self.told.setText(say("knowledge.nothing-found"))
        else:
            code = "knowledge.found-by-meaning" if found.meant else "knowledge.found-by-words"
            self.told.setText(say(code, count=len(found.hits)))

    def _line(self, query: str, hit: KnowledgeHit) -> str:
        place = passage_place(part_of(hit))
        head = f"{place} · {hit.heading}" if hit.heading else place
        return f"{isolated(shortened(head, 120))}\n{isolated(snippet_of(query, hit.text))}"

    def _on_text(self, text: str) -> None:
        self.wanted.emit(text)

    def _open(self, _item: object = None) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._hits):
            self.opened.emit(part_of(self._hits[row]))

    def _ask(self) -> None:
        sources = tuple(dict.fromkeys(hit.place.source for hit in self._hits))
        self.asked.emit(self.field.text(), sources)
        self.accept()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        pressed = watched is self.field and event.type() == QEvent.Type.KeyPress
        if pressed and isinstance(event, QKeyEvent) and self.list.count():
            row = max(0, self.list.currentRow())
            if event.key() == Qt.Key.Key_Down:
                self.list.setFocus()
                self.list.setCurrentRow(row)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.list.setCurrentRow(row)
                self._open()
                return True
        return super().eventFilter(watched, event)

"""The whole documents of a folder of chats, in its settings: a row for each. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from headstart.core.knowledge.pinned import PinnedDocument, replaced
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.tips import plain_tip
from headstart.ui.kit.tool import small_tool
from headstart.ui.wording import say


class DocumentRows(QWidget):
    """Emits `changed` with the documents in their order, and `wanted` for another one."""

    changed = Signal(tuple)
    wanted = Signal()

    def __init__(self, documents: Sequence[PinnedDocument], parent: QWidget) -> None:
        super().__init__(parent)
        self.documents = tuple(documents)
        self.rows: list[QWidget] = []
        about = QLabel(say("window.about-folder-documents"), self)
        about.setObjectName("quiet")
        about.setWordWrap(True)
        self.button = QPushButton(say("window.choose-document"), self)
        self.button.setAutoDefault(False)
        self.button.clicked.connect(self.wanted)
        line = QHBoxLayout()
        line.addWidget(self.button)
        line.addStretch(1)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)
        self._column.addWidget(about)
        self._column.addLayout(line)
        self._show()

    def add(self, document: PinnedDocument) -> None:
        self._take(replaced(self.documents, document))

    def _take(self, documents: tuple[PinnedDocument, ...]) -> None:
        if documents != self.documents:
            self.documents = documents
            self._show()
            self.changed.emit(documents)

    def _show(self) -> None:
        for row in self.rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = [self._row(one) for one in self.documents]
        for place, row in enumerate(self.rows):
            self._column.insertWidget(place, row)
            row.show()

    def _row(self, document: PinnedDocument) -> QWidget:
        row = QWidget(self)
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        title = ElidedLabel(document.name, row)
        title.setToolTip(plain_tip(document.path or document.source))
        name = say("window.without-document", name=document.name)
        remove = small_tool(row, "x", name=name)
        remove.setAccessibleName(name)
        remove.clicked.connect(lambda: self._take(replaced(self.documents, None, document.digest)))
        line.addWidget(title, 1)
        line.addWidget(remove)
        return row

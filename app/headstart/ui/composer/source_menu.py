"""Menu of folders and files, while a word that begins with # is typed in a message.

The composer keeps the focus; its navigation keys are passed on to this list. Main thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QPlainTextEdit, QVBoxLayout

from headstart.core.text.matching import score
from headstart.core.text.units import from_units
from headstart.ui.kit import icons
from headstart.ui.source_words import source_name
from headstart.ui.wording import say

# visible rows, and the height of one in pixels
_ROWS, _ROW_HEIGHT = 8, 32
# the word before the caret; a heading of Markdown has a space after its #
_WORD = re.compile(r"(?:^|(?<=\s))#([^\s#]{0,60})$")


class SourceMenu(QFrame):
    """Emits `chosen` with the path of a source; the typed word is removed."""

    chosen = Signal(str)

    def __init__(self, edit: QPlainTextEdit) -> None:
        super().__init__(edit.window())
        self.setObjectName("palette")
        self._sources: Callable[[], Sequence[str]] = tuple
        self._edit = edit
        self._found: list[str] = []
        # the word for which the user has dismissed the menu
        self._left = ""
        self.list = QListWidget(self)
        self.list.setObjectName("plainList")
        self.list.setAccessibleName(say("composer.folders-and-files"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setIconSize(QSize(16, 16))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(self._run)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 6, 6, 6)
        layout.addWidget(self.list)
        edit.textChanged.connect(self._follow)
        edit.installEventFilter(self)
        self.hide()

    def offer(self, sources: Callable[[], Sequence[str]]) -> None:
        """`sources` returns the paths to choose from."""
        self._sources = sources

    @property
    def titles(self) -> list[str]:
        return [self.list.item(row).text() for row in range(self.list.count())]

    def _word(self) -> str | None:
        """The word before the caret, without its #; None where there is none."""
        cursor = self._edit.textCursor()
        block = cursor.block()
        before = block.text()[: from_units(block.text(), cursor.position() - block.position())]
        found = _WORD.search(before)
        return None if found is None else found[1]

    def _follow(self) -> None:
        word = self._word() if self._edit.hasFocus() else None
        if word is None:
            self._left = ""
            self.hide()
            return
        if self._left and word.startswith(self._left):
            self.hide()
            return
        sources = list(self._sources())
        scored = [(score(word, source_name(one)) if word else 0, one) for one in sources]
        answers = [(points, one) for points, one in scored if points is not None]
        self._found = [one for _points, one in sorted(answers, key=lambda it: it[0])]
        self._show()

    def _show(self) -> None:
        self.list.clear()
        for one in self._found:
            row = QListWidgetItem(icons.icon("folder-open"), source_name(one))
            row.setToolTip(one)
            self.list.addItem(row)
        if not self._found:
            self.hide()
            return
        self.list.setCurrentRow(0)
        height = min(_ROWS, len(self._found)) * _ROW_HEIGHT + 16
        over = self._edit.parentWidget() or self._edit
        place = over.mapTo(self.window(), QPoint(0, 0))
        width = min(over.width(), 460)
        self.setGeometry(place.x(), max(0, place.y() - height - 6), width, height)
        self.show()
        self.raise_()

    def _run(self, _item: object = None) -> None:
        row, word = self.list.currentRow(), self._word()
        self.hide()
        if word is None or not 0 <= row < len(self._found):
            return
        cursor = self._edit.textCursor()
        moves = QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor
        # the word and its #; characters beyond the basic plane are two steps
        cursor.movePosition(*moves, len(word.encode("utf-16-le")) // 2 + 1)
        cursor.removeSelectedText()
        self.chosen.emit(self._found[row])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self.hide()
        if not self.isHidden() and isinstance(event, QKeyEvent):
            # a shortcut of the window would take Esc and Enter first
            if event.type() == QEvent.Type.ShortcutOverride and event.key() in _KEYS:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                return self._on_key(event)
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        row, last = self.list.currentRow(), self.list.count() - 1
        match event.key():
            case Qt.Key.Key_Down:
                self.list.setCurrentRow(min(last, row + 1))
            case Qt.Key.Key_Up:
                self.list.setCurrentRow(max(0, row - 1))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Tab:
                self._run()
            case Qt.Key.Key_Escape:
                self._left = self._word() or "#"
                self.hide()
            case _:
                return False
        return True


_KEYS = (
    *(Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab),
    *(Qt.Key.Key_Up, Qt.Key.Key_Down),
)

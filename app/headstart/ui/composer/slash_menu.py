"""Menu of a message that begins with /: the user's prompts and the program's commands.

The composer keeps the focus; its navigation keys are passed on to this list. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QPlainTextEdit, QVBoxLayout

from headstart.core.text.matching import score
from headstart.ui.kit import icons
from headstart.ui.wording import say

# the most rows, for servers with thousands of entries
_MOST = 200
# visible rows, the height of one in pixels, and the longest text to search for
_ROWS, _ROW_HEIGHT, _LONGEST = 8, 32, 60


class SlashEntry(Struct, frozen=True):
    title: str
    run: Callable[[], object]
    icon: str = ""
    note: str = ""


def _nothing() -> Iterable[SlashEntry]:
    return ()


class SlashMenu(QFrame):
    """`entries` returns every entry, the likeliest first."""

    def __init__(self, edit: QPlainTextEdit) -> None:
        super().__init__(edit.window())
        self.setObjectName("palette")
        self.entries: Callable[[], Iterable[SlashEntry]] = _nothing
        # further entries, after those
        self._more: Callable[[], Iterable[SlashEntry]] = _nothing
        self._edit = edit
        self._known: Sequence[SlashEntry] | None = None
        self._found: Sequence[SlashEntry] = ()
        # True once the user has dismissed the menu, until the text no longer begins with /
        self._left = False
        self.list = QListWidget(self)
        self.list.setObjectName("plainList")
        self.list.setAccessibleName(say("composer.prompts-and-commands"))
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

    def add_entries(self, more: Callable[[], Iterable[SlashEntry]]) -> None:
        """Show these entries, too, after the program's own."""
        self._more = more

    @property
    def titles(self) -> list[str]:
        return [one.title for one in self._found]

    def _follow(self) -> None:
        text = self._edit.toPlainText()
        if not text.startswith("/"):
            self._known, self._left = None, False
            self.hide()
            return
        wanted = text[1:]
        if self._left or "\n" in text or len(wanted) > _LONGEST or not self._edit.hasFocus():
            self.hide()
            return
        if self._known is None:
            self._known = (*self.entries(), *self._more())
        scored = [(score(wanted, one.title), one) for one in self._known]
        # a smaller score is better; without words all entries stay, in their own order
        answers = [(points, one) for points, one in scored if points is not None]
        self._found = [one for _points, one in sorted(answers, key=lambda it: it[0])]
        if not wanted.strip():
            self._found = self._known
        self._show()

    def _show(self) -> None:
        self.list.clear()
        # the others are found by more words
        self._found = self._found[:_MOST]
        for one in self._found:
            row = QListWidgetItem(f"{one.title}   {one.note}" if one.note else one.title)
            row.setIcon(icons.icon(one.icon or "slash"))
            self.list.addItem(row)
        if not self._found:
            self.hide()
            return
        self.list.setCurrentRow(0)
        height = min(_ROWS, len(self._found)) * _ROW_HEIGHT + 16
        # above the whole composer
        over = self._edit.parentWidget() or self._edit
        place = over.mapTo(self.window(), QPoint(0, 0))
        width = min(over.width(), 460)
        self.setGeometry(place.x(), max(0, place.y() - height - 6), width, height)
        self.show()
        self.raise_()

    def _run(self, _item: object = None) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._found):
            chosen = self._found[row]
            self.hide()
            # the searched text is not a message
            self._edit.setPlainText("")
            chosen.run()

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
                self._left = True
                self.hide()
            case _:
                return False
        return True


_KEYS = (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Up, Qt.Key.Key_Down)

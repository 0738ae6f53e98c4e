"""A list above the composer while a word is typed: the field keeps the focus, and its navigation
keys are passed on to the list. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QPlainTextEdit, QVBoxLayout

# visible rows, the height of one and the greatest width in pixels
_ROWS, _ROW_HEIGHT, _WIDTH = 8, 32, 460
_KEYS = (
    *(Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab),
    *(Qt.Key.Key_Up, Qt.Key.Key_Down),
)


class PopupList(QFrame):
    """Subclasses call `show_rows` when the text changes, and say what a chosen row does."""

    def __init__(self, edit: QPlainTextEdit, name: str) -> None:
        super().__init__(edit.window())
        self.setObjectName("palette")
        self.edit = edit
        self.list = QListWidget(self)
        self.list.setObjectName("plainList")
        self.list.setAccessibleName(name)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(self._run)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 6, 6, 6)
        layout.addWidget(self.list)
        edit.textChanged.connect(self.follow)
        edit.installEventFilter(self)
        self.hide()

    def follow(self) -> None:
        """Show the rows for the present text, or hide."""
        raise NotImplementedError

    def choose(self, row: int) -> None:
        """Act on a chosen row; the list is hidden."""
        raise NotImplementedError

    def dismissed(self) -> None:
        """Note that the user closed the list."""
        raise NotImplementedError

    def show_rows(self, rows: Sequence[QListWidgetItem]) -> None:
        """Show the rows above the whole composer; hidden without any."""
        self.list.clear()
        for row in rows:
            self.list.addItem(row)
        if not rows:
            self.hide()
            return
        self.list.setCurrentRow(0)
        height = min(_ROWS, len(rows)) * _ROW_HEIGHT + 16
        over = self.edit.parentWidget() or self.edit
        place = over.mapTo(self.window(), QPoint(0, 0))
        width = min(over.width(), _WIDTH)
        self.setGeometry(place.x(), max(0, place.y() - height - 6), width, height)
        self.show()
        self.raise_()

    def _run(self, _item: object = None) -> None:
        row = self.list.currentRow()
        self.hide()
        if row >= 0:
            self.choose(row)

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
                self.dismissed()
                self.hide()
            case _:
                return False
        return True

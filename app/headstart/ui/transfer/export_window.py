"""Form of an export: the chats, the format and its options; then the progress."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QWidget,
)

from headstart.chat.transfer.export_request import ExportRequest
from headstart.chat.transfer.exporting import Exporting, file_name, formats
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say

_ALL, _SOME = "transfer.every-chat-in-list", "transfer.chats-i-choose"
_ID = int(Qt.ItemDataRole.UserRole)
_ARCHIVE, _FOLDER = "transfer.one-file", "transfer.one-file-per-chat"


class ExportWindow(Sheet):
    """Emits `wanted` with the request and the target path."""

    wanted = Signal(ExportRequest, str)  # ExportRequest, path
    cancelled = Signal()

    def __init__(
        self,
        chats: Sequence[str],
        title: str,
        form: str = "",
        folder: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """`chats`: ids of the chats, none for all of the list; `title`: their common name. `form`
        and `folder`: those of the last export."""
        super().__init__(say("transfer.export"), parent)
        self.setMinimumWidth(500)
        self._chats = tuple(chats)
        self._title = title
        self._last = folder or str(Path.home())
        self.scope = Choice(self)
        self.scope.setAccessibleName(say("transfer.selection"))
        if chats:
            self.scope.addItem(
                title if len(chats) == 1 else say("transfer.chats-count", count=len(chats))
            )
        for code in (_ALL, _SOME):
            self.scope.addItem(say(code), code)
        self.list = QListWidget(self)
        self.list.setAccessibleName(say("transfer.chats-to-export"))
        self.list.setMinimumHeight(160)
        self.list.itemChanged.connect(lambda _: self._show_go())
        self.form = Choice(self)
        self.form.setAccessibleName(say("transfer.format"))
        for one in formats():
            self.form.addItem(one.title, one.code)
        self.form.setCurrentIndex(max(0, self.form.findData(form or "markdown")))
        self.about = QLabel(self)
        self.about.setObjectName("quiet")
        self.place = Choice(self)
        self.place.setAccessibleName(say("transfer.one-file-or-several"))
        for code in (_ARCHIVE, _FOLDER):
            self.place.addItem(say(code), code)
        self.reasoning = QCheckBox(say("transfer.reasoning"), self)
        self.reasoning.setChecked(True)
        self.stats = QCheckBox(say("transfer.statistics-of-each-reply"), self)
        self.branches = QCheckBox(say("transfer.other-versions-of-messages"), self)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(say("transfer.export-progress"))
        self.bar.hide()
        self.go = QPushButton(say("transfer.export-2"), self)
        self.go.setObjectName("primary")
        self.go.setDefault(True)
        self.go.clicked.connect(self._ask)
        self.end = QPushButton(say("transfer.cancel"), self)
        self.end.clicked.connect(self._on_end)
        self.scope.currentIndexChanged.connect(self._show)
        self.form.currentIndexChanged.connect(self._show)
        self._busy = False
        self._lay_out()
        self._show()

    def _lay_out(self) -> None:
        form = self._form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow(say("transfer.chats-wanted"), self.scope)
        form.addRow("", self.list)
        form.addRow(say("transfer.format"), self.form)
        form.addRow("", self.about)
        form.addRow(say("transfer.as"), self.place)
        form.addRow(say("transfer.with"), self.reasoning)
        form.addRow("", self.stats)
        form.addRow("", self.branches)
        self.column.addLayout(form)
        self.column.addWidget(self.bar)
        self.column.addStretch(1)
        self.buttons(self.end, self.go)

    def chosen(self) -> ExportRequest:
        """The current choice."""
        return Exporting.wanted(
            self._ids(),
            str(self.form.currentData()),
            reasoning=self.reasoning.isChecked(),
            stats=self.stats.isChecked(),
            branches=self.branches.isChecked(),
        )

    def set_chats(self, chats: Sequence[tuple[str, str]]) -> None:
        """Set the ids and titles of all chats to choose from."""
        self.list.clear()
        for chat_id, title in chats:
            item = QListWidgetItem(title)
            item.setData(_ID, chat_id)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self._show_go()

    def _ids(self) -> tuple[str, ...]:
        if self.scope.currentData() == _ALL:
            return ()
        if self.scope.currentData() != _SOME:
            return self._chats
        items = (self.list.item(row) for row in range(self.list.count()))
        return tuple(
            str(item.data(_ID)) for item in items if item.checkState() is Qt.CheckState.Checked
        )

    def _show_go(self) -> None:
        self.go.setEnabled(self.scope.currentData() == _ALL or bool(self._ids()))

    def show_progress(self, count: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(count)

    def show_ended(self) -> None:
        self._busy = False
        self.accept()

    def _show(self) -> None:
        one = next(one for one in formats() if one.code == self.form.currentData())
        self.about.setText(one.about)
        self._form.setRowVisible(self.list, self.scope.currentData() == _SOME)
        self._form.setRowVisible(self.place, self._several)
        self._show_go()
        for box, shown in (
            (self.reasoning, one.has_choices),
            (self.stats, one.has_choices and not one.together),
            (self.branches, one.has_branches),
        ):
            self._form.setRowVisible(box, shown)
        self.adjustSize()

    @property
    def _several(self) -> bool:
        return self.scope.currentData() in (_ALL, _SOME) or len(self._chats) > 1

    def _ask(self) -> None:
        """Ask for the path, then begin."""
        one = next(one for one in formats() if one.code == self.form.currentData())
        dialog = file_dialog(self, say("transfer.export"), self._last)
        if self._several and self.place.currentData() == _FOLDER:
            dialog.setFileMode(QFileDialog.FileMode.Directory)
        else:
            name = say("transfer.chats") if self._several else self._title
            suffix = one.suffix
            if self._several and not one.together:
                suffix = ".headstart.zip" if not one.has_choices else ".zip"
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setNameFilter(f"{one.title} (*{suffix})")
            dialog.setDefaultSuffix(suffix.removeprefix("."))
            dialog.selectFile(f"{file_name(name)}{suffix}")
        dialog.fileSelected.connect(self.begin)
        dialog.open()

    def begin(self, path: str) -> None:
        """Request the export of the current choice to `path`."""
        self._busy = True
        self.go.setEnabled(False)
        self.bar.setRange(0, 0)
        self.bar.show()
        self.wanted.emit(self.chosen(), path)

    def _on_end(self) -> None:
        if self._busy:
            self.cancelled.emit()
        else:
            self.reject()

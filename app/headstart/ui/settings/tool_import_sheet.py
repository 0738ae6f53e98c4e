"""Taking over tool servers from other programs: each command is shown whole, nothing starts. Main
thread."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from headstart.core.tool_servers.imports import FoundServer, FoundServers
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say


class ToolImportSheet(Sheet):
    """Emits `taken` with the chosen entries, `file_chosen` and `pasted` with more to read."""

    taken = Signal(list)
    file_chosen = Signal(str)
    pasted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(say("settings.import-tool-servers"), parent, (720, 600))
        self.column.addWidget(self.word(say("settings.about-import-tools")))
        self.boxes: list[tuple[QCheckBox, FoundServer]] = []
        self._seen: set[tuple[str, str]] = set()
        body, area = QWidget(self), QScrollArea(self)
        body.setObjectName("plain")
        area.setObjectName("plain")
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        self._list = QVBoxLayout(body)
        self._list.setContentsMargins(0, 0, 8, 0)
        self._list.setSpacing(6)
        self._list.addStretch(1)
        area.setWidget(body)
        self.column.addWidget(area, 1)
        self.state = self.word(say("settings.looking-for-tools"))
        self.column.addWidget(self.state)
        file = QPushButton(say("settings.choose-file"), self)
        file.clicked.connect(self._choose)
        paste = QPushButton(say("settings.paste"), self)
        paste.clicked.connect(lambda: self.pasted.emit(QApplication.clipboard().text()))
        cancel = QPushButton(say("settings.cancel"), self)
        cancel.clicked.connect(self.reject)
        self.add = QPushButton(say("settings.add"), self)
        self.add.setObjectName("primary")
        self.add.clicked.connect(self._take)
        for button in (file, paste, cancel):
            button.setAutoDefault(False)
        self.buttons(cancel, self.add, left=(file, paste))
        self._show_add()

    def show_found(self, program: str, found: FoundServers, path: str) -> None:
        """Add the entries of a file; those that are in the list already are left out."""
        new = [
            one for one in found.servers if (one.server.name, one.server.binding) not in self._seen
        ]
        if new or found.left_out:
            self.state.hide()
            words = say("settings.found-in", program=program, path=path)
            title = QLabel(words if program else say("settings.pasted"), self)
            title.setTextFormat(Qt.TextFormat.PlainText)
            title.setWordWrap(True)
            self._put(title)
        for one in new:
            self._seen.add((one.server.name, one.server.binding))
            self._put_entry(one)
        for name, why in found.left_out:
            left = self.word(say("settings.tool-left-out", name=name, why=why.text))
            self._put(left)
        self._show_add()

    def show_looked(self) -> None:
        """Every file of other programs was read."""
        if not self.boxes:
            self.state.setText(say("settings.no-tools-found"))

    def show_problem(self, text: str) -> None:
        self.state.setText(text)
        self.state.show()

    def _put_entry(self, one: FoundServer) -> None:
        box = QCheckBox(one.server.name.replace("&", "&&"), self)
        box.setChecked(not one.off)
        box.toggled.connect(lambda _on: self._show_add())
        self.boxes.append((box, one))
        self._put(box)
        names = [variable.name for variable in one.server.variables]
        lines = [one.server.target]
        if names:
            lines.append(say("settings.with-variables", names=names))
        if one.off:
            lines.append(say("settings.off-there"))
        if one.gaps:
            lines.append(say("settings.has-gaps", names=list(one.gaps)))
        if one.public:
            lines.append(say("settings.has-open-secret"))
        about = self.word("\n".join(lines))
        about.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        about.setContentsMargins(26, 0, 0, 6)
        self._put(about)

    def _put(self, widget: QWidget) -> None:
        self._list.insertWidget(self._list.count() - 1, widget)

    def _show_add(self) -> None:
        chosen = sum(box.isChecked() for box, _one in self.boxes)
        self.add.setText(say("settings.add-count", count=chosen) if chosen else say("settings.add"))
        self.add.setEnabled(chosen > 0)

    def _choose(self) -> None:
        dialog = file_dialog(self, say("settings.choose-tools-file"))
        dialog.fileSelected.connect(self.file_chosen)
        dialog.open()

    def _take(self) -> None:
        self.taken.emit([one for box, one in self.boxes if box.isChecked()])
        self.accept()

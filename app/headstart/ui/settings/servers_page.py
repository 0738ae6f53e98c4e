"""The user's servers: adding one, its key, whether it answers."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from headstart.chat.servers import Offered
from headstart.core.errors import EnvironmentProblem
from headstart.core.servers import Connection, Nearby, normal_url
from headstart.core.settings.schema import Settings
from headstart.core.text.shown import count_words
from headstart.ui.kit import icons
from headstart.ui.kit.asking import DangerQuestion
from headstart.ui.kit.fields import give_room, take_typed
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.number_boxes import WholeBox
from headstart.ui.kit.sheet import Sheet
from headstart.ui.settings.form import Page

ROW_HEIGHT = 36
ABOUT = (
    "Any server with the OpenAI chat API can answer instead of Headstart: vLLM, SGLang, "
    "llama.cpp’s server, LM Studio, Ollama. With one on another computer your text goes there; you "
    "are asked once for each server."
)
LOOKING = "Looking for programs that answer here…"
NONE_FOUND = (
    "No other program answers here now. Ollama, LM Studio, llama.cpp, vLLM, Jan and KoboldCpp are "
    "found while their server runs."
)


class ServersPage(Page):
    """Emits what the user wants; the list is given from outside."""

    save_requested = Signal(object, object)  # Connection, key or None
    remove_requested = Signal(str)
    test_requested = Signal(str)
    look_requested = Signal()
    use_requested = Signal(Nearby)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__("Servers", settings, parent)
        self._connections: list[Connection] = []
        self._results: dict[str, str] = {}
        self.column.addWidget(self.word(ABOUT))
        self._list = QListWidget(self)
        self._list.setAccessibleName("Servers")
        self._list.setMinimumHeight(140)
        self._list.currentRowChanged.connect(lambda _row: self._show_buttons())
        self._list.itemActivated.connect(lambda _item: self._edit())
        section = self.section("Your servers")
        row = QHBoxLayout()
        self.add_button = self._button("Add…", self._new, row)
        self.change_button = self._button("Change…", self._edit, row)
        self._test = self._button("Test", self._ask_test, row)
        self._remove = self._button("Remove", self._ask_remove, row)
        row.addStretch(1)
        self.told = self.word()
        section.wide(self._list, row, self.told, title="Servers that answer chats")
        section = self.section("On this computer")
        self.nearby = QVBoxLayout()
        self._looked = self.word(LOOKING)
        again = QPushButton("Look again", self)
        again.setAutoDefault(False)
        again.clicked.connect(self.look_requested)
        line = QHBoxLayout()
        line.addWidget(self._looked, 1)
        line.addWidget(again)
        place = QWidget(self)
        place.setLayout(self.nearby)
        self.nearby.setContentsMargins(0, 0, 0, 0)
        section.wide(place, line)
        self.use_buttons: list[QPushButton] = []
        self.finish()
        self.set_connections(settings.connections)

    def set_nearby(self, found: Sequence[Nearby]) -> None:
        """Programs on this computer that answer, each to be added with a click."""
        while (item := self.nearby.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.use_buttons = []
        for one in found:
            name, many = one.connection.name, count_words(one.models, "model")
            row = QWidget(self)
            line = QHBoxLayout(row)
            line.setContentsMargins(0, 0, 0, 0)
            line.addWidget(QLabel(f"{name}  ·  {one.connection.host}  ·  {many}", row), 1)
            use = QPushButton(f"Use {name}", row)
            use.setAutoDefault(False)
            use.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            use.clicked.connect(lambda _checked=False, one=one: self.use_requested.emit(one))
            line.addWidget(use)
            self.nearby.addWidget(row)
            self.use_buttons.append(use)
        self._looked.setText("" if found else NONE_FOUND)
        self._looked.show()

    def follow(self, settings: Settings) -> None:
        super().follow(settings)
        self.set_connections(settings.connections)

    def set_connections(self, connections: Sequence[Connection]) -> None:
        at = self._list.currentRow()
        self._connections = list(connections)
        self._list.clear()
        for item in connections:
            allowed = "" if item.allowed else "  ·  not allowed yet"
            text = f"{item.name}  ·  {item.host}{allowed}"
            row = QListWidgetItem(icons.icon("server"), text, self._list)
            # given, because a change of theme forgets the padding of rows that are not shown
            row.setSizeHint(QSize(0, ROW_HEIGHT))
        self._results = {
            id_: text
            for id_, text in self._results.items()
            if id_ == "" or any(item.id == id_ for item in connections)
        }
        if connections:
            self._list.setCurrentRow(min(max(at, 0), len(connections) - 1))
        else:
            placeholder = QListWidgetItem("No servers yet", self._list)
            placeholder.setFlags(Qt.ItemFlag.NoItemFlags)
        self._show_buttons()

    def show_result(self, connection_id: str, text: str) -> None:
        """Show the result of saving or testing."""
        self._results.pop("", None)
        self._results[connection_id] = text
        self._show_buttons()

    def select(self, connection_id: str) -> None:
        for row, item in enumerate(self._connections):
            if item.id == connection_id:
                self._list.setCurrentRow(row)

    def add_result(self, connection_id: str, text: str) -> None:
        """A further line under what is shown."""
        self.show_result(connection_id, f"{self._results.get(connection_id, '')}\n{text}".strip())

    def show_offer(self, offered: Offered) -> None:
        if offered.problem is not None:
            text = offered.problem.text
        else:
            names = ", ".join(model.name for model in offered.models[:3])
            more = len(offered.models) - 3
            kind = f" ({offered.connection.kind})" if offered.connection.kind else ""
            text = f"It answers{kind} and offers {names}{f' and {more} more' if more > 0 else ''}."
        self.show_result(offered.connection.id, text)

    @property
    def current(self) -> Connection | None:
        row = self._list.currentRow()
        return self._connections[row] if 0 <= row < len(self._connections) else None

    def _button(self, text: str, act: object, row: QHBoxLayout) -> QPushButton:
        button = QPushButton(text, self)
        button.setAutoDefault(False)
        button.clicked.connect(act)
        row.addWidget(button)
        return button

    def _show_buttons(self) -> None:
        current = self.current
        for button in (self.change_button, self._test, self._remove):
            button.setEnabled(current is not None)
        text = self._results.get(current.id, "") if current is not None else ""
        # of a server that could not be saved
        text = text or self._results.get("", "")
        self.told.setText(text)
        self.told.setVisible(bool(text))

    def _new(self) -> None:
        self._open(None)

    def _edit(self) -> None:
        if self.current is not None:
            self._open(self.current)

    def _open(self, connection: Connection | None) -> None:
        dialog = ConnectionDialog(connection, self)
        dialog.saved.connect(self.save_requested)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _ask_test(self) -> None:
        if self.current is not None:
            self.show_result(self.current.id, "Asking…")
            self.test_requested.emit(self.current.id)

    def _ask_remove(self) -> None:
        current = self.current
        if current is None:
            return
        DangerQuestion(
            self,
            f"Remove “{current.name}” and its key?",
            "Its chats stay; they need another model to go on.",
            "Remove",
        ).ask(lambda: self.remove_requested.emit(current.id))


class ConnectionDialog(Sheet):
    """Emits `saved` with a Connection and its key; None where the key stays as it is."""

    saved = Signal(object, object)

    def __init__(self, connection: Connection | None, parent: QWidget | None = None) -> None:
        super().__init__("Add a server" if connection is None else "Change a server", parent)
        self.setMinimumWidth(500)
        self._connection = connection or Connection("", "", "http://")
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.name = self._line("Name", self._connection.name, "any name")
        self.url = self._line(
            "Address", "" if connection is None else connection.url, "http://192.168.1.5:8080/v1"
        )
        self.key = self._line(
            "Key", "", "none" if connection is None else "leave empty to keep the current key"
        )
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setToolTip("kept in the system's keychain, never in a file of Headstart's")
        self.certificate = self._line("Certificate file", self._connection.certificate, "none")
        self.certificate.setToolTip("the certificate that signed your own server's")
        choose = QPushButton("Choose…", self)
        choose.setAutoDefault(False)
        choose.clicked.connect(self._choose_certificate)
        file = QHBoxLayout()
        file.addWidget(self.certificate, 1)
        file.addWidget(choose)
        self.timeout = WholeBox(self)
        self.timeout.setRange(1, 3600)
        self.timeout.setSuffix(" s")
        self.timeout.setValue(self._connection.timeout)
        self.timeout.setAccessibleName("Timeout")
        self.timeout.setToolTip("seconds without data; ten times as long before the first word")
        self.predictions = QCheckBox("Send texts to be edited as a prediction", self)
        self.predictions.setChecked(self._connection.predictions)
        self.predictions.setToolTip(
            "Sends the text that you ask to have changed once more, as a prediction: OpenAI's "
            "servers and some others then reply sooner. Some charge for what was predicted wrong."
        )
        form.addRow("Name", self.name)
        form.addRow("Address", self.url)
        form.addRow("Key", self.key)
        form.addRow("Certificate", file)
        form.addRow("Timeout", self.timeout)
        form.addRow("", self.predictions)
        self._problem = QLabel(self)
        self._problem.setObjectName("quiet")
        self._problem.setWordWrap(True)
        self._problem.hide()
        self.save, cancel = QPushButton("Save", self), QPushButton("Cancel", self)
        self.save.setObjectName("primary")
        self.save.setDefault(True)
        self.save.clicked.connect(self._on_save)
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.column.addLayout(form)
        self.column.addWidget(self._problem)
        self.buttons(cancel, self.save)
        give_room(self)

    def _line(self, name: str, text: str, hint: str) -> QLineEdit:
        line = QLineEdit(text, self)
        line.setAccessibleName(name)
        line.setPlaceholderText(hint)
        return line

    def _choose_certificate(self) -> None:
        dialog = file_dialog(self, "Choose a certificate")
        dialog.setNameFilter("Certificates (*.pem *.crt *.cer);;All files (*)")
        dialog.fileSelected.connect(self.certificate.setText)
        dialog.open()

    def _on_save(self) -> None:
        before = self._connection
        take_typed(self.timeout)
        try:
            url = normal_url(self.url.text())
        except EnvironmentProblem as problem:
            self._problem.setText(str(problem))
            self._problem.show()
            return
        connection = Connection(
            id=before.id,
            name=self.name.text().strip()[:100],
            url=url,
            certificate=self.certificate.text().strip(),
            timeout=self.timeout.value(),
            allowed=before.allowed,
            kind=before.kind,
            has_key=before.has_key,
            predictions=self.predictions.isChecked(),
        )
        key = self.key.text().strip()
        self.saved.emit(connection, key if key or not before.id else None)
        self.accept()

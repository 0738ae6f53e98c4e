"""The user's servers: adding, changing, testing and removing one."""

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
from headstart.ui.kit import icons
from headstart.ui.kit.asking import DangerQuestion
from headstart.ui.kit.fields import give_room, take_typed
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.flow import in_lines
from headstart.ui.kit.hints import set_hint
from headstart.ui.kit.joining import unit_suffix
from headstart.ui.kit.number_boxes import WholeBox
from headstart.ui.kit.sheet import Sheet
from headstart.ui.settings.form import Page
from headstart.ui.wording import say

ROW_HEIGHT = 36
ABOUT = "settings.about-servers"
LOOKING = "settings.looking-for-programs-answer-here"
NONE_FOUND = "settings.no-servers-here"


class ServersPage(Page):
    """Emits the user's requests; the list is set from outside."""

    save_requested = Signal(Connection, object)  # Connection, key or None
    remove_requested = Signal(str)
    test_requested = Signal(str)
    look_requested = Signal()
    use_requested = Signal(Nearby)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(say("settings.servers"), settings, parent)
        self._connections: list[Connection] = []
        self._results: dict[str, str] = {}
        self.column.addWidget(self.word(say(ABOUT)))
        self._list = QListWidget(self)
        self._list.setAccessibleName(say("settings.servers"))
        self._list.setMinimumHeight(140)
        self._list.currentRowChanged.connect(lambda _row: self._show_buttons())
        self._list.itemActivated.connect(lambda _item: self._edit())
        section = self.section(say("settings.your-servers"))
        self.add_button = self._button(say("settings.add"), self._new)
        self.change_button = self._button(say("settings.change"), self._edit)
        self._test = self._button(say("settings.test"), self._ask_test)
        self._remove = self._button(say("settings.remove"), self._ask_remove)
        row = in_lines(self, self.add_button, self.change_button, self._test, self._remove)
        self.told = self.word()
        section.wide(self._list, row, self.told, title=say("settings.servers-answer-chats"))
        section = self.section(say("settings.on-computer"))
        self.nearby = QVBoxLayout()
        self._looked = self.word(say(LOOKING))
        again = QPushButton(say("settings.look-again"), self)
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
        """Show the programs on this computer that answer, each with a button to add it."""
        while (item := self.nearby.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.use_buttons = []
        for one in found:
            name, many = one.connection.name, say("settings.count-models", count=one.models)
            row = QWidget(self)
            line = QHBoxLayout(row)
            line.setContentsMargins(0, 0, 0, 0)
            words = QLabel(f"{name}  ·  {one.connection.host}  ·  {many}", row)
            words.setWordWrap(True)
            line.addWidget(words, 1)
            use = QPushButton(say("settings.use-name", name=name), row)
            use.setAutoDefault(False)
            use.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            use.clicked.connect(lambda _checked=False, one=one: self.use_requested.emit(one))
            line.addWidget(use)
            self.nearby.addWidget(row)
            self.use_buttons.append(use)
        self._looked.setText("" if found else say(NONE_FOUND))
        self._looked.show()

    def follow(self, settings: Settings) -> None:
        super().follow(settings)
        self.set_connections(settings.connections)

    def set_connections(self, connections: Sequence[Connection]) -> None:
        at = self._list.currentRow()
        self._connections = list(connections)
        self._list.clear()
        for item in connections:
            facts = [item.name, item.host, "" if item.allowed else say("settings.not-allowed-yet")]
            text = "  ·  ".join(fact for fact in facts if fact)
            row = QListWidgetItem(icons.icon("server"), text, self._list)
            # explicit, because a change of theme drops the padding of hidden rows
            row.setSizeHint(QSize(0, ROW_HEIGHT))
        self._results = {
            id_: text
            for id_, text in self._results.items()
            if id_ == "" or any(item.id == id_ for item in connections)
        }
        if connections:
            self._list.setCurrentRow(min(max(at, 0), len(connections) - 1))
        else:
            placeholder = QListWidgetItem(say("settings.no-servers-yet"), self._list)
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
        """Add a line to the shown result."""
        self.show_result(connection_id, f"{self._results.get(connection_id, '')}\n{text}".strip())

    def show_offer(self, offered: Offered) -> None:
        if offered.problem is not None:
            text = offered.problem.text
        else:
            names = [model.name for model in offered.models[:3]]
            more, kind = len(offered.models) - 3, offered.connection.kind
            if more > 0:
                names.append(say("settings.count-more", more=more))
            code = "settings.kind-answers" if kind else "settings.answers"
            text = say(code, kind=kind, names=names)
        self.show_result(offered.connection.id, text)

    @property
    def current(self) -> Connection | None:
        row = self._list.currentRow()
        return self._connections[row] if 0 <= row < len(self._connections) else None

    def _button(self, text: str, act: object) -> QPushButton:
        button = QPushButton(text, self)
        button.setAutoDefault(False)
        button.clicked.connect(act)
        return button

    def _show_buttons(self) -> None:
        current = self.current
        for button in (self.change_button, self._test, self._remove):
            button.setEnabled(current is not None)
        text = self._results.get(current.id, "") if current is not None else ""
        # else the result of a server that could not be saved
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
            self.show_result(self.current.id, say("settings.asking"))
            self.test_requested.emit(self.current.id)

    def _ask_remove(self) -> None:
        current = self.current
        if current is None:
            return
        DangerQuestion(
            self,
            say("settings.remove-name-and-key", name=current.name),
            say("settings.chats-stay-they-need-another"),
            say("settings.remove"),
        ).ask(lambda: self.remove_requested.emit(current.id))


class ConnectionDialog(Sheet):
    """Emits `saved` with a Connection and its key; None keeps the stored key."""

    saved = Signal(Connection, object)

    def __init__(self, connection: Connection | None, parent: QWidget | None = None) -> None:
        super().__init__(
            say("settings.add-server") if connection is None else say("settings.change-server"),
            parent,
        )
        self.setMinimumWidth(500)
        self._connection = connection or Connection("", "", "http://")
        form = self._form(new=connection is None)
        self._problem = QLabel(self)
        self._problem.setObjectName("quiet")
        self._problem.setWordWrap(True)
        self._problem.hide()
        self.save, cancel = (
            QPushButton(say("settings.save"), self),
            QPushButton(say("settings.cancel"), self),
        )
        self.save.setObjectName("primary")
        self.save.setDefault(True)
        self.save.clicked.connect(self._on_save)
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.column.addLayout(form)
        self.column.addWidget(self._problem)
        self.buttons(cancel, self.save)
        give_room(self)

    def _form(self, new: bool) -> QFormLayout:
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.name = self._line(
            say("settings.name"), self._connection.name, say("settings.any-name")
        )
        self.url = self._line(
            say("settings.address"),
            "" if new else self._connection.url,
            "http://192.168.1.5:8080/v1",
        )
        self.key = self._line(
            say("settings.key"),
            "",
            say("settings.none" if new else "settings.leave-empty-to-keep-current"),
        )
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setToolTip(say("settings.kept-in-systems-keychain-never"))
        self.certificate = self._line(
            say("settings.certificate-file"), self._connection.certificate, say("settings.none")
        )
        self.certificate.setToolTip(say("settings.certificate-signed-your-own-servers"))
        choose = QPushButton(say("settings.choose"), self)
        choose.setAutoDefault(False)
        choose.clicked.connect(self._choose_certificate)
        file = QHBoxLayout()
        file.addWidget(self.certificate, 1)
        file.addWidget(choose)
        self.timeout = WholeBox(self)
        self.timeout.setRange(1, 3600)
        self.timeout.setSuffix(unit_suffix(say("settings.seconds-unit")))
        self.timeout.setValue(self._connection.timeout)
        self.timeout.setAccessibleName(say("settings.timeout"))
        self.timeout.setToolTip(say("settings.seconds-without-data-ten-times"))
        self.predictions = QCheckBox(say("settings.send-texts-to-edited-as"), self)
        self.predictions.setChecked(self._connection.predictions)
        self.predictions.setToolTip(say("settings.about-predictions"))
        form.addRow(say("settings.name"), self.name)
        form.addRow(say("settings.address"), self.url)
        form.addRow(say("settings.key"), self.key)
        form.addRow(say("settings.certificate"), file)
        form.addRow(say("settings.timeout"), self.timeout)
        form.addRow("", self.predictions)
        return form

    def _line(self, name: str, text: str, hint: str) -> QLineEdit:
        line = QLineEdit(text, self)
        line.setAccessibleName(name)
        set_hint(line, hint)
        return line

    def _choose_certificate(self) -> None:
        dialog = file_dialog(self, say("settings.choose-certificate"))
        dialog.setNameFilter(say("settings.certificates-pem-crt-cer-all"))
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

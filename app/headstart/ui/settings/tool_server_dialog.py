"""Adding or changing a tool server: its command or address, its variables. Main thread."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from headstart.core.errors import EnvironmentProblem
from headstart.core.tool_servers.entry import (
    ToolServer,
    Variable,
    check_entry,
    looks_secret,
    split_command,
)
from headstart.ui.kit.fields import give_room
from headstart.ui.kit.hints import set_hint
from headstart.ui.kit.sheet import Sheet
from headstart.ui.kit.tool import small_tool
from headstart.ui.wording import say


class VariableRow(QWidget):
    """A name and a value, which may be a secret. A kept secret shows no value: an empty field keeps
    it."""

    removed = Signal(object)

    def __init__(self, variable: Variable | None, parent: QWidget) -> None:
        """`variable`: None for a new one."""
        super().__init__(parent)
        name, value, secret = ("", "", False)
        if variable is not None:
            name, value, secret = variable.name, variable.value, variable.secret
        self.kept = secret
        self.name = QLineEdit(name, self)
        set_hint(self.name, say("settings.name"))
        self.name.setAccessibleName(say("settings.variable-name"))
        self.value = QLineEdit(value, self)
        self.value.setAccessibleName(say("settings.variable-value"))
        self.secret = QCheckBox(say("settings.secret"), self)
        self.secret.setToolTip(say("settings.kept-in-systems-keychain-never"))
        self.secret.setChecked(secret)
        self.secret.toggled.connect(self._show_secret)
        # until the user chooses, the name decides
        self._chosen = variable is not None
        self.secret.clicked.connect(self._choose)
        self.name.textEdited.connect(self._on_name)
        remove = small_tool(self, "x", name=say("settings.remove-variable"))
        remove.clicked.connect(lambda: self.removed.emit(self))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.name, 2)
        row.addWidget(self.value, 3)
        row.addWidget(self.secret)
        row.addWidget(remove)
        self._show_secret(secret)

    @property
    def variable(self) -> Variable:
        secret = self.secret.isChecked()
        return Variable(self.name.text().strip(), "" if secret else self.value.text(), secret)

    def _choose(self) -> None:
        self._chosen = True

    def _on_name(self, name: str) -> None:
        if not self._chosen:
            self.secret.setChecked(looks_secret(name, self.value.text()))

    def _show_secret(self, on: bool) -> None:
        modes = QLineEdit.EchoMode
        self.value.setEchoMode(modes.Password if on else modes.Normal)
        kept = on and self.kept
        code = "settings.leave-empty-to-keep-current" if kept else "settings.value"
        set_hint(self.value, say(code))


class ToolServerDialog(Sheet):
    """Emits `saved` with a ToolServer and the values of secrets by name; missing ones are kept."""

    saved = Signal(ToolServer, dict)

    def __init__(self, server: ToolServer | None, parent: QWidget | None = None) -> None:
        new = server is None
        super().__init__(
            say("settings.add-tool-server" if new else "settings.change-tool-server"),
            parent,
            (620, 520),
        )
        self._server = server or ToolServer("", "")
        self.variables: list[VariableRow] = []
        self.column.addWidget(self.word(say("settings.about-tool-server-entry")))
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        one = self._server
        command = _typed([one.command, *one.arguments]) if one.command else ""
        self.name = self._line(form, "settings.name", one.name, say("settings.any-name"))
        self.command = self._line(form, "settings.command", command, say("settings.sample-command"))
        self.url = self._line(form, "settings.or-address", one.url, "https://example.org/mcp")
        self.folder = self._line(
            form, "settings.working-folder", one.folder, say("settings.your-home-folder")
        )
        self.column.addLayout(form)
        self._title = QLabel(self)
        self.column.addWidget(self._title)
        place = QWidget(self)
        self._rows = QVBoxLayout(place)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(6)
        self.column.addWidget(place)
        self.add = QPushButton(say("settings.add-variable"), self)
        self.add.setAutoDefault(False)
        self.add.clicked.connect(lambda: self._add(None).name.setFocus())
        line = QHBoxLayout()
        line.addWidget(self.add)
        line.addStretch(1)
        self.column.addLayout(line)
        for variable in one.variables:
            self._add(variable)
        self.problem = self.word()
        self.column.addWidget(self.problem)
        for field in (self.name, self.command, self.url, self.folder):
            field.textChanged.connect(self.problem.hide)
        self.column.addStretch(1)
        self.save, cancel = (
            QPushButton(say("settings.save"), self),
            QPushButton(say("settings.cancel"), self),
        )
        self.save.setObjectName("primary")
        self.save.setDefault(True)
        self.save.clicked.connect(self._on_save)
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.buttons(cancel, self.save)
        self.url.textChanged.connect(lambda _text: self._show_kind())
        self._show_kind()
        give_room(self)

    def _line(self, form: QFormLayout, code: str, text: str, hint: str) -> QLineEdit:
        line = QLineEdit(text, self)
        line.setAccessibleName(say(code))
        set_hint(line, hint)
        form.addRow(say(code), line)
        return line

    def _show_kind(self) -> None:
        away = bool(self.url.text().strip())
        self.command.setEnabled(not away)
        self.folder.setEnabled(not away)
        self._title.setText(say("settings.headers" if away else "settings.environment-variables"))

    def _add(self, variable: Variable | None) -> VariableRow:
        row = VariableRow(variable, self)
        row.removed.connect(self._remove)
        self.variables.append(row)
        self._rows.addWidget(row)
        return row

    def _remove(self, row: VariableRow) -> None:
        self.variables.remove(row)
        self._rows.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _on_save(self) -> None:
        rows = [row for row in self.variables if row.name.text().strip()]
        url = self.url.text().strip()
        variables = tuple(row.variable for row in rows)
        try:
            command, arguments = ("", ()) if url else _split(self.command.text())
            server = ToolServer(
                id=self._server.id,
                name=self.name.text().strip()[:100],
                prefix=self._server.prefix,
                command=command,
                arguments=arguments,
                folder="" if url else os.path.expanduser(self.folder.text().strip()),  # noqa: PTH111
                environment=() if url else variables,
                url=url,
                headers=variables if url else (),
                off=self._server.off,
                brief=self._server.brief,
            )
            check_entry(server)
        except EnvironmentProblem as problem:
            self.problem.setText(str(problem))
            self.problem.show()
            return
        secrets = {
            row.variable.name: row.value.text()
            for row in rows
            if row.secret.isChecked() and (row.value.text() or not row.kept)
        }
        self.saved.emit(server, secrets)
        self.accept()


def _split(text: str) -> tuple[str, tuple[str, ...]]:
    """A typed command with ~ as the home folder, which a terminal would put there. Raises
    EnvironmentProblem."""
    command, arguments = split_command(text)
    name, assigned, _ = command.partition("=")
    if assigned and name.isidentifier():
        raise EnvironmentProblem("tool-command-variable", name=name)
    words = [os.path.expanduser(one) for one in (command, *arguments)]  # noqa: PTH111
    return words[0], tuple(words[1:])


def _typed(words: Sequence[str]) -> str:
    return shlex.join(words)

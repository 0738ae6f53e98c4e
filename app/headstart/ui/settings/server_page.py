"""The server for other programs: its switch, address and key, the programs' set-ups, and their
requests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from headstart.chat.answering.judging import DraftChoice
from headstart.chat.serving.serving import KeptPrompts, ServerState
from headstart.core.models.heads import AUTOMATIC
from headstart.core.models.names import people_name
from headstart.core.models.split_files import title
from headstart.core.servers import split_key
from headstart.core.serving.line import ServedLine, Totals
from headstart.core.serving.models import ServedModel
from headstart.core.serving.setups import SETUPS, SetUp, Target
from headstart.core.settings.fields import describe
from headstart.core.settings.schema import Settings, SettingsError, changed
from headstart.core.settings.server import ServerSettings
from headstart.core.text.locale import locale
from headstart.core.text.shown import at_start
from headstart.core.told import Told
from headstart.ui.kit.asking import DangerQuestion
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.columns import ColumnsLayout
from headstart.ui.kit.tool import small_tool
from headstart.ui.settings.form import Page
from headstart.ui.settings.request_table import RequestTable
from headstart.ui.settings.setup_sheet import SetUpSheet
from headstart.ui.wording import say

_COLUMNS = 2
_HIDDEN = "•" * 12


class ServerPage(Page):
    """Calls `change` with the settings to replace."""

    stop_wanted = Signal(int)
    clear_wanted = Signal()
    new_key_wanted = Signal()
    forget_wanted = Signal()
    test_wanted = Signal(str)
    guide_wanted = Signal()

    def __init__(
        self, settings: Settings, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__(say("settings.local-server"), settings, parent)
        self._tell = change
        self._key = ""
        self._models: Sequence[ServedModel] = ()
        self._no_model: Told | None = None
        self._state = ServerState()
        self._sheet: SetUpSheet | None = None
        self.column.addWidget(self.word(say("settings.about-local-server")))
        self._build_switch()
        self._build_programs()
        self._build_requests()
        self._build_more()
        self.finish()
        self.show_state(self._state)

    # --- parts ---------------------------------------------------------------------------

    def _build_switch(self) -> None:
        fields = describe(ServerSettings)
        section = self.section()
        self.switch = section.field(
            fields["on"], lambda one: one.server.on, lambda value: self._set(on=bool(value))
        )
        self.told = QLabel(self)
        self.told.setWordWrap(True)
        self.told.setObjectName("quietText")
        self.address = _shown_line(self, say("settings.address"))
        self.copy_address = small_tool(self, "copy", name=say("settings.copy-address"))
        self.copy_address.clicked.connect(lambda: _copy(self._state.address))
        self.key = _shown_line(self, say("settings.key"))
        self.show_key_button = small_tool(self, "eye", name=say("settings.show-key"))
        self.show_key_button.setCheckable(True)
        self.show_key_button.toggled.connect(lambda _on: self._show_key())
        copy_key = small_tool(self, "copy", name=say("settings.copy-key"))
        copy_key.clicked.connect(lambda: _copy(self._key))
        renew = small_tool(self, "refresh-cw", name=say("settings.new-key"))
        renew.clicked.connect(self._ask_new_key)
        first, second = QHBoxLayout(), QHBoxLayout()
        first.addWidget(self.address, 1)
        first.addWidget(self.copy_address)
        for part in (self.show_key_button, copy_key, renew):
            second.addWidget(part)
        second.insertWidget(0, self.key, 1)
        self._where = section.wide(
            QLabel(say("settings.address"), self), first, QLabel(say("settings.key"), self), second
        )
        section.wide(self.told)
        self.model = Choice(self)
        self.model.setAccessibleName(fields["model"].title)
        self.model.activated.connect(lambda _at: self._set(model=self.model.currentData()))
        section.row(fields["model"].title, self.model, fields["model"].description)
        self.draft = Choice(self)
        self.draft.setAccessibleName(fields["draft"].title)
        self.draft.activated.connect(lambda _at: self._set(draft=self.draft.currentData()))
        section.row(fields["draft"].title, self.draft, fields["draft"].description)

    def _build_programs(self) -> None:
        section = self.section(say("settings.programs"))
        grid = QWidget(self)
        cells = ColumnsLayout(grid, _COLUMNS)
        self.setups: dict[str, QPushButton] = {}
        for setup in SETUPS:
            cell = QWidget(grid)
            button = self.setups[setup.code] = QPushButton(say("settings.set-up"), cell)
            button.setAutoDefault(False)
            button.setAccessibleName(say("settings.set-up-program", program=setup.name))
            button.clicked.connect(lambda _on=False, setup=setup: self.open_setup(setup))
            line = QHBoxLayout(cell)
            line.setContentsMargins(0, 0, 0, 0)
            line.addWidget(QLabel(at_start(setup.name), cell), 1)
            line.addWidget(button)
            cells.addWidget(cell)
        more = QPushButton(say("settings.more-about-server"), self)
        more.setAutoDefault(False)
        more.clicked.connect(self.guide_wanted)
        last = QHBoxLayout()
        last.addWidget(more)
        last.addStretch(1)
        section.wide(grid, last, title="")

    def _build_requests(self) -> None:
        section = self.section(say("settings.requests"))
        self.totals = QLabel(say("settings.no-requests"), self)
        self.totals.setObjectName("quietText")
        self.totals.setWordWrap(True)
        self.stop_button = QPushButton(say("settings.stop"), self)
        self.stop_button.clicked.connect(self._stop)
        self.clear_button = QPushButton(say("settings.clear"), self)
        self.clear_button.clicked.connect(self.clear_wanted)
        head = QHBoxLayout()
        head.addWidget(self.totals, 1)
        for button in (self.stop_button, self.clear_button):
            button.setAutoDefault(False)
            head.addWidget(button)
        self.table = RequestTable(self)
        self.table.selectionModel().currentChanged.connect(lambda *_: self._show_buttons())
        section.wide(head, self.table)
        self._show_buttons()

    def _build_more(self) -> None:
        fields = describe(ServerSettings)
        section = self.section(say("settings.access"))
        section.field(
            fields["port"],
            lambda one: one.server.port,
            lambda value: self._set(port=int(float(str(value)))),
        )
        for name in ("any_model", "network", "keep_prompts", "share_window"):
            section.field(
                fields[name],
                partial(_value_of, name),
                partial(self._set_flag, name),
            )
        self.kept = QLabel(self)
        self.kept.setObjectName("quietText")
        self.kept.setWordWrap(True)
        self.forget = QPushButton(say("settings.clear"), self)
        self.forget.setAutoDefault(False)
        self.forget.clicked.connect(self.forget_wanted)
        line = QHBoxLayout()
        line.addWidget(self.kept, 1)
        line.addWidget(self.forget)
        section.wide(line)
        self.origins = QLineEdit(" ".join(self.settings.server.origins), self)
        self.origins.setAccessibleName(fields["origins"].title)
        self.origins.setPlaceholderText("app://obsidian.md")
        self.origins.editingFinished.connect(self._set_origins)
        section.row(fields["origins"].title, self.origins, fields["origins"].description)

    # --- showing -------------------------------------------------------------------------

    def follow(self, settings: Settings) -> None:
        super().follow(settings)
        self._choose(self.model, settings.server.model)
        self._choose(self.draft, settings.server.draft)
        if not self.origins.hasFocus():
            self.origins.setText(" ".join(settings.server.origins))

    def show_state(self, state: ServerState) -> None:
        self._state = state
        self.address.setText(state.address)
        self._where.setVisible(bool(state.address))
        said = ""
        problem = state.problem or (self._no_model if state.on else None)
        if problem is not None:
            said = problem.text
        elif state.address:
            said = say("settings.only-this-computer")
            if state.far:
                said = say("settings.other-computers", address=state.far)
        self.told.setText(said)
        parent = self.told.parentWidget()
        if parent is not None:
            parent.setVisible(bool(said))
        for button in self.setups.values():
            button.setEnabled(bool(state.address))

    def show_key(self, key: str) -> None:
        self._key = key
        self._show_key()

    def show_models(self, models: Sequence[ServedModel], problem: Told | None = None) -> None:
        """`problem`: why no model answers where a program names none."""
        self._models = models
        self._no_model = problem
        chosen = self.settings.server.model
        with QSignalBlocker(self.model):
            self.model.clear()
            self.model.addItem(say("settings.model-of-new-chats"), "")
            for one in models:
                self.model.addItem(f"{people_name(one.ref.name)}  ·  {one.id}", one.ref.key)
            if chosen and problem is None and models:
                # it may have moved
                chosen = models[0].ref.key
            _keep(self.model, chosen)
        self._choose(self.model, chosen)
        self.show_state(self._state)

    def show_drafts(self, drafts: Sequence[DraftChoice]) -> None:
        with QSignalBlocker(self.draft):
            self.draft.clear()
            self.draft.addItem(say("settings.draft-automatic"), AUTOMATIC)
            self.draft.addItem(say("settings.draft-none"), "")
            for one in drafts:
                self.draft.addItem(one.name, one.key)
            _keep(self.draft, self.settings.server.draft)
        self._choose(self.draft, self.settings.server.draft)

    def show_requests(self, lines: Sequence[ServedLine], totals: Totals) -> None:
        self.table.show_lines(lines)
        said = say("settings.no-requests")
        if totals.requests:
            share = totals.reused / totals.prompt if totals.prompt else 0.0
            said = say(
                "settings.request-totals",
                count=totals.requests,
                share=locale().percent(share),
                tokens=totals.prompt,
                saved=totals.seconds_saved,
            )
        self.totals.setText(said)
        self._show_buttons()

    def show_kept(self, kept: KeptPrompts) -> None:
        size = locale().number(kept.size / 1e6)
        self.kept.setText(say("settings.kept-prompts", count=kept.sessions, size=size))
        self.forget.setEnabled(bool(kept.sessions))

    def show_tested(self, dialect: str, said: str, worked: bool) -> None:
        if self._sheet is not None:
            self._sheet.show_tested(dialect, said, worked)

    def open_setup(self, setup: SetUp) -> SetUpSheet:
        """Open the sheet with a program's set-up."""
        sheet = self._sheet = SetUpSheet(setup, self._target(), self.window())
        sheet.test_wanted.connect(self.test_wanted)
        sheet.finished.connect(lambda _result: self._closed(sheet))
        sheet.open()
        return sheet

    # --- changing ------------------------------------------------------------------------

    def _closed(self, sheet: SetUpSheet) -> None:
        if self._sheet is sheet:
            self._sheet = None
        sheet.deleteLater()

    def _target(self) -> Target:
        chosen = self._models[0] if self._models and self._no_model is None else None
        windows = sys.platform == "win32"
        if chosen is None:
            return Target(self._state.address, self._key, "headstart", 8192, windows)
        return Target(
            self._state.address, self._key, chosen.id, chosen.context, windows, chosen.sees
        )

    def _set(self, **changes: object) -> None:
        self._tell(server=changed(self.settings.server, **changes))

    def _set_flag(self, name: str, value: object) -> None:
        self._set(**{name: bool(value)})

    def _set_origins(self) -> None:
        found = tuple(dict.fromkeys(self.origins.text().replace(",", " ").split()))
        if found != self.settings.server.origins:
            try:
                self._set(origins=found)
            except SettingsError:
                self.origins.setText(" ".join(self.settings.server.origins))

    def _ask_new_key(self) -> None:
        asked = DangerQuestion(
            self.window(),
            say("settings.new-key-question"),
            say("settings.new-key-ends"),
            say("settings.new-key"),
        )
        asked.accepted.connect(self.new_key_wanted)
        asked.open()

    def _show_key(self) -> None:
        shown = self.show_key_button.isChecked()
        self.key.setText(self._key if shown else f"{self._key[:3]}{_HIDDEN}{self._key[-4:]}")

    def _stop(self) -> None:
        line = self.table.chosen
        if line is not None:
            self.stop_wanted.emit(line.number)

    def _show_buttons(self) -> None:
        line = self.table.chosen
        self.stop_button.setEnabled(line is not None and line.under_way)
        self.clear_button.setEnabled(any(not one.under_way for one in self.table.rows.lines))

    def _choose(self, box: QComboBox, value: str) -> None:
        with QSignalBlocker(box):
            at = box.findData(value)
            if at >= 0:
                box.setCurrentIndex(at)


def _value_of(name: str, settings: Settings) -> object:
    return getattr(settings.server, name)


def _keep(box: QComboBox, key: str) -> None:
    """Show a choice that is not there any more as what it is: no other one stands in its place."""
    if box.findData(key) < 0:
        server = split_key(key)
        name = people_name(title(Path(key))) if server is None else server[1]
        box.addItem(say("settings.not-available", name=name), key)


def _shown_line(parent: QWidget, name: str) -> QLineEdit:
    line = QLineEdit(parent)
    line.setReadOnly(True)
    line.setAccessibleName(name)
    return line


def _copy(text: str) -> None:
    QApplication.clipboard().setText(text)

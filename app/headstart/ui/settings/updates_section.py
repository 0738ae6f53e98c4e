"""The section of the general settings about updates: the check, and its address."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton

from headstart.core.settings.fields import describe
from headstart.core.settings.schema import changed
from headstart.core.updates import UpdateSettings, may_ask, packaged_address
from headstart.ui.kit.switch import Switch
from headstart.ui.settings.form import Page
from headstart.ui.wording import say


class UpdatesSection(QObject):
    """Calls `change` with the settings to replace."""

    asked = Signal()

    def __init__(
        self, page: Page, settings: UpdateSettings, change: Callable[[UpdateSettings], None]
    ) -> None:
        super().__init__(page)
        self._settings = settings
        self._change = change
        fields, section = describe(UpdateSettings), page.section(say("settings.updates"))
        self.box = Switch(fields["look"].title, page)
        self.box.setChecked(settings.look)
        self.box.toggled.connect(self._set_look)
        section.row(fields["look"].title, self.box, fields["look"].description)
        self.address = QLineEdit(settings.address, page)
        self.address.setPlaceholderText(packaged_address() or "https://…")
        self.address.setAccessibleName(fields["address"].title)
        self.address.editingFinished.connect(self._set_address)
        section.row(fields["address"].title, self.address, fields["address"].description)
        self.now = QPushButton(say("settings.look-now"), page)
        self.now.setAutoDefault(False)
        self.now.clicked.connect(self._ask)
        self.said = QLabel(page)
        self.said.setObjectName("quiet")
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setWordWrap(True)
        line = QHBoxLayout()
        line.addWidget(self.now)
        line.addWidget(self.said, 1)
        section.wide(line)
        self._refresh()

    def show_said(self, text: str) -> None:
        self.said.setText(text)
        self._refresh()

    def _ask(self) -> None:
        # a click leaves the focus in the field, so editing has not finished
        self._set_address()
        self.said.setText(say("settings.asking"))
        self.now.setEnabled(False)
        self.asked.emit()

    def _set_look(self, on: bool) -> None:
        self._replace(look=on)

    def _set_address(self) -> None:
        text = self.address.text().strip()
        if text and not may_ask(text):
            self.said.setText(say("settings.address-begins-with-https"))
            return
        if text != self._settings.address:
            self.said.clear()
            self._replace(address=text)

    def follow(self, settings: UpdateSettings) -> None:
        """Show changed settings."""
        if settings != self._settings:
            self._settings = settings
            with QSignalBlocker(self.box):
                self.box.setChecked(settings.look)
            self.address.setText(settings.address)
            self._refresh()

    def _replace(self, **changes: object) -> None:
        self._settings = changed(self._settings, **changes)
        self._change(self._settings)
        self._refresh()

    def _refresh(self) -> None:
        """Enable the controls only with an address to ask."""
        known = bool(self._settings.address or packaged_address())
        self.box.setEnabled(known)
        self.now.setEnabled(known)

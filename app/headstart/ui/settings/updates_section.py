"""Whether, and where, a newer version is looked for: a part of the general settings."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLabel, QLineEdit, QPushButton

from headstart.core.settings import changed
from headstart.core.settings_fields import describe
from headstart.core.updates import UpdateSettings, may_ask, packaged_address
from headstart.ui.fields import check_box
from headstart.ui.settings.form import Page


class UpdatesSection(QHBoxLayout):
    """Calls `change` with the settings to replace."""

    asked = Signal()

    def __init__(
        self,
        page: Page,
        form: QFormLayout,
        settings: UpdateSettings,
        change: Callable[[UpdateSettings], None],
    ) -> None:
        super().__init__()
        self._settings = settings
        self._change = change
        fields = describe(UpdateSettings)
        self.box = check_box(fields["look"], settings.look, self._set_look)
        page.row(form, fields["look"].title, self.box)
        self.address = QLineEdit(settings.address, page)
        self.address.setPlaceholderText(packaged_address() or "https://…")
        self.address.setAccessibleName(fields["address"].title)
        self.address.editingFinished.connect(self._set_address)
        page.row(form, fields["address"].title, self.address)
        self.now = QPushButton("Look now", page)
        self.now.clicked.connect(self._ask)
        self.said = QLabel(page)
        self.said.setObjectName("quiet")
        self.said.setTextFormat(Qt.TextFormat.PlainText)
        self.said.setWordWrap(True)
        self.addWidget(self.now)
        self.addWidget(self.said, 1)
        form.addRow(self)
        self._refresh()

    def show_said(self, text: str) -> None:
        self.said.setText(text)
        self._refresh()

    def _ask(self) -> None:
        self.said.setText("Asking…")
        self.now.setEnabled(False)
        self.asked.emit()

    def _set_look(self, on: bool) -> None:
        self._replace(look=on)

    def _set_address(self) -> None:
        text = self.address.text().strip()
        if text and not may_ask(text):
            self.said.setText("An address begins with https://.")
            return
        self.said.clear()
        self._replace(address=text)

    def _replace(self, **changes: object) -> None:
        self._settings = changed(self._settings, **changes)
        self._change(self._settings)
        self._refresh()

    def _refresh(self) -> None:
        """Without an address nobody can be asked."""
        known = bool(self._settings.address or packaged_address())
        self.box.setEnabled(known)
        self.now.setEnabled(known)

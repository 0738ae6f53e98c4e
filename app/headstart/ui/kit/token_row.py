"""Row to enter a token of the user's account on the hub, or to delete it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from headstart.ui.kit.hints import set_hint
from headstart.ui.wording import say


class TokenRow(QWidget):
    """Never shows a stored token, only that one exists."""

    entered = Signal(str)
    forgotten = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = QLineEdit(self)
        self.field.setAccessibleName(say("kit.token-of-your-hugging-face"))
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.returnPressed.connect(self._on_entered)
        self.use = QPushButton(say("kit.use-token"), self)
        self.use.setAutoDefault(False)
        self.use.clicked.connect(self._on_entered)
        self.forget = QPushButton(say("kit.forget"), self)
        self.forget.setAutoDefault(False)
        self.forget.setToolTip(say("kit.take-token-out-of-systems"))
        self.forget.clicked.connect(self.forgotten)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.use)
        layout.addWidget(self.forget)
        self.set_kept(False)

    def set_kept(self, kept: bool) -> None:
        """Show that the keychain has a token, or none."""
        self.forget.setVisible(kept)
        hint = say("kit.token-kept-another-one-hf") if kept else say("kit.token-of-your-account-hf")
        set_hint(self.field, hint)

    def _on_entered(self) -> None:
        token = self.field.text().strip()
        self.field.clear()
        if token:
            self.entered.emit(token)

"""One quiet line in an empty chat, while only the starter model is here: which model to get."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton, QWidget

from headstart.core.downloads import ACTIVE, Download
from headstart.core.installed import InstalledModel
from headstart.core.recommended import Recommended
from headstart.core.values import BranchPage, Chat
from headstart.ui import icons
from headstart.ui.commands import Commands
from headstart.ui.controllers.everything import Controllers
from headstart.ui.elided import ElidedLabel

STARTER = "starter"


class SuggestionLine(QFrame):
    """Hidden until there is something to suggest, and for good when it was dismissed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("quietLine")
        self.text = ElidedLabel("", self, 120)
        self.get = QPushButton("Get it", self)
        self.get.setObjectName("row")
        self.more = QPushButton("Other models", self)
        self.more.setObjectName("row")
        self.dismiss = QToolButton(self)
        self.dismiss.setAccessibleName("Do not suggest a model")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 6, 6)
        layout.addWidget(self.text, 1)
        for button in (self.get, self.more, self.dismiss):
            layout.addWidget(button)
        self.refresh_theme()
        self.hide()

    def suggest(self, model: Recommended) -> None:
        self.text.set_full_text(f"Better for this computer: {model.name} ({model.size_gb:.1f} GB)")

    def refresh_theme(self) -> None:
        self.dismiss.setIcon(icons.icon("x"))


class Suggesting(QObject):
    """Decides when the line is shown."""

    def __init__(self, line: SuggestionLine, controllers: Controllers, commands: Commands) -> None:
        super().__init__(line)
        self._line = line
        self._discover = controllers.discover
        self._getting = controllers.getting
        self._model: Recommended | None = None
        self._only_starter = self._empty = False
        self._downloading = self._dismissed = self._asked = False
        controllers.installed.listed.connect(self._on_installed)
        controllers.downloads.changed.connect(self._on_downloads)
        controllers.branch.chat_shown.connect(self._on_chat)
        controllers.conversation.message_stored.connect(self._on_message)
        controllers.discover.suggested.connect(self._on_suggested)
        line.get.clicked.connect(self._get)
        line.more.clicked.connect(lambda: commands.run("models.discover"))
        line.dismiss.clicked.connect(self._dismiss)

    def _show(self) -> None:
        wanted = self._only_starter and not self._downloading and not self._dismissed
        if wanted and not self._asked:
            self._asked = True
            self._discover.suggest()
        self._line.setVisible(wanted and self._empty and self._model is not None)

    def _on_installed(self, models: list[InstalledModel]) -> None:
        self._only_starter = all(model.source == STARTER for model in models)
        self._show()

    def _on_downloads(self, downloads: tuple[Download, ...]) -> None:
        self._downloading = any(one.state in ACTIVE for one in downloads)
        self._show()

    def _on_chat(self, _chat: Chat, page: BranchPage, _same: bool) -> None:
        self._empty = not page.messages
        self._show()

    def _on_message(self, _chat_id: str) -> None:
        self._empty = False
        self._show()

    def _on_suggested(self, model: Recommended) -> None:
        self._model = model
        self._line.suggest(model)
        self._show()

    def _get(self) -> None:
        if self._model is not None:
            self._getting.get_recommended(self._model)

    def _dismiss(self) -> None:
        self._dismissed = True
        self._show()

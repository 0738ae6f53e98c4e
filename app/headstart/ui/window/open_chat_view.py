"""What the window shows of the open chat: its title, who answers, its draft, a hint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from headstart.chat.titles import NEW_CHAT
from headstart.core.heads import OWN_LAYERS
from headstart.core.model_ref import AnyModel
from headstart.core.servers import ServerModel
from headstart.core.values import BranchPage, Chat

if TYPE_CHECKING:
    from headstart.ui.controllers.everything import Controllers
    from headstart.ui.window.main_window import MainWindow

EMPTY_HINT = (
    "Ask something.\n\nThe model runs on this computer; your text does not leave it.\n"
    "To use another model, drop a GGUF file or an MLX folder here, or choose it above."
)
PRIVATE_HINT = (
    "Ask something that stays between you and the model.\n\nNothing of this chat is written to "
    "disk, neither its text nor what the model keeps of it.\nIt is gone when Headstart closes."
)
NEW_PRIVATE_CHAT = "New private chat"


class OpenChatView(QObject):
    def __init__(self, window: MainWindow, controllers: Controllers) -> None:
        super().__init__(window)
        self._window = window
        self._open = controllers.open
        # who answers: another computer's name, "" for this one
        self._model: AnyModel | None = None
        self._loaded_draft = ""
        branch, models = controllers.branch, controllers.models
        self._name_of = models.name_of
        branch.chat_shown.connect(self._show)
        branch.chat_changed.connect(self._show_title)
        controllers.open.opened.connect(self._on_opened)
        models.answering.connect(self._show_model)
        models.model_changed.connect(self._show_model_state)
        controllers.speculation.draft_changed.connect(self._on_draft)
        window.inspector.options_changed.connect(lambda *_: self.show_draft())
        window.panels.changed.connect(self.show_draft)
        self._show_hint()

    def show_draft(self) -> None:
        """The draft of this chat, and whether it is really loaded; not in a narrow window."""
        chosen = self._window.inspector.speculation.value
        model = self._model
        itself = model is not None and chosen.draft == model.key
        # what a server does not check is not drafted
        checked = not isinstance(model, ServerModel) or model.checks_drafts
        drafts = chosen.enabled and checked and not itself
        name = self._name_of(chosen.draft) if drafts else ""
        loaded = name == self._loaded_draft
        if drafts and chosen.draft == OWN_LAYERS and self._model is not None:
            name, loaded = "own layers", self._loaded_draft == self._model.name
        self._window.header.show_draft(name, loaded=loaded, room=self._window.panels.wide)

    @property
    def _host(self) -> str:
        return self._model.host if self._model is not None else ""

    def _on_opened(self) -> None:
        if self._window.banner.kind != "start":
            self._window.banner.withdraw()

    def _show(self, chat: Chat, page: BranchPage, same_chat: bool) -> None:
        self._show_title(chat)
        if not same_chat:
            self.show_draft()
        self._window.header.export_button.setEnabled(bool(page.messages))
        self._window.header.show_branches(page.branches)

    def _show_title(self, chat: Chat) -> None:
        stored = self._open.stored
        title = chat.title if stored else NEW_PRIVATE_CHAT if chat.private else NEW_CHAT
        self._window.header.private.setVisible(chat.private)
        self._window.header.set_title(title)
        self._show_hint()
        # the desktop sees this one, and may remember it
        name = "Private chat" if chat.private else title
        self._window.setWindowTitle(f"{name} – Headstart" if stored else "Headstart")

    def _show_model(self, model: AnyModel | None) -> None:
        self._model = model
        self._window.header.show_host(self._host)
        self._window.composer.set_host(self._host)
        self._window.inspector.set_model(model)
        self._show_hint()
        self.show_draft()

    def _show_model_state(self, name: str, state: str) -> None:
        self._window.header.pill.set_current(name)
        self._window.header.pill.show_state(state)
        self._window.settings.show_state()

    def _show_hint(self) -> None:
        private = self._open.private
        text = PRIVATE_HINT if private else EMPTY_HINT
        if self._model is not None and self._host:
            kept = "Nothing of this chat is written to disk here.\n" if private else ""
            where = f"{self._model.name} answers on {self._host}: your text goes there."
            text = f"Ask something.\n\n{kept}{where}"
        self._window.transcript.set_hint(text)

    def _on_draft(self, name: str, loaded: bool) -> None:
        self._loaded_draft = name if loaded else ""
        self.show_draft()

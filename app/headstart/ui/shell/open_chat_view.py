"""The open chat in the window: its title, its model, its draft, and the greeting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from headstart.chat.titles import NEW_CHAT
from headstart.core.chats.values import BranchPage, Chat, gain_words
from headstart.core.events import NoticeKind
from headstart.core.models.quantization import quantization
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.core.servers import ServerModel
from headstart.ui.wording import say

if TYPE_CHECKING:
    from headstart.ui.controllers.everything import Controllers
    from headstart.ui.shell.shell import Shell

TITLE, PRIVATE_TITLE = "shell.what-would-you-like-to", "shell.private-chat"
HERE = "shell.model-runs-on-computer-and"
PRIVATE_HERE = "shell.nothing-in-chat-saved-neither"
NEW_PRIVATE_CHAT = "shell.new-private-chat"
# number of chats from which on the user needs no examples
_FEW = 3


class OpenChatView(QObject):
    def __init__(self, window: Shell, controllers: Controllers) -> None:
        super().__init__(window)
        self._window = window
        self._open = controllers.open
        self._model: AnyModel | None = None
        self._empty = True
        branch, models = controllers.branch, controllers.models
        branch.chat_shown.connect(self._show)
        branch.chat_changed.connect(self._show_title)
        branch.stats_shown.connect(lambda _stats: self.show_draft())
        controllers.open.opened.connect(self._on_opened)
        controllers.conversation.message_stored.connect(lambda _id: self._on_stored())
        controllers.chat_list.listed.connect(lambda *_: self._show_greeting())
        models.answering.connect(self._show_model)
        models.model_changed.connect(self._show_model_state)
        window.inspector.options_changed.connect(lambda *_: self.show_draft())
        window.inspector.speculation.gain_changed.connect(self.show_draft)
        self._show_greeting()

    def show_draft(self) -> None:
        """Show the draft of this chat, and its gain."""
        panel = self._window.inspector.speculation
        value, model = panel.value, self._model
        # without verification by the server there is no drafting
        checked = not isinstance(model, ServerModel) or model.checks_drafts
        name = panel.draft_name if value.enabled and checked else ""
        itself = model is not None and value.draft == model.key
        self._window.header.show_draft("" if itself else name, panel.gain)

    def tell_gain(self, draft: str, against_plain: float | None) -> None:
        """Tell the gain of a draft with this model, once."""
        gain, model = gain_words(against_plain), self._model
        line, state = self._window.note, self._window.preferences.state
        if not gain or not draft or not isinstance(model, ModelRef):
            return
        pair = f"{model.key}\n{draft}"
        if pair in state.current.told_gains:
            return
        state.update(told_gains=(*state.current.told_gains[-99:], pair))
        line.say(
            "gain",
            say("shell.gain-with-draft", gain=gain, draft=draft),
            [(say("shell.change"), self._window.show_drafting)],
            lambda: None,
        )

    @property
    def _host(self) -> str:
        return self._model.host if self._model is not None else ""

    @property
    def _host_here(self) -> bool:
        return isinstance(self._model, ServerModel) and self._model.is_here

    def _on_opened(self) -> None:
        if self._window.banner.kind is not NoticeKind.START:
            self._window.banner.withdraw()
        self._window.banner.show_in(self._open.id)
        self._window.note.withdraw("gain")

    def _on_stored(self) -> None:
        self._empty = False
        self._show_greeting()

    def _show(self, chat: Chat, page: BranchPage, same_chat: bool) -> None:
        self._empty = not page.messages
        self._show_title(chat)
        if not same_chat:
            self.show_draft()
        header = self._window.header
        header.export_button.setEnabled(bool(page.messages))
        header.show_branches(page.branches)
        header.set_begun(bool(page.messages))

    def _show_title(self, chat: Chat) -> None:
        stored = self._open.stored
        title = chat.title if stored else say(NEW_PRIVATE_CHAT) if chat.private else NEW_CHAT
        self._window.header.private.setVisible(chat.private)
        self._window.header.set_title(title)
        self._show_greeting()
        # the desktop sees this title, and may remember it
        name = say("shell.private-chat-2") if chat.private else title
        self._window.setWindowTitle(
            say("shell.name-headstart", name=name) if stored else "Headstart"
        )

    def _show_model(self, model: AnyModel | None) -> None:
        self._model = model
        self._window.header.show_host(self._host, self._host_here)
        self._window.inspector.set_model(model)
        self._show_greeting()
        self.show_draft()

    def _show_model_state(self, name: str, state: str, fraction: float) -> None:
        model = self._model
        same = isinstance(model, ModelRef) and model.name == name
        stored = quantization(model.path.name) if same and isinstance(model, ModelRef) else ""
        self._window.header.pill.set_current(name, stored)
        self._window.header.pill.show_state(state, fraction)

    def _show_greeting(self) -> None:
        window, private, host = self._window, self._open.private, self._host
        about = say(PRIVATE_HERE) if private else say(HERE)
        if host and self._model is not None:
            where = "shell.answers-here" if self._host_here else "shell.answers-on-host"
            about = say(where, name=self._model.name, host=host)
            if private:
                about = f"{say('shell.nothing-saved-here')} {about}"
        # before the chats are listed nobody is new
        few = window.sidebar.listed and len(window.sidebar.model.chat_ids()) < _FEW
        window.greeting.say(say(PRIVATE_TITLE if private else TITLE), about, few and not private)
        window.show_greeting(self._empty)
        window.composer.set_host("" if self._host_here else host, self._empty)

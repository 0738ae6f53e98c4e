"""The model of the open chat: which one answers, and choosing another. Main thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatChanged, ModelState, ReplyEnded, SmallerContext, What
from headstart.chat.chat_models import ChatModels
from headstart.core.models.ref import AnyModel
from headstart.core.settings.sampling import SamplingChoice
from headstart.ui.controllers.consent import Consent
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat
from headstart.ui.wording import say


class ModelsController(QObject):
    # name, its state, and the share that is loaded
    model_changed = Signal(str, str, float)
    answering = Signal(object)  # the model that answers in the open chat, or None
    advised = Signal(SamplingChoice)  # what the makers of that model advise
    blind = Signal(str)  # its name, where it is known not to see images; else ""
    thinking_known = Signal(tuple)  # the efforts of thinking that it understands

    def __init__(
        self,
        models: ChatModels,
        open_chat: OpenChat,
        consent: Consent,
        tasks: Tasks,
        broadcast: Broadcast,
    ) -> None:
        super().__init__()
        self._models = models
        self._open = open_chat
        self._consent = consent
        self._tasks = tasks
        self._serial = 0
        self._name, self._key = "", ""
        open_chat.opened.connect(self.show)
        broadcast.on(ModelState, self._on_state)
        broadcast.on(ReplyEnded, lambda change: self._on_other(change.chat_id))
        broadcast.on(ChatChanged, self._on_chat)

    def show(self) -> None:
        """Show the answering model, which may have changed: another chat, a server that was moved
        or removed."""
        self._tasks.spawn(self._show())

    def name_of(self, key: str) -> str:
        """Name of a model; "" for no key."""
        return self._models.name_of(key)

    def choose(self, model: AnyModel) -> None:
        chat = self._open.chat
        self._consent.asking(lambda: self._models.choose(chat, model))

    def open_file(self, path: str) -> None:
        chat = self._open.chat
        self._consent.asking(lambda: self._models.open_file(chat, Path(path)))

    def use_smaller(self, fits: SmallerContext) -> None:
        """Load a model with the settings that fit into memory, from now on."""
        chat = self._open.chat
        self._consent.asking(lambda: self._models.use_smaller(chat, fits))

    def reload(self) -> None:
        """Load the loaded model again, with the current engine settings."""
        self._tasks.spawn(self._models.reload())

    async def _show(self) -> None:
        self._serial += 1
        serial, chat_id = self._serial, self._open.id
        model, name = await self._models.find(chat_id)
        if serial != self._serial or chat_id != self._open.id:
            # another chat is open by now, or another model chosen: a later look tells
            return
        self._name, self._key = name, "" if model is None else model.key
        self.answering.emit(model)
        missing = model is None and bool(name)
        self.model_changed.emit(name, say("controllers.missing") if missing else "", 1.0)
        if model is not None:
            advice, blind = await self._models.advice(model)
            if serial == self._serial:
                self.advised.emit(advice)
                self.blind.emit(blind)
        self._tell_thinking()

    def _on_chat(self, change: ChatChanged) -> None:
        if change.what is What.MODEL:
            self._on_other(change.chat_id)

    def _on_other(self, chat_id: str) -> None:
        if chat_id == self._open.id:
            self.show()

    def _on_state(self, change: ModelState) -> None:
        if change.name == self._name:
            loading = not change.problem and change.fraction < 1
            self.model_changed.emit(change.name, "", change.fraction if loading else 1.0)
            self._tell_thinking()

    def _tell_thinking(self) -> None:
        self.thinking_known.emit(self._models.thinking(self._key))

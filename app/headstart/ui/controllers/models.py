"""The model of the open chat: which one answers, which ones can be chosen. Main thread."""

from __future__ import annotations

import contextlib
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import (
    ChatChanged,
    ModelState,
    ModelUnloaded,
    ReplyEnded,
    SmallerContext,
    What,
)
from headstart.chat.models import ModelList
from headstart.chat.services import Services
from headstart.core.chats.values import Chat
from headstart.core.errors import EnvironmentProblem
from headstart.core.models.ref import AnyModel
from headstart.core.settings.sampling import SamplingChoice
from headstart.core.settings.schema import changed
from headstart.ui.controllers.consent import Consent
from headstart.ui.kit.tasks import Problems, Tasks
from headstart.ui.open_chat import OpenChat
from headstart.ui.wording import say


class ModelsController(QObject):
    # name, what is said of it, and how far it is loaded
    model_changed = Signal(str, str, float)
    answering = Signal(object)  # the model that answers in the open chat, or None
    listed = Signal(ModelList)
    smaller_fits = Signal(SmallerContext)
    unloaded = Signal(str, str)  # name, the model that needed its memory
    advised = Signal(SamplingChoice)  # what the makers of that model advise
    blind = Signal(str)  # its name, where it is known not to see images; else ""
    thinking_known = Signal(tuple)  # what the model of the open chat can be told about it

    def __init__(
        self,
        services: Services,
        open_chat: OpenChat,
        consent: Consent,
        tasks: Tasks,
        problems: Problems,
    ) -> None:
        super().__init__()
        self._branches = services.branches
        self._choices = services.choices
        self._models = services.models
        self._installed = services.installed
        self._preferences = services.preferences
        self._servers = services.servers
        self._preload = services.local.preload
        self._loader = services.local.loader
        self._open = open_chat
        self._consent = consent
        self._tasks = tasks
        self._problems = problems
        self._serial = 0
        self._name, self._key = "", ""
        open_chat.opened.connect(self.show)
        self._listen(services.broadcast)

    def show(self) -> None:
        """Show the answering model, which may have changed: another chat, a server that was moved
        or removed."""
        self._tasks.spawn(self._show())

    def name_of(self, key: str) -> str:
        """Name of a model; "" for no key."""
        return self._models.name_of(key) if key else ""

    def list(self) -> None:
        self._tasks.spawn(self._list())

    def choose(self, model: AnyModel) -> None:
        chat = self._open.chat
        self._consent.asking(lambda: self._choose(chat, model))

    def open_file(self, path: str) -> None:
        chat = self._open.chat
        self._consent.asking(lambda: self._open_file(chat, Path(path)))

    def use_smaller(self, fits: SmallerContext) -> None:
        """Load a model with what fits into memory, from now on."""
        engine = changed(
            self._preferences.current.engine, context_length=fits.context, kv_type=fits.kv_type
        )
        self._preferences.update(engine=engine)
        self.choose(fits.model)

    def reload(self) -> None:
        """Load what is loaded with the engine settings of now."""
        self._tasks.spawn(self._preload.reload())

    async def _show(self) -> None:
        self._serial += 1
        serial, chat_id = self._serial, self._open.id
        chat = await self._branches.chat(chat_id)
        model = None if chat is None else await self._model_of(chat)
        if serial != self._serial or chat_id != self._open.id:
            # another chat is open by now, or another model chosen: a later look tells
            return
        if model is None:
            self._name = self._models.name_of((chat.model if chat is not None else "") or "")
            self._key = ""
            self.answering.emit(None)
            self.model_changed.emit(
                self._name, say("controllers.missing") if self._name else "", 1.0
            )
        else:
            self._name, self._key = model.name, model.key
            self.answering.emit(model)
            self.model_changed.emit(model.name, "", 1.0)
            advice = await self._models.advice(model)
            blind = await self._models.blind(model)
            if serial == self._serial:
                self.advised.emit(advice)
                self.blind.emit(blind)
        self._tell_thinking()

    async def _model_of(self, chat: Chat) -> AnyModel | None:
        with contextlib.suppress(EnvironmentProblem):
            return await self._models.of_chat(chat)
        return None

    async def _choose(self, chat: Chat, model: AnyModel) -> None:
        before = await self._model_of(chat)
        # a server's as it is now: it may have been allowed since the menu was opened
        model = self._servers.find(model.key) or model
        await self._choices.set_model(chat.id, model)
        trouble = await self._preload.load(chat.id, asked=True)
        now = await self._branches.chat(chat.id)
        chosen = now is not None and now.model == model.key
        if trouble and before is not None and before != model and chosen:
            # a file that cannot be used is not left as the model of this chat and of new ones
            await self._choices.set_model(chat.id, before)
            self._problems.show(trouble, "")

    async def _open_file(self, chat: Chat, path: Path) -> None:
        await self._choose(chat, await self._models.open_file(path))

    async def _list(self, ask: bool = True) -> None:
        """List the installed models at once, and those of servers when they have answered."""
        local = [model for model in await self._installed.look() if not model.about.no_chat]
        self.listed.emit(ModelList(local, self._servers.known(), await self._current_key()))
        if ask and self._servers.connections:
            offered = await self._servers.offers()
            self.listed.emit(ModelList(local, offered, await self._current_key()))

    async def _current_key(self) -> str:
        chat = await self._branches.chat(self._open.id)
        model = None if chat is None else await self._model_of(chat)
        return "" if model is None else model.key

    def _listen(self, broadcast: Broadcast) -> None:
        broadcast.on(ModelState, self._on_state)
        broadcast.on(ModelUnloaded, lambda change: self.unloaded.emit(change.name, change.other))
        broadcast.on(SmallerContext, self.smaller_fits.emit)
        broadcast.on(ReplyEnded, lambda change: self._on_other(change.chat_id))
        broadcast.on(ChatChanged, self._on_chat)

    def _on_chat(self, change: ChatChanged) -> None:
        if change.what is What.MODEL and change.chat_id == self._open.id:
            self.show()
            # nobody looks at the list now: servers are not asked for it
            self._tasks.spawn(self._list(ask=False))

    def _on_other(self, chat_id: str) -> None:
        if chat_id == self._open.id:
            self.show()

    def _on_state(self, change: ModelState) -> None:
        if change.problem is not None:
            self._problems.show(change.problem, "")
        loading = not change.problem and change.fraction < 1
        if change.name == self._name:
            self.model_changed.emit(change.name, "", change.fraction if loading else 1.0)
            self._tell_thinking()

    def _tell_thinking(self) -> None:
        self.thinking_known.emit(self._loader.thinking(self._key))

"""The models on this computer: their facts, and the user's actions on them. Main thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from headstart.chat.answering.loading import Loader
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import (
    ModelsChanged,
    ModelsLoaded,
    ModelState,
    ModelUnloaded,
    ReplyEnded,
    SmallerContext,
)
from headstart.chat.library.installed import Installed, Leaving
from headstart.core.errors import EnvironmentProblem
from headstart.core.models.described import ModelCard
from headstart.core.models.installed import InstalledModel
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import ModelOptions
from headstart.ui.kit.tasks import Problems, Tasks


class InstalledController(QObject):
    listed = Signal(list)  # of InstalledModel
    card_shown = Signal(InstalledModel, ModelCard, int)  # with the number of its chats
    leaving = Signal(Leaving)  # ask before the removal
    removed = Signal(str, int)  # name, bytes freed

    smaller_fits = Signal(SmallerContext)
    unloaded = Signal(str, str)  # name, the model that needed its memory
    loaded = Signal(tuple)  # of ResidentModel
    loading = Signal(str, float)  # content of the model being loaded, fraction; "" when it ended

    def __init__(
        self,
        installed: Installed,
        loader: Loader,
        tasks: Tasks,
        problems: Problems,
        broadcast: Broadcast,
    ) -> None:
        super().__init__()
        self._installed = installed
        self._loader = loader
        self._tasks = tasks
        self._problems = problems
        broadcast.on(ModelsChanged, lambda _change: self.look())
        broadcast.on(ModelsLoaded, lambda change: self.loaded.emit(change.models))
        broadcast.on(ModelUnloaded, lambda change: self.unloaded.emit(change.name, change.other))
        broadcast.on(SmallerContext, self.smaller_fits.emit)
        broadcast.on(ReplyEnded, lambda _change: self._note_use())
        broadcast.on(ModelState, self._on_state)
        self._loading: InstalledModel | None = None

    def look(self) -> None:
        """Look for the models that are installed now."""
        self._tasks.spawn(self._look())

    def show_card(self, model: InstalledModel) -> None:
        self._tasks.spawn(self._show_card(model))

    def rename(self, model: InstalledModel, name: str) -> None:
        self._tasks.spawn(self._installed.rename(model.content, name))

    def set_notes(self, model: InstalledModel, notes: str) -> None:
        self._tasks.spawn(self._installed.set_notes(model.content, notes))

    def options(self, model: InstalledModel) -> ModelOptions:
        return self._installed.options(model.ref)

    def set_options(self, options: ModelOptions) -> None:
        self._installed.set_options(options)

    def add_folder(self, folder: str) -> None:
        self._installed.add_folder(Path(folder))

    def remove_folder(self, folder: str) -> None:
        self._installed.remove_folder(folder)

    def unlist(self, model: InstalledModel) -> None:
        self._installed.unlist(model)

    def use_for_new(self, model: ModelRef) -> None:
        """Make a model the one that answers new chats."""
        self._installed.use_for_new(model)

    def load(self, model: InstalledModel) -> None:
        self._tasks.spawn(self._load(model))

    def unload(self, model: InstalledModel) -> None:
        self._tasks.spawn(self._loader.unload([model.ref.key]))

    def keep(self, model: InstalledModel, kept: bool) -> None:
        """Keep a model loaded while idle, or no longer."""
        self._installed.keep(model.ref.key, kept)

    def ask_remove(self, model: InstalledModel) -> None:
        self._tasks.spawn(self._ask_remove(model))

    def remove(self, model: InstalledModel) -> None:
        self._tasks.spawn(self._remove(model))

    async def _look(self) -> None:
        self.listed.emit(await self._installed.look())

    async def _show_card(self, model: InstalledModel) -> None:
        try:
            card = await self._installed.card(model)
            self.card_shown.emit(model, card, await self._installed.chats_with(model))
        except EnvironmentProblem as problem:
            self._problems.show(problem.message, problem.remedy)

    async def _ask_remove(self, model: InstalledModel) -> None:
        self.leaving.emit(await self._installed.leaving(model))

    async def _remove(self, model: InstalledModel) -> None:
        size = await self._installed.remove(model)
        self.removed.emit(model.ref.name, size)

    async def _load(self, model: InstalledModel) -> None:
        self._loading = model
        self.loading.emit(model.content, 0.0)
        try:
            trouble = await self._loader.load(self._installed.request(model))
        finally:
            if self._loading is model:
                self._loading = None
                self.loading.emit("", 0.0)
        if trouble:
            self._problems.show(trouble, "")

    async def _use(self, key: str) -> None:
        await self._installed.used(key)
        await self._look()

    def _on_state(self, state: ModelState) -> None:
        model = self._loading
        if model is not None and state.name == model.ref.name and not state.problem:
            under_way = state.fraction < 1
            self.loading.emit(model.content if under_way else "", state.fraction)

    def _note_use(self) -> None:
        loaded = self._loader.loaded
        if loaded is not None:
            self._tasks.spawn(self._use(loaded.model.key))

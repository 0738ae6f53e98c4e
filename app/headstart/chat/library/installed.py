"""Installed models, and the user's actions on them. On the event loop's thread; files are read on a
worker thread."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatChanged, ModelsChanged, What
from headstart.chat.preferences import Preferences
from headstart.core.models.described import ModelCard
from headstart.core.models.installed import InstalledModel, Moved
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.settings.schema import Backend, ModelOptions, Settings, changed
from headstart.core.told import told
from headstart.engine.backends import select
from headstart.hub import removal
from headstart.hub.cards import read_card
from headstart.hub.shelf import Shelf
from headstart.storage.worker import Storage


class Leaving(Struct, frozen=True):
    """Effects of removing a model. `size`: bytes freed; `program`: owner of its folder; `chats`:
    number of chats that need another model; `is_draft`: the settings name it as a draft."""

    model: InstalledModel
    size: int
    files: int
    program: str
    chats: int
    is_draft: bool


class Installed:
    def __init__(
        self, shelf: Shelf, storage: Storage, preferences: Preferences, broadcast: Broadcast
    ) -> None:
        self._shelf = shelf
        self._storage = storage
        self._preferences = preferences
        self._broadcast = broadcast

    # --- looking -------------------------------------------------------------------------

    async def look(self) -> list[InstalledModel]:
        """All installed models; an unusable one has a reason."""
        opened = self._preferences.current.model_files
        found = await asyncio.to_thread(self._shelf.look, opened)
        await self._follow(await asyncio.to_thread(self._shelf.moved))
        backend = self._preferences.current.engine.backend
        return [_judged(model, backend) for model in found]

    async def card(self, model: InstalledModel) -> ModelCard:
        """All facts in the model's file; raises ModelProblem, OSError."""
        return await asyncio.to_thread(read_card, model.ref)

    # --- the user's choices --------------------------------------------------------------

    async def rename(self, content: str, name: str) -> None:
        await asyncio.to_thread(self._shelf.rename, content, name)
        self._broadcast.tell(ModelsChanged())

    async def set_notes(self, content: str, notes: str) -> None:
        await asyncio.to_thread(self._shelf.set_notes, content, notes)

    async def used(self, key: str) -> None:
        """Note that a reply was just written with this model."""
        await asyncio.to_thread(self._shelf.used, key, time.time())

    async def chats_with(self, model: InstalledModel) -> int:
        """Number of chats that use the model."""
        return await self._storage.run(lambda store: store.chats.using(model.ref.key))

    def request(self, model: InstalledModel) -> LoadRequest:
        """A request to load the model without a chat."""
        return LoadRequest(model.ref, self._preferences.current.engine, None)

    def keep(self, key: str, kept: bool) -> None:
        """Keep a model loaded while idle, or no longer."""
        library = self._preferences.current.library
        others = tuple(one for one in library.kept if one != key)
        self._preferences.update(library=changed(library, kept=(*others, key) if kept else others))

    def options(self, model: ModelRef) -> ModelOptions:
        """Options inherited by chats with this model."""
        own = (one for one in self._preferences.current.models if one.key == model.key)
        return next(own, ModelOptions(key=model.key))

    def set_options(self, options: ModelOptions) -> None:
        """Set a model's options; empty ones are dropped."""
        others = [one for one in self._preferences.current.models if one.key != options.key]
        says = [options] if options != ModelOptions(key=options.key) else []
        self._preferences.update(models=(*others, *says))

    def use_for_new(self, model: ModelRef) -> None:
        """Use this model in new chats."""
        self._preferences.update(model=model.key)

    def add_folder(self, folder: Path) -> None:
        """Search this folder for models too."""
        folders = self._preferences.current.library.folders
        if str(folder) not in folders:
            self._set_folders((*folders, str(folder)))
        self._broadcast.tell(ModelsChanged())

    def remove_folder(self, folder: str) -> None:
        """Stop searching this folder; its files stay."""
        folders = self._preferences.current.library.folders
        self._set_folders(tuple(one for one in folders if one != folder))
        self._broadcast.tell(ModelsChanged())

    def _set_folders(self, folders: tuple[str, ...]) -> None:
        library = changed(self._preferences.current.library, folders=folders)
        self._preferences.update(library=library)

    def unlist(self, model: InstalledModel) -> None:
        """Forget a file the user opened; it stays on disk."""
        files = self._preferences.current.model_files
        kept = tuple(name for name in files if name != model.ref.key)
        self._preferences.update(model_files=kept)
        self._broadcast.tell(ModelsChanged())

    # --- removing ------------------------------------------------------------------------

    async def leaving(self, model: InstalledModel) -> Leaving:
        """Effects of removing a model; raises ModelProblem if it is not ours to remove."""
        plan = await asyncio.to_thread(removal.plan, model)
        key = model.ref.key
        chats = await self._storage.run(lambda store: store.chats.using(key))
        settings = self._preferences.current
        drafts = [settings.speculation.draft]
        drafts += [one.speculation.draft for one in settings.models if one.speculation is not None]
        return Leaving(model, plan.size, len(plan.files), plan.program, chats, key in drafts)

    async def remove(self, model: InstalledModel) -> int:
        """Remove a model's files; return the bytes freed. Raises ModelProblem."""
        plan = await asyncio.to_thread(removal.plan, model)
        await asyncio.to_thread(removal.remove, plan)
        await asyncio.to_thread(self._shelf.forget, model.ref.key)
        self.unlist(model)
        return plan.size

    # --- moved models --------------------------------------------------------------------

    async def _follow(self, moved: list[Moved]) -> None:
        """Update moved models' locations in chats and settings."""
        for move in moved:
            self._preferences.update(**_moved(self._preferences.current, move))
            for chat_id in await self._move_chats(move):
                self._broadcast.tell(ChatChanged(chat_id, What.MODEL))

    async def _move_chats(self, move: Moved) -> list[str]:
        return await self._storage.run(lambda store: store.chats.move_model(move.before, move.now))


def _judged(model: InstalledModel, backend: Backend) -> InstalledModel:
    if model.why_not is not None:
        return model
    why = select.cannot_run(model.ref.format, backend)
    return model if why is None else replace(model, why_not=told(why))


def _moved(settings: Settings, move: Moved) -> dict[str, object]:
    def now(key: str) -> str:
        return move.now if key == move.before else key

    known = {one.key for one in settings.models}
    models = tuple(
        changed(one, key=now(one.key))
        for one in settings.models
        if one.key != move.before or move.now not in known
    )
    draft = changed(settings.speculation, draft=now(settings.speculation.draft))
    library = changed(settings.library, kept=tuple(map(now, settings.library.kept)))
    server = settings.server
    server = changed(server, model=now(server.model), draft=now(server.draft))
    found = {"model": now(settings.model), "models": models, "speculation": draft}
    return {**found, "library": library, "server": server}

"""The models that other programs may name, and the one that answers where they name none.

On the event loop's thread of the window; files are read on a worker thread.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ModelsChanged, ModelsLoaded
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.models.installed import InstalledModel
from headstart.core.models.ref import ModelRef
from headstart.core.servers import split_key
from headstart.core.serving.models import ServedModel, named, short_ids
from headstart.core.settings.schema import Settings
from headstart.core.told import Told, told
from headstart.hub.library import open_model
from headstart.hub.projectors import projector_of

# the context that is told of a model that was never loaded, if its file does not say less
_USUAL_CONTEXT = 32_768
_EMBEDS = "file-is-embedding"


class ProgramModels(Struct, frozen=True):
    """`chat` are the chat models on this computer, with `first`, which answers by itself, first;
    `problem`: why none does. `unable` are installed models that cannot answer, with the reason;
    `embedders` make vectors."""

    chat: tuple[ServedModel, ...] = ()
    first: ServedModel | None = None
    problem: Told | None = None
    embedders: tuple[ServedModel, ...] = ()
    unable: tuple[tuple[ServedModel, Told], ...] = ()

    def listed(self, by_name: bool) -> list[ServedModel]:
        """The chat models that a request may name; only `first` if none is loaded by name."""
        only = () if self.first is None else (self.first,)
        return list(self.chat if by_name else only)

    def unable_named(self, name: str) -> tuple[ServedModel, Told] | None:
        model = named([one for one, _ in self.unable], name)
        return next((each for each in self.unable if each[0] is model), None)

    def listed_embedders(self, by_name: bool) -> list[ServedModel]:
        return list(self.embedders if by_name else self.embedders[:1])


class Offering:
    def __init__(
        self,
        models: Models,
        contexts: Callable[[], Mapping[str, int]],
        preferences: Preferences,
        broadcast: Broadcast,
    ) -> None:
        """`contexts`: tokens of context of each loaded model, by key."""
        self._models = models
        self._contexts = contexts
        self._preferences = preferences
        # the model of this run, in place of the one in the settings: its key
        self._used = ""
        # the last answer of `look`, for requests: looking at all files takes long
        self._known: ProgramModels | None = None
        # how often it was forgotten: a look that began before says nothing of now
        self._forgotten = 0
        broadcast.on(ModelsChanged, lambda _change: self._forget())
        broadcast.on(ModelsLoaded, lambda _change: self._forget())
        preferences.listen(
            lambda _settings: self._forget(), "server", "model", "library", "model_files", "engine"
        )

    async def use(self, text: str, path: Path) -> None:
        """Answer with this model in this run: `text` as the user wrote it, which is a file, a
        folder, or an installed model's name; `path` is the same as an absolute path. Raises
        EnvironmentProblem for one that cannot answer."""
        if split_key(text) is not None:
            raise ModelProblem("server-model-not-served", name=self._models.name_of(text))
        try:
            model = await asyncio.to_thread(self._models.shelf.open, path)
        except ModelProblem:
            # a path means its file, and no other one of the same name
            found = None if _is_path(text) else named((await self.look()).chat, text)
            if found is None:
                raise
            model = found.ref
        self._used = model.key
        self._forget()

    async def look(self) -> ProgramModels:
        """Look at all files."""
        settings, before = self._preferences.current, self._forgotten
        chosen, problem = await self._chosen(settings)
        opened = [*settings.model_files, *([] if chosen is None else [chosen.key])]
        listed = await asyncio.to_thread(self._models.shelf.look, opened)
        key = ""
        if chosen is not None:
            key = chosen.key
            # its name is known by now
            chosen = await asyncio.to_thread(self._renamed, chosen)
            listed = [_as_chosen(one, chosen) for one in listed]
        able, unable = self._sorted(listed)
        chat = await self._served(able, settings)
        first = next((one for one in chat if one.ref.key == key), None)
        if chosen is not None and first is None:
            whys = [why for one, why in unable if one.ref.key == key]
            problem = whys[0] if whys else await asyncio.to_thread(_why_not_there, chosen.path)
        found = ProgramModels(
            tuple(sorted(chat, key=lambda one: one is not first)),
            first,
            problem,
            _embedders(listed),
            tuple((ServedModel("", one.ref, copies=one.copies), why) for one, why in unable),
        )
        if before == self._forgotten:
            self._known = found
        return found

    async def listed(self) -> list[ServedModel]:
        """The models that a request may name, embedding models last."""
        found = await self.look()
        by_name = self._by_name
        return [*found.listed(by_name), *found.listed_embedders(by_name)]

    async def meant(self, name: str) -> ServedModel:
        """The chat model that answers to a name; raises EnvironmentProblem."""
        known = self._known
        found = known or await self.look()
        model = named(found.chat, name)
        if model is None and known is not None and name:
            # it may be new
            found = await self.look()
            model = named(found.chat, name)
        if model is None:
            other = found.unable_named(name)
            if other is not None:
                self._check_by_name(other[0])
                raise EnvironmentProblem.of(other[1])
            return _first(found)
        if model is not found.first:
            self._check_by_name(model)
        return model

    async def meant_embedder(self, name: str) -> ServedModel:
        """The embedding model that answers to a name; raises EnvironmentProblem."""
        found = await self.look()
        if not found.embedders:
            raise ModelProblem("no-embedding-model")
        first = found.embedders[0]
        model = named(found.embedders, name)
        if model is None:
            other = named(found.chat, name)
            if other is not None:
                raise ModelProblem("model-makes-no-vectors", name=other.ref.name)
            return first
        if model is not first:
            self._check_by_name(model)
        return model

    @property
    def _by_name(self) -> bool:
        return self._preferences.current.server.any_model

    def _check_by_name(self, model: ServedModel) -> None:
        """Refuse another model than the one for programs, if none is loaded by name."""
        if not self._by_name:
            raise ModelProblem("model-not-offered", name=model.ref.name)

    def _forget(self) -> None:
        self._known = None
        self._forgotten += 1

    async def _chosen(self, settings: Settings) -> tuple[ModelRef | None, Told | None]:
        """The model that answers by itself, or why there is none."""
        key = self._used or settings.server.model or settings.model
        if split_key(key) is not None:
            # a server's model is not for others
            return None, told("server-model-not-served", name=self._models.name_of(key))
        try:
            return await asyncio.to_thread(self._models.find, key), None
        except ModelProblem as problem:
            return None, problem.told

    def _renamed(self, chosen: ModelRef) -> ModelRef:
        try:
            return self._models.shelf.ref(chosen.path)
        except OSError:
            return chosen

    def _sorted(
        self, listed: Sequence[InstalledModel]
    ) -> tuple[list[InstalledModel], list[tuple[InstalledModel, Told]]]:
        """The models that can answer, and the others with the reason."""
        whys = self._models.whys([one.ref for one in listed])
        able, unable = [], []
        for one in listed:
            why = one.why_not
            if why is None and one.ref.key in whys:
                why = told("cannot-run", name=one.ref.name, why=whys[one.ref.key].code)
            if why is None:
                able.append(one)
            else:
                unable.append((one, why))
        return able, unable

    async def _served(
        self, able: Sequence[InstalledModel], settings: Settings
    ) -> list[ServedModel]:
        loaded = self._contexts()
        limit = settings.engine.context_length or _USUAL_CONTEXT
        projectors = await asyncio.to_thread(lambda: [projector_of(one.ref) for one in able])
        sees = {one.ref.key for one, each in zip(able, projectors, strict=True) if each is not None}
        found = []
        for name, one in short_ids(able).items():
            trained = one.about.context or limit
            context = loaded.get(one.ref.key) or min(trained, limit)
            found.append(
                ServedModel(
                    name, one.ref, context, one.ref.key in loaded, one.ref.key in sees,
                    one.about.quantization, one.about.architecture, int(one.last_used),
                    copies=one.copies,
                )
            )  # fmt: skip
        return found


def _first(found: ProgramModels) -> ServedModel:
    if found.first is None:
        raise EnvironmentProblem.of(found.problem or told("no-model-yet"))
    return found.first


def _why_not_there(path: Path) -> Told:
    try:
        open_model(path)
    except ModelProblem as problem:
        return problem.told
    return told("model-missing", path=path)


def _as_chosen(model: InstalledModel, chosen: ModelRef) -> InstalledModel:
    """The model as the file that was chosen, where several files have the same bytes."""
    paths = (model.ref.key, *model.copies)
    if chosen.key not in paths:
        return model
    return replace(model, ref=chosen, copies=tuple(one for one in paths if one != chosen.key))


def _embedders(listed: Iterable[InstalledModel]) -> tuple[ServedModel, ...]:
    able = short_ids(one for one in listed if one.about.no_chat == _EMBEDS)
    return tuple(
        ServedModel(name, one.ref, one.about.context, embeds=True, copies=one.copies)
        for name, one in able.items()
    )


def _is_path(text: str) -> bool:
    return "/" in text or os.sep in text

"""Models to choose from, local and on servers, and the model of a chat.

File look-ups run on a worker thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from headstart.chat.preferences import Preferences
from headstart.chat.servers import Offered, Servers
from headstart.core.chats.values import Chat
from headstart.core.errors import ModelProblem
from headstart.core.models.installed import InstalledModel
from headstart.core.models.names import people_name
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.core.models.split_files import title
from headstart.core.servers import split_key
from headstart.core.settings.inheritance import NO_ADVICE
from headstart.core.settings.schema import KvType, SamplingChoice, changed
from headstart.core.told import Told, told
from headstart.engine.backends import select
from headstart.hub import library
from headstart.hub.advice import read_advice
from headstart.hub.projectors import projector_of
from headstart.hub.shelf import Shelf


def is_model(path: Path) -> bool:
    """True if a file's name or a folder's contents suggest a model."""
    if path.is_dir():
        return (path / "config.json").is_file()
    return path.suffix.casefold() in (".gguf", ".ggml", ".safetensors", ".bin", ".pt")


class ModelList(Struct, frozen=True):
    """`local`: chat models on this computer; one that cannot run has a reason. `current`: key of
    the chosen model."""

    local: Sequence[InstalledModel]
    servers: Sequence[Offered]
    current: str


class Models:
    def __init__(self, preferences: Preferences, servers: Servers, shelf: Shelf) -> None:
        self._preferences = preferences
        self._servers = servers
        self._shelf = shelf

    @property
    def shelf(self) -> Shelf:
        return self._shelf

    async def installed(self) -> list[ModelRef]:
        """Installed chat models, including formats this computer cannot run; its preferred format
        comes first."""
        settings = self._preferences.current
        found = await asyncio.to_thread(self._shelf.look, settings.model_files)
        preferred = select.preferred(settings.engine.backend)
        models = [model.ref for model in found if model.why_not is None]
        return sorted(models, key=lambda model: model.format != preferred)

    async def heads(self) -> list[ModelRef]:
        """Installed heads, each made to draft for one model."""
        files = self._preferences.current.model_files
        found = await asyncio.to_thread(self._shelf.look, files)
        return [model.ref for model in found if model.about.no_chat == "file-is-head"]

    def why_not(self, model: ModelRef) -> Told | None:
        """A short reason why a model cannot run on this computer; None if it can."""
        why = select.cannot_run(model.format, self._preferences.current.engine.backend)
        return None if why is None else told(why)

    def whys(self, models: Sequence[ModelRef]) -> dict[str, Told]:
        """`why_not` of the models that cannot run on this computer, by key."""
        return {model.key: why for model in models if (why := self.why_not(model)) is not None}

    async def open_file(self, path: Path) -> ModelRef:
        """Check a file or folder and add it to the list; raises ModelProblem.

        A model that cannot run is listed too: another setting may let it run.
        """
        model = await asyncio.to_thread(self._shelf.open, path)
        files = [name for name in self._preferences.current.model_files if name != model.key]
        starter = await asyncio.to_thread(library.starter_model)
        if starter is None or starter.path != model.path:
            files.append(model.key)
        self._preferences.update(model_files=tuple(files))
        why = self.why_not(model)
        if why is not None:
            raise ModelProblem("cannot-run", name=model.name, why=why.code)
        return model

    async def of_chat(self, chat: Chat) -> AnyModel:
        """The chat's model, else the model of new chats; raises ModelProblem if it is gone."""
        key = chat.model or self._preferences.current.model
        found = self._servers.find(key)
        return found if found is not None else await asyncio.to_thread(self.find, key)

    async def here(self, chat: Chat) -> ModelRef | None:
        """The chat's model if it is a local one; raises ModelProblem if it is gone."""
        key = chat.model or self._preferences.current.model
        return None if split_key(key) is not None else await asyncio.to_thread(self.find, key)

    async def advice(self, model: AnyModel) -> SamplingChoice:
        """The makers' sampling advice for a local model; none for a server's."""
        if not isinstance(model, ModelRef):
            return NO_ADVICE
        return await asyncio.to_thread(read_advice, model)

    async def blind(self, model: AnyModel) -> str:
        """The name of a model known not to see images; "" for one that sees them, or a server's
        model, about which only the server knows."""
        if not isinstance(model, ModelRef):
            return ""
        projector = await asyncio.to_thread(projector_of, model)
        return model.name if projector is None else ""

    def renewed(self, model: AnyModel) -> AnyModel:
        """The same model with what its server says of it now."""
        return self._servers.find(model.key) or model

    def use_smaller(self, context: int, kv_type: KvType) -> None:
        """Engine settings with which a model fits into memory, for all models from now on."""
        settings = self._preferences.current.engine
        self._preferences.update(engine=changed(settings, context_length=context, kv_type=kv_type))

    def name_of(self, key: str) -> str:
        named = split_key(key)
        if named is not None:
            return named[1]
        return self._shelf.name_of(key) or people_name(title(Path(key)))

    def find(self, key: str) -> ModelRef:
        """The model with this key, even if it moved; the starter model for "". Raises ModelProblem
        if it is gone. On a worker thread."""
        starter = library.starter_model()
        if key:
            try:
                return self._shelf.find(key)
            except ModelProblem:
                # the starter model moves with the app's installation; chats keep its old path
                same = starter is not None and starter.path.name == Path(key).name
                if starter is None or not same or self._shelf.held_other(key, starter.key):
                    raise
        if starter is None:
            raise ModelProblem("no-model-yet")
        return self._shelf.ref(starter.path)

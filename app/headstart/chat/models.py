"""Which models can be chosen, and which one a chat uses. File look-ups run on a worker thread."""

from __future__ import annotations

import asyncio
from pathlib import Path

from headstart.chat.preferences import Preferences
from headstart.core.errors import ModelProblem
from headstart.core.values import Chat, ModelRef
from headstart.hub import library


class Models:
    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences

    async def installed(self) -> list[ModelRef]:
        return await asyncio.to_thread(library.installed, self._preferences.current.model_files)

    async def open_file(self, path: Path) -> ModelRef:
        """Check a file and make it the model of new chats; raises ModelProblem."""
        model = await asyncio.to_thread(library.open_model, path)
        files = [name for name in self._preferences.current.model_files if name != model.key]
        starter = await asyncio.to_thread(library.starter_model)
        if starter is None or starter.path != model.path:
            files.append(model.key)
        self._preferences.update(model=model.key, model_files=tuple(files))
        return model

    async def of_chat(self, chat: Chat | None) -> ModelRef:
        """The chat's own model, else the one of new chats; raises ModelProblem if it is gone."""
        key = (chat.model if chat else None) or self._preferences.current.model
        return await asyncio.to_thread(self._find, key)

    def name_of(self, key: str) -> str:
        return Path(key).name.removesuffix(".gguf")

    @staticmethod
    def _find(key: str) -> ModelRef:
        starter = library.starter_model()
        if key:
            try:
                return library.find(key)
            except ModelProblem:
                # the starter model moves with the installation, not with the chats
                if starter is None or starter.path.name != Path(key).name:
                    raise
        if starter is None:
            raise ModelProblem(
                "There is no model yet.", "Open a GGUF file with the model menu, or drop one here."
            )
        return starter

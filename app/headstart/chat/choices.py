"""The user's choices for a chat: its model, its options. On the event loop's thread."""

from __future__ import annotations

from msgspec.structs import replace

from headstart.chat.answering.answerer import Answering
from headstart.chat.changes import What
from headstart.chat.databases import Databases
from headstart.chat.preferences import Preferences
from headstart.chat.prefixes import Prefixes
from headstart.core.models.ref import AnyModel
from headstart.core.settings.schema import ChatOptions


class Choices:
    def __init__(
        self,
        databases: Databases,
        answering: Answering,
        preferences: Preferences,
        prefixes: Prefixes,
    ) -> None:
        self._databases = databases
        self._answering = answering
        self._preferences = preferences
        self._prefixes = prefixes

    async def set_options(self, chat_id: str, options: ChatOptions) -> None:
        draft = self._databases.begun(chat_id)
        if draft is not None:
            self._databases.change_begun(replace(draft, options=options), What.OPTIONS)
            return
        await self._databases.change(
            chat_id, What.OPTIONS, lambda store: store.chats.set_options(chat_id, options)
        )
        if not self._databases.is_private(chat_id):
            forgets = await self._prefixes.allow(chat_id, options.keep_on_disk)
            if forgets:
                await self._databases.on_disk.run(lambda store: store.profiles.forget_words())

    async def set_model(self, chat_id: str, model: AnyModel) -> None:
        """Set the model of this chat and of new ones; a private chat's choice is not remembered.

        Raises ConsentNeeded for a server the user has not yet allowed to receive text.
        """
        self._answering.check(model)
        if not self._databases.is_private(chat_id):
            self._preferences.update(model=model.key)
        draft = self._databases.begun(chat_id)
        if draft is not None:
            self._databases.change_begun(replace(draft, model=model.key), What.MODEL)
        else:
            await self._databases.change(
                chat_id, What.MODEL, lambda store: store.chats.set_model(chat_id, model.key)
            )

"""The beginning of a chat's next prompt, for prefilling ahead. Event loop's thread."""

from __future__ import annotations

from headstart.chat.answering.drafts import Drafts
from headstart.chat.answering.loading import Loader
from headstart.chat.answering.local import ModelSources
from headstart.chat.branches import Branches
from headstart.chat.preferences import Preferences
from headstart.chat.requests import Asked, ahead_request, images_among
from headstart.core.chats.unsent import Unsent
from headstart.core.chats.values import Chat, Message
from headstart.core.errors import ModelProblem
from headstart.core.requests import AheadRequest


class NextPrompt:
    """Keeps the fetched chat and branch until `forget`: typing does not change them."""

    def __init__(
        self,
        branches: Branches,
        drafts: Drafts,
        loader: Loader,
        preferences: Preferences,
        sources: ModelSources,
    ) -> None:
        self._images, self._lent = sources.images, sources.lent
        self._documents = sources.documents
        self._branches = branches
        self._drafts = drafts
        self._loader = loader
        self._preferences = preferences
        self._known: tuple[Chat, list[Message]] | None = None
        self._serial = 0

    def forget(self) -> int:
        """Forget the fetched branch: some chat changed. The result is for `know`."""
        self._known, self._serial = None, self._serial + 1
        return self._serial

    def know(self, chat: Chat, branch: list[Message], since: int) -> None:
        """Take over a chat's branch as of `since`, the result of `forget`, to save fetching it."""
        if since == self._serial:
            self._known = (chat, branch)

    async def request(self, unsent: Unsent) -> AheadRequest | None:
        """The request to prefill; None while a reply is being written, if the model is not
        loaded, or for a server's model: text typed for a server is not sent ahead."""
        if self._loader.busy:
            return None
        try:
            wanted = await self._drafts.pair(unsent.chat_id)
        except ModelProblem:
            return None
        if wanted is None or not self._loader.has_loaded(wanted.model):
            return None
        known = await self._fetch(unsent.chat_id)
        if known is None or self._loader.busy:
            return None
        chat, branch = known
        shown = images_among([*(part for one in branch for part in one.parts), *unsent.parts])
        wanted, images = await self._images.for_model(chat.id, shown, wanted)
        lent = await self._lent(chat, wanted.model.key)
        documents = await self._documents(chat)
        if self._loader.busy:
            return None
        asked = Asked(chat, tuple(branch), "", lent=lent, documents=documents)
        return ahead_request(asked, unsent, wanted, self._preferences.current, images)

    async def _fetch(self, chat_id: str) -> tuple[Chat, list[Message]] | None:
        if self._known is not None and self._known[0].id == chat_id:
            return self._known
        serial = self._serial
        chat = await self._branches.chat(chat_id)
        found = None if chat is None else (chat, await self._branches.whole(chat_id))
        if serial == self._serial:
            self._known = found
        return found

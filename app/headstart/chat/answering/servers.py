"""Replies by servers. On the event loop's thread; a separate thread sends the requests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from headstart.chat.answering.images import ChatImages, images_gone
from headstart.chat.answering.server_drafts import ServerDrafts
from headstart.chat.preferences import Preferences
from headstart.chat.reply import Preceded, ReplyStream
from headstart.chat.requests import Asked, images_in, remote_request
from headstart.chat.servers import Servers
from headstart.core.servers import ServerModel
from headstart.engine.remote.session import RemoteSession

# the window redraws after the request is sent, as both need the processor; slower steps, such as
# imports and connecting, are not waited for
SENT_SECONDS = 0.02


class ServerAnswerer:
    """An `Answerer`."""

    def __init__(
        self,
        session: RemoteSession,
        servers: Servers,
        preferences: Preferences,
        images: ChatImages,
        drafts: ServerDrafts,
    ) -> None:
        self._drafts = drafts
        self._images = images
        self._session = session
        self._servers = servers
        self._preferences = preferences

    def check(self, model: ServerModel) -> None:
        """Raise ConsentNeeded."""
        self._servers.check_allowed(model)

    async def answer(self, model: ServerModel, asked: Asked) -> ReplyStream:
        shown = images_in(asked.branch, asked.written)
        images = await self._images.read(asked.chat.id, shown)
        request = remote_request(asked, model, self._preferences.current, images)
        draft = await self._drafts.of_reply(asked, request)
        stream = self._session.stream(request, draft)
        await asyncio.wait([stream.sent], timeout=SENT_SECONDS)
        gone = images_gone(shown, images)
        return stream if gone is None else Preceded((gone,), stream)

    async def count(self, _model: ServerModel, _texts: Sequence[str], /) -> Sequence[int] | None:
        """None: a server's tokens cannot be counted here."""
        return None

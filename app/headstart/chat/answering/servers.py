"""Replies by servers. On the event loop's thread; requests are sent on a thread of their own."""

from __future__ import annotations

import asyncio
import contextlib

from headstart.chat.databases import Databases
from headstart.chat.preferences import Preferences
from headstart.chat.reply import ReplyStream
from headstart.chat.requests import NO_IMAGES, Asked, Images, images_in, remote_request
from headstart.chat.servers import Servers
from headstart.core.errors import EnvironmentProblem
from headstart.core.servers import ServerModel
from headstart.engine.remote.session import RemoteSession
from headstart.storage.worker import Store

# the window draws what is new after the request was sent, as both take the processor; what has to
# be imported or connected first is not waited for
SENT_SECONDS = 0.02


class ServerAnswerer:
    """An `Answerer`."""

    def __init__(
        self,
        session: RemoteSession,
        servers: Servers,
        preferences: Preferences,
        databases: Databases,
    ) -> None:
        self._databases = databases
        self._session = session
        self._servers = servers
        self._preferences = preferences

    def check(self, model: ServerModel) -> None:
        """Raises ConsentNeeded."""
        self._servers.check_allowed(model)

    async def answer(self, model: ServerModel, asked: Asked) -> ReplyStream:
        images = await self._images(asked)
        request = remote_request(asked, model, self._preferences.current, images)
        stream = self._session.stream(request)
        await asyncio.wait([stream.sent], timeout=SENT_SECONDS)
        return stream

    async def _images(self, asked: Asked) -> Images:
        """Those of the branch; one whose bytes are damaged or gone is sent by name only."""
        wanted = images_in(asked.branch)
        if not wanted:
            return NO_IMAGES

        def read(store: Store) -> Images:
            found: dict[str, bytes] = {}
            for part in wanted:
                with contextlib.suppress(EnvironmentProblem):
                    found[part.blob.digest] = store.blobs.get(part.blob)
            return found

        return await self._databases.run(asked.chat.id, read)

"""The user's connections to servers: add and change them, list their models.

On the event loop's thread; network and keychain calls block other threads. No server is queried
before the user opens a list that shows its models.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from headstart.chat.preferences import Preferences
from headstart.core.chats.values import new_id
from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.servers import (
    LOCAL_PROGRAMS,
    PROGRAM_NAMES,
    Connection,
    Nearby,
    ServerModel,
    normal_url,
    split_key,
)
from headstart.core.settings.schema import changed
from headstart.core.told import Told, told
from headstart.engine.remote.session import RemoteSession
from headstart.storage.adapters.keychain import Keychain

log = logging.getLogger(__name__)

# an older list is fetched again when it is viewed
FRESH_SECONDS = 60.0
# for programs on this computer to list their models; the first query imports the HTTP library,
# which took 3 s beside other work
LOOK_SECONDS = 8.0


class ConsentNeeded(EnvironmentProblem):
    """Text would leave this computer, and the user has not yet agreed to that."""

    def __init__(self, connection: Connection) -> None:
        super().__init__("consent-needed", host=connection.host)
        self.connection = connection


class Offered(Struct, frozen=True):
    """Models of one server, or the reason why they are unknown."""

    connection: Connection
    models: tuple[ServerModel, ...] = ()
    problem: Told | None = None
    asked_at: float = 0.0


class Servers:
    def __init__(
        self, preferences: Preferences, keychain: Keychain, session: RemoteSession
    ) -> None:
        self._preferences = preferences
        self._keychain = keychain
        self._session = session
        self._offered: dict[str, Offered] = {}
        self._asking: dict[Connection, asyncio.Future[Offered]] = {}

    @property
    def connections(self) -> tuple[Connection, ...]:
        return self._preferences.current.connections

    def connection(self, connection_id: str) -> Connection | None:
        return next((item for item in self.connections if item.id == connection_id), None)

    async def save(self, draft: Connection, key: str | None) -> tuple[Connection, Told | None]:
        """Add or change a connection; `key` None leaves the key unchanged.

        A new address needs the user's consent again, and does not get the old key. Returns the
        connection and a notice, if any. Raises EnvironmentProblem.
        """
        url = normal_url(draft.url)
        if draft.certificate and not await asyncio.to_thread(Path(draft.certificate).is_file):
            raise EnvironmentProblem("certificate-missing", certificate=draft.certificate)
        before = self.connection(draft.id)
        moved = before is None or before.url != url
        connection = changed(
            draft,
            id=draft.id or new_id(),
            url=url,
            allowed=draft.allowed and not moved,
            kind="" if moved else draft.kind,
        )
        if not connection.name.strip():
            connection = changed(connection, name=connection.host[:100])
        if key and not key.isascii():
            raise EnvironmentProblem("key-not-ascii")
        notice: Told | None = None
        if key:
            notice = await asyncio.to_thread(self._keychain.set, connection.account, key)
            connection = changed(connection, has_key=True)
        elif key == "" or (before is not None and before.account != connection.account):
            connection = changed(connection, has_key=False)
        if before is not None and before.has_key and before.account != connection.account:
            await asyncio.to_thread(self._keychain.forget, before.account)
        others = [item for item in self.connections if item.id != connection.id]
        places = [item.id for item in self.connections]
        at = places.index(connection.id) if connection.id in places else len(others)
        others.insert(at, connection)
        self._offered.pop(connection.id, None)
        self._preferences.update(connections=tuple(others))
        return connection, notice

    async def remove(self, connection_id: str) -> None:
        """Forget a connection and its key; chats that used it need another model."""
        gone = self.connection(connection_id)
        left = tuple(item for item in self.connections if item.id != connection_id)
        self._preferences.update(connections=left)
        self._offered.pop(connection_id, None)
        if gone is not None and gone.has_key:
            await asyncio.to_thread(self._keychain.forget, gone.account)

    def allow(self, connection_id: str) -> None:
        """Note the user's consent to send text to this server."""
        self._replace(connection_id, allowed=True)

    def known(self) -> list[Offered]:
        """Models known so far, without a request."""
        return [self._offered.get(item.id, Offered(item)) for item in self.connections]

    async def offers(self, *, fresh: bool = False) -> list[Offered]:
        """Ask every server for its models; a failed one reports its problem in its entry."""
        return await asyncio.gather(*(self._ask(item, fresh) for item in self.connections))

    async def offer(self, connection_id: str) -> Offered:
        """Ask one server for its models now."""
        connection = self.connection(connection_id)
        if connection is None:
            raise EnvironmentProblem("connection-gone")
        return await self._ask(connection, fresh=True)

    async def look_around(self) -> list[Nearby]:
        """Model servers running on this computer that are not connected yet: one query to each
        program's usual port."""
        known = {_port(one.url) for one in self.connections if one.is_here}
        wanted = [(name, port) for name, port in LOCAL_PROGRAMS if port not in known]
        found = await asyncio.gather(*(self._look_at(name, port) for name, port in wanted))
        return [one for one in found if one is not None]

    async def _look_at(self, name: str, port: int) -> Nearby | None:
        connection = Connection("", name, f"http://127.0.0.1:{port}/v1")
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                offer = await self._session.list_models(connection)
        except (EnvironmentProblem, TimeoutError):
            return None
        except Exception:
            # whatever answers, it is not a model server
            log.info("what answers at port %d offers no models", port)
            return None
        own = PROGRAM_NAMES.get(offer.kind, name)
        return Nearby(changed(connection, name=own), len(offer.models))

    def find(self, key: str) -> ServerModel | None:
        """The server's model with this key; None for a local one. Raises ModelProblem."""
        named = split_key(key)
        if named is None:
            return None
        connection = self.connection(named[0])
        if connection is None:
            raise ModelProblem("server-removed", name=named[1])
        offered = self._offered.get(connection.id)
        models: Sequence[ServerModel] = offered.models if offered is not None else ()
        context = next((item.context_length for item in models if item.id == named[1]), 0)
        return ServerModel(connection, named[1], context)

    def check_allowed(self, model: ServerModel) -> None:
        """Raise ConsentNeeded unless text may be sent to the model's server."""
        if not model.connection.allowed:
            raise ConsentNeeded(model.connection)

    async def _ask(self, connection: Connection, fresh: bool) -> Offered:
        known = self._offered.get(connection.id)
        if known is not None and not fresh and time.monotonic() - known.asked_at < FRESH_SECONDS:
            return known
        asked = self._asking.get(connection)
        if asked is None:
            asked = self._asking[connection] = asyncio.ensure_future(self._ask_now(connection))
            asked.add_done_callback(lambda _: self._asking.pop(connection, None))
        return await asyncio.shield(asked)

    async def _ask_now(self, connection: Connection) -> Offered:
        now = time.monotonic()
        try:
            found = await self._session.list_models(connection)
        except EnvironmentProblem as problem:
            offered = Offered(connection, (), problem.told, now)
        except Exception as error:
            # one faulty server must not break the others' lists
            log.exception("asking a server for its models failed")
            offered = Offered(
                connection, (), told("server-list-failed", kind=type(error).__name__), now
            )
        else:
            if self.connection(connection.id) != connection:
                # the connection was changed meanwhile: the answer is for the old one
                return Offered(connection, (), told("server-was-changed"), now)
            if found.kind != connection.kind:
                self._replace(connection.id, kind=found.kind)
                connection = self.connection(connection.id) or connection
            models = tuple(ServerModel(connection, name, size) for name, size in found.models)
            none = None if models else told("server-offers-nothing")
            offered = Offered(connection, models, none, now)
        if self.connection(connection.id) == connection:
            self._offered[connection.id] = offered
        return offered

    def close(self) -> None:
        """Cancel all pending queries."""
        for asked in list(self._asking.values()):
            asked.cancel()

    def _replace(self, connection_id: str, **changes: object) -> None:
        self._preferences.update(
            connections=tuple(
                changed(item, **changes) if item.id == connection_id else item
                for item in self.connections
            )
        )


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        return None

"""The server for other programs: its switch, key and address. On the event loop's thread."""

from __future__ import annotations

import asyncio
import logging
import secrets
import socket
from pathlib import Path

from msgspec import Struct

from headstart.chat.answering.judging import DraftChoice
from headstart.chat.answering.local_models import LocalModels
from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ServerChanged
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.prefixes import Prefixes
from headstart.chat.serving.admission import Admission
from headstart.chat.serving.offering import ProgramModels
from headstart.chat.serving.office import Door, Office, Opening
from headstart.core.beginnings import Beginning, BegunKind
from headstart.core.errors import EnvironmentProblem
from headstart.core.serving.models import ServedModel
from headstart.core.serving.session import is_session
from headstart.core.settings.schema import Settings, changed
from headstart.core.settings.server import ServerSettings
from headstart.core.told import Told
from headstart.engine.runner import Runner
from headstart.storage.adapters.keychain import Keychain
from headstart.storage.worker import Storage

log = logging.getLogger(__name__)

# the keychain's entry
ACCOUNT = "own server"
HERE = ("127.0.0.1", "localhost", "[::1]")


class ServerState(Struct, frozen=True):
    """`address` is for the programs of this computer, `far` for other computers; "" while closed.
    `problem`: why it is closed though it is switched on."""

    on: bool = False
    address: str = ""
    far: str = ""
    problem: Told | None = None


class KeptPrompts(Struct, frozen=True):
    """Other programs' prompts on disk: the number of sessions, and bytes."""

    sessions: int = 0
    size: int = 0


class Serving:
    """Without a door (in unrelated tests) it never opens."""

    def __init__(
        self,
        door: Door | None,
        admission: Admission,
        keychain: Keychain,
        parts: tuple[Storage, Prefixes, Preferences, Broadcast, Background],
    ) -> None:
        self._storage, self._prefixes, self._preferences, self._broadcast, background = parts
        self._background = background
        self._door = door
        self._keychain = keychain
        self._admission = admission
        self._key = ""
        self._open: Opening | None = None
        # one change of the door at a time
        self._turn = asyncio.Lock()
        self.log = admission.log
        self.state = ServerState()
        self._office = Office(admission, self.log, asyncio.get_running_loop())
        self._preferences.listen(self._on_settings, "server")

    # --- switching -----------------------------------------------------------------------

    def begin(self) -> None:
        """Open the server, if it is switched on, unless that did not end last time."""
        beginnings = self._background.beginnings
        beginnings.begins(BegunKind.SERVER, lambda _name: self._background.run(self._follow()))
        if self._preferences.current.server.on:
            self._background.run(self._follow())

    async def open(self) -> None:
        """Open the server and wait for it; `state` then says how it went."""
        self._background.beginnings.ask_for(BegunKind.SERVER)
        await self._follow()

    async def use_model(self, text: str, path: Path) -> None:
        """Answer with this model in this run, in place of the one in the settings; raises
        EnvironmentProblem. `text` is what the user wrote, `path` the same as an absolute path."""
        await self._admission.offering.use(text, path)

    def use_key(self, key: str) -> None:
        """Use this key in this run, in place of the keychain's."""
        self._key = key

    def change(self, **changes: object) -> None:
        """Change settings of the server; raises SettingsError."""
        settings = self._preferences.current.server
        self._preferences.update(server=changed(settings, **changes))

    def _on_settings(self, _settings: Settings) -> None:
        self._background.beginnings.ask_for(BegunKind.SERVER)
        self._background.run(self._follow())

    async def _follow(self) -> None:
        """Make the door as the settings want it."""
        async with self._turn:
            settings = self._preferences.current.server
            beginnings, wanted, held = self._background.beginnings, None, None
            if settings.on and not self._background.closing:
                held = beginnings.why_held(BegunKind.SERVER)
                wanted = await self._opening(settings) if held is None else None
            if wanted == self._open and self.state.problem == held:
                # another model may answer
                self._show(settings, held)
                return
            if self._door is None:
                return
            if self._open is not None:
                await asyncio.to_thread(self._door.close)
                self._open = None
            problem = held
            if wanted is not None:
                try:
                    async with beginnings.noted(Beginning(BegunKind.SERVER)):
                        await asyncio.to_thread(self._door.open, wanted, self._office)
                    self._open = wanted
                except EnvironmentProblem as error:
                    log.warning("the server does not open: %s", error.for_log)
                    problem = error.told
            self._show(settings, problem)

    def _show(self, settings: ServerSettings, problem: Told | None) -> None:
        address = far = ""
        if self._open is not None:
            address = f"http://127.0.0.1:{self._open.port}/v1"
            if self._open.network:
                far = f"http://{own_address() or own_name()}:{self._open.port}/v1"
        self.state = ServerState(settings.on, address, far, problem)
        self._broadcast.tell(ServerChanged())

    async def _opening(self, settings: ServerSettings) -> Opening:
        hosts = [*HERE]
        if settings.network:
            addresses = await asyncio.to_thread(own_addresses)
            name = own_name().casefold()
            hosts += [*addresses, name, f"{name}.local"]
        key = await self.key()
        self._admission.use_key(key)
        return Opening(settings.port, key, tuple(hosts), settings.origins, settings.network)

    async def close(self) -> None:
        """End the server with the program."""
        async with self._turn:
            if self._open is not None and self._door is not None:
                await asyncio.to_thread(self._door.close)
                self._open = None

    # --- key -----------------------------------------------------------------------------

    async def key(self) -> str:
        """The key that programs send, made at its first use."""
        if not self._key:
            try:
                found = await asyncio.to_thread(self._keychain.get, ACCOUNT)
            except EnvironmentProblem as problem:
                # a keychain that does not open: the key is then this run's
                log.warning("the server's key is a new one: %s", problem.for_log)
                found = None
            self._key = found or await self._made()
        return self._key

    async def new_key(self) -> str:
        """Another key; programs with the old one are refused from now on."""
        self._key = await self._made()
        await self._follow()
        return self._key

    async def _made(self) -> str:
        key = f"hs-{secrets.token_urlsafe(24)}"
        await asyncio.to_thread(self._keychain.set, ACCOUNT, key)
        return key

    # --- looking -------------------------------------------------------------------------

    async def drafts(self) -> list[DraftChoice]:
        """Drafts that the answering model can use."""
        return await self._admission.drafts()

    async def look(self) -> ProgramModels:
        """All models that could answer, and the one that does."""
        return await self._admission.offering.look()

    async def models(self) -> list[ServedModel]:
        """The chat models that programs may name, the one that answers by itself first."""
        found = await self.look()
        return found.listed(self._preferences.current.server.any_model)

    async def tried(self, dialect: str) -> str:
        """The first words of an answer to a short request; raises EnvironmentProblem."""
        if self._door is None or self._open is None:
            raise EnvironmentProblem("server-closed")
        return await asyncio.to_thread(self._door.tried, self._open, dialect)

    async def kept(self) -> KeptPrompts:
        """Size of other programs' prompts on disk."""
        sessions = await self._storage.run(lambda store: store.sessions.all())
        use = await self._prefixes.use()
        sizes = {} if use is None else use.by_chat
        size = sum(bytes_ for owner, bytes_ in sizes.items() if is_session(owner))
        return KeptPrompts(len(sessions), size)

    async def forget_kept(self) -> None:
        """Remove them."""
        sessions = [one.id for one in await self._storage.run(lambda store: store.sessions.all())]
        for session in sessions:
            await self._prefixes.forget_session(session)
        await self._storage.run(lambda store: store.sessions.forget(sessions))


def make_serving(
    door: Door | None,
    runner: Runner,
    keychain: Keychain,
    models: tuple[Models, LocalModels],
    parts: tuple[Storage, Prefixes, Preferences, Broadcast, Background],
) -> Serving:
    """`parts` as in `Serving`."""
    storage, _, preferences, broadcast, _ = parts
    admission = Admission(runner, models, storage, preferences, broadcast)
    return Serving(door, admission, keychain, parts)


def own_name() -> str:
    return socket.gethostname()


def own_addresses() -> list[str]:
    """The addresses of this computer in its networks."""
    import psutil

    found = []
    for cards in psutil.net_if_addrs().values():
        for card in cards:
            if card.family == socket.AF_INET:
                found.append(card.address)
            elif card.family == socket.AF_INET6:
                found.append(f"[{card.address.partition('%')[0]}]")
    return sorted(set(found))


def own_address() -> str:
    """The address by which other computers reach this one; "" without a network. Nothing is
    sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # an address for documents: the system only chooses its own one
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return ""

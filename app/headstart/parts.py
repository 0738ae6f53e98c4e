"""All parts of the program but its window, made once each: for the window, and for `serve`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

from headstart.chat.library.hub import Hub
from headstart.chat.preferences import Preferences
from headstart.chat.services import ModelLocations, Services, make_services
from headstart.chat.transfer.backup import Places
from headstart.core.rgb import DecodeImage
from headstart.core.running import Doing
from headstart.core.settings.schema import Settings
from headstart.core.text.file_names import use_detection
from headstart.core.told import Told
from headstart.engine.generator import Generator
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.runner import Runner
from headstart.home import Home
from headstart.server.thread import ServerThread
from headstart.storage.adapters.beginnings_file import BeginningsFile
from headstart.storage.adapters.keychain import Keychain
from headstart.storage.adapters.prefix_index import StoredPrefixes, StoredTraces
from headstart.storage.adapters.running import RunningFile
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.adapters.state_file import StateFile
from headstart.storage.worker import Storage

# most seconds at the end for unfinished writes of prefixes
WRITE_SECONDS = 0.8


class Parts(Struct, frozen=True):
    """`notice`: news of the settings file; `died`: what the last program did when it died."""

    preferences: Preferences
    storage: Storage
    prefix_store: PrefixStore
    services: Services
    running: RunningFile
    notice: Told | None = None
    died: Doing | None = None

    async def close(self, write_seconds: float | None = None) -> None:
        """Store unfinished writes, for at most `write_seconds` or WRITE_SECONDS, and end every
        thread."""
        await self.services.ending.close(self.services)
        await self.close_stores(write_seconds)

    async def close_stores(self, write_seconds: float | None = None) -> None:
        """End what the services no longer use."""
        seconds = WRITE_SECONDS if write_seconds is None else write_seconds
        await self.services.ending.close_private()
        await asyncio.to_thread(self.prefix_store.close, seconds)
        await asyncio.to_thread(self.storage.close)
        await asyncio.to_thread(self.services.preferences.close)


def _text_of_name(data: bytes) -> str | None:
    # imported with the first name that is no UTF-8
    from headstart.extraction.texts import text_of_name

    return text_of_name(data)


def open_parts(
    home: Home,
    decode_image: DecodeImage,
    held: bool = False,
    change: Callable[[Settings], Settings] = lambda settings: settings,
) -> Parts:
    """Make every part. Needs a running event loop. `held`: the database waits for its release;
    `change`: the settings of this run, where they differ from the file's."""
    use_detection(_text_of_name)
    file = SettingsFile(home.settings)
    settings, notice = file.load()
    preferences = Preferences(change(settings), file, StateFile(home.state, home.settings))
    storage = Storage(home.database, home.backups, held=held)
    running = RunningFile(home.running)
    died = running.last()
    prefix_store = PrefixStore(home.prefixes, StoredPrefixes(storage))

    def make_generator() -> Generator:
        # on the engine thread: model libraries are imported when first used
        return _make_generator(home, storage, prefix_store, running, decode_image)

    keychain = Keychain()
    places = Places(
        home.database, home.backups, home.blobs, home.settings, home.known_models, home.temporary
    )
    weights = ModelLocations(
        Hub(keychain, preferences),
        home.known_models,
        home.downloads,
        home.temporary,
        places,
        home.log,
        ServerThread(),
        home.tools,
        home.knowledge,
        BeginningsFile(home.beginnings),
    )
    services = make_services(
        storage, Runner(make_generator), preferences, keychain, prefix_store.controls, weights
    )
    return Parts(preferences, storage, prefix_store, services, running, notice, died)


def _make_generator(
    home: Home,
    storage: Storage,
    prefix_store: PrefixStore,
    running: RunningFile,
    decode_image: DecodeImage,
) -> Generator:
    from headstart.engine.local import LocalGenerator
    from headstart.engine.prefix.tracer import TraceMemory
    from headstart.engine.resources import Resources
    from headstart.hub.checked import CheckedModelsFile
    from headstart.storage.adapters.profiles import StoredProfiles
    from headstart.storage.adapters.replies import StoredReplies

    return LocalGenerator(
        Resources(
            CheckedModelsFile(home.checked_models),
            StoredProfiles(storage),
            prefix_store,
            TraceMemory(StoredTraces(storage)),
            running,
            decode_image,
            StoredReplies(storage),
        )
    )

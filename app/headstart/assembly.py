"""Assembly: makes every part of the program, once, connects the parts, and ends them.

The order is by the user's wait: the window first, then the database, and a model only when
it is needed.
"""

from __future__ import annotations

import asyncio

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from headstart.chat.library.hub import Hub
from headstart.chat.preferences import Preferences
from headstart.chat.services import ModelLocations, Services, make_services
from headstart.chat.transfer.backup import Places
from headstart.core.events import NoticeKind
from headstart.core.told import told
from headstart.engine.generator import Generator
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.runner import Runner
from headstart.home import Home
from headstart.server.thread import ServerThread
from headstart.storage.adapters.keychain import Keychain
from headstart.storage.adapters.prefix_index import StoredPrefixes, StoredTraces
from headstart.storage.adapters.running import RunningFile
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.adapters.state_file import StateFile
from headstart.storage.worker import Storage
from headstart.ui.controllers.everything import Controllers, make_controllers
from headstart.ui.kit import pictures, theme
from headstart.ui.shell.main_window import MainWindow
from headstart.ui.shell.wiring import make_window
from headstart.ui.transfer.renderers import RENDERERS

# most seconds at the end for unfinished writes of prefixes
WRITE_SECONDS = 0.8


class App(Struct, frozen=True):
    """The parts of a running program, for the demo, tests and benchmarks that drive it."""

    home: Home
    window: MainWindow
    controllers: Controllers
    services: Services
    storage: Storage
    prefix_store: PrefixStore


async def open_app(
    home: Home, *, safe: bool = False, asked: bool = False, held: bool = False
) -> App:
    """Make every part and connect them; nothing is shown yet. Needs a running event loop.

    `safe`: nothing is loaded or prefilled before the user asks for it; `asked`: the user requested
    that. `held`: the database waits for its release, so that the window is painted first.
    """
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    file = SettingsFile(home.settings)
    settings, notice = file.load()
    preferences = Preferences(settings, file, StateFile(home.state, home.settings))
    theme.set_reading(settings.text_size, settings.column_width, settings.line_spacing)
    theme.apply(application, settings.theme, settings.text_font)
    storage = Storage(home.database, home.backups, held=held)
    running = RunningFile(home.running)
    died = running.last()
    prefix_store = PrefixStore(home.prefixes, StoredPrefixes(storage))

    def make_generator() -> Generator:
        # on the engine thread: model libraries are imported when first used
        return _make_generator(home, storage, prefix_store, running)

    keychain = Keychain()
    hub = Hub(keychain, preferences)
    places = Places(
        home.database, home.backups, home.blobs, home.settings, home.known_models, home.temporary
    )
    weights = ModelLocations(
        hub, home.known_models, home.downloads, home.temporary, places, home.log, ServerThread()
    )
    services = make_services(
        storage, Runner(make_generator), preferences, keychain, prefix_store.controls, weights
    )
    services.exporting.renderers.update(RENDERERS)
    controllers = make_controllers(services)
    window = make_window(controllers, preferences)

    _start(window, controllers, services)
    said = [notice.text] if notice is not None else []
    if died is not None:
        running.end()
        said.append(died.told.text)
    if safe:
        said.append(told("safe-asked" if asked else "safe-mode").text)
    if died is not None or safe:
        # loading or prefilling by itself would end the program again, at every start
        services.local.preload.hold_back()
    if said:
        window.banner.show_text(NoticeKind.START, " ".join(said))
    return App(home, window, controllers, services, storage, prefix_store)


def _make_generator(
    home: Home, storage: Storage, prefix_store: PrefixStore, running: RunningFile
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
            pictures.pixels,
            StoredReplies(storage),
        )
    )


def _start(window: MainWindow, controllers: Controllers, services: Services) -> None:
    """List the chats, then begin background work."""

    def wake() -> None:
        # not before the list is loaded: two imports at once would hold each other up
        controllers.wake()
        services.mirror.wake()
        services.finding.start()
        services.serving.begin()
        window.transcript.host.highlighter.prepare()

    controllers.chat_list.listed.connect(wake, Qt.ConnectionType.SingleShotConnection)
    controllers.start()


async def close_app(app: App) -> None:
    """Store unfinished writes and end every thread."""
    app.window.hide()
    app.controllers.unsent.flush()
    app.controllers.attaching.cancel()
    app.controllers.transfer.close()
    app.controllers.backups.cancel()
    app.controllers.chat_list.close()
    app.window.transcript.host.highlighter.close()
    await app.services.ending.close(app.services)
    await app.controllers.settle()
    app.controllers.tasks.close()
    await app.services.ending.close_private()
    await asyncio.to_thread(app.prefix_store.close, WRITE_SECONDS)
    await asyncio.to_thread(app.storage.close)
    await asyncio.to_thread(app.services.preferences.close)


async def database_opens(app: App) -> str:
    """Wait for the database, and show its notices; returns the id of a chat whose reply was
    interrupted when the program ended, "" for none."""
    store = await app.storage.ready()
    app.controllers.chat_list.sweep_trash()
    said = [notice.text for notice in store.notices]
    if store.interrupted:
        said.append(told("replies-interrupted", count=store.interrupted).text)
    if store.read_only is not None:
        said.insert(0, store.read_only.text)
    if app.window.banner.isVisible():
        said.insert(0, app.window.banner.text())
    if said:
        app.window.banner.show_text(NoticeKind.START, " ".join(said))
    if not store.interrupted:
        return ""
    return await app.storage.run(lambda opened: opened.chats.last_interrupted())

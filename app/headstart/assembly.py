"""Assembly: makes every part of the program, once, connects the parts, and ends them.

The order is by the user's wait: the window first, then the database, and a model only when
it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from headstart.chat.changes import FoldersChanged
from headstart.chat.services import Services
from headstart.core.events import NoticeKind
from headstart.core.knowledge.pinned import folder_owner
from headstart.core.told import told
from headstart.engine.prefix.store import PrefixStore
from headstart.home import Home
from headstart.parts import Parts, open_parts
from headstart.storage.worker import Storage
from headstart.ui.controllers.everything import Controllers, make_controllers
from headstart.ui.kit import languages, pictures, theme
from headstart.ui.shell.main_window import MainWindow
from headstart.ui.shell.wiring import make_window
from headstart.ui.transfer.renderers import RENDERERS


class App(Struct, frozen=True):
    """The parts of a running program, for the demo, tests and benchmarks that drive it."""

    home: Home
    window: MainWindow
    controllers: Controllers
    parts: Parts

    @property
    def services(self) -> Services:
        return self.parts.services

    @property
    def storage(self) -> Storage:
        return self.parts.storage

    @property
    def prefix_store(self) -> PrefixStore:
        return self.parts.prefix_store


async def open_app(
    home: Home, *, safe: bool = False, asked: bool = False, held: bool = False
) -> App:
    """Make every part and connect them; nothing is shown yet. Needs a running event loop.

    `safe`: nothing is loaded, prefilled or begun before the user asks for it; `asked`: the user
    requested that. `held`: the database waits for its release, so that the window is painted first.
    """
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    parts = open_parts(home, pictures.pixels, held)
    preferences, services = parts.preferences, parts.services
    settings = preferences.current
    languages.use_language(application, settings.language)
    theme.set_reading(settings.text_size, settings.column_width, settings.line_spacing)
    theme.apply(application, settings.theme, settings.text_font)
    services.exporting.renderers.update(RENDERERS)
    controllers = make_controllers(services)
    window = make_window(controllers, preferences)

    if safe:
        services.beginnings.hold_all()
    _start(window, controllers, services)
    said = [parts.notice.text] if parts.notice is not None else []
    died = parts.died
    if died is not None:
        parts.running.end()
        said.append(died.told.text)
    if safe:
        said.append(told("safe-asked" if asked else "safe-mode").text)
    if died is not None or safe:
        # loading or prefilling by itself would end the program again, at every start
        services.local.preload.hold_back()
    if said:
        window.banner.show_text(NoticeKind.START, " ".join(said))
    return App(home, window, controllers, parts)


def _start(window: MainWindow, controllers: Controllers, services: Services) -> None:
    """List the chats, then begin background work."""

    async def owners() -> Mapping[str, tuple[str, ...]]:
        listed, trashed = await services.chat_list.summaries(), await services.chat_list.trash()
        ids = [*(one.id for one in listed), *(one.id for one in trashed)]
        found: dict[str, tuple[str, ...]] = dict.fromkeys(ids, ())
        for folder in await services.folders.all():
            digests = (one.digest for one in folder.options.pinned)
            found[folder_owner(folder.path)] = tuple(digests)
        return found

    def wake() -> None:
        # not before the list is loaded: two imports at once would hold each other up
        controllers.wake()
        # first, because it takes the least time
        services.serving.begin()
        services.mirror.wake()
        services.finding.start()
        services.knowledge.knowledge.wake(owners)
        window.transcript.host.highlighter.prepare()

    # a folder of chats that is removed gives its documents up
    services.broadcast.on(FoldersChanged, lambda _change: services.knowledge.knowledge.tidy(owners))
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
    await app.parts.close_stores()


async def database_opens(app: App) -> str:
    """Wait for the database, and show its notices; returns the id of a chat whose reply was
    interrupted when the program ended, "" for none."""
    store = await app.storage.ready()
    app.controllers.chat_list.sweep_trash()
    said = [notice.text for notice in store.notices]
    # of no chat in particular
    of_all = bool(said) or store.read_only is not None or app.parts.notice is not None
    if store.interrupted:
        said.append(told("replies-interrupted", count=store.interrupted).text)
    if store.read_only is not None:
        said.insert(0, store.read_only.text)
    if app.window.banner.isVisible():
        said.insert(0, app.window.banner.text())
    if said:
        app.window.banner.show_text(
            NoticeKind.START,
            " ".join(said),
            of_chat=not of_all and not app.services.beginnings.safe,
        )
    if not store.interrupted:
        return ""
    return await app.storage.run(lambda opened: opened.chats.last_interrupted())

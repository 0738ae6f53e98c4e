"""Composition root: paths, logging, lock, settings, storage, engine, window, event loop.

Everything is made here and handed in; the order is what the user waits for: the window first,
then the database, and a model only when it is needed.
"""

from __future__ import annotations

import asyncio
import logging
import logging.handlers
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import filelock
import platformdirs
import qasync
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QMessageBox

from headstart import __version__
from headstart.chat.preferences import Preferences
from headstart.chat.service import ChatService
from headstart.core.errors import EnvironmentProblem
from headstart.core.log_safety import KindsOnly, SafeFormatter
from headstart.engine.generator import Generator
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.runner import Runner
from headstart.storage.keychain import Keychain
from headstart.storage.prefix_index import StoredPrefixes, StoredTraces
from headstart.storage.running import RunningFile
from headstart.storage.settings_file import SettingsFile
from headstart.storage.worker import Storage
from headstart.ui import theme
from headstart.ui.chat_controller import ChatController
from headstart.ui.main_window import MainWindow

log = logging.getLogger("headstart")

# what quitting may wait for prefixes that are still being written
WRITE_SECONDS = 0.8


@dataclass(frozen=True, slots=True)
class Home:
    """The one folder that everything of the user's lies in."""

    path: Path

    @classmethod
    def default(cls) -> Home:
        return cls(platformdirs.user_data_path("Headstart", appauthor=False))

    @property
    def database(self) -> Path:
        return self.path / "headstart.db"

    @property
    def settings(self) -> Path:
        return self.path / "settings.json"

    @property
    def backups(self) -> Path:
        return self.path / "backups"

    @property
    def checked_models(self) -> Path:
        return self.path / "checked-models.json"

    @property
    def running(self) -> Path:
        return self.path / "engine-running.json"

    @property
    def log(self) -> Path:
        return self.path / "logs" / "headstart.log"

    @property
    def prefixes(self) -> Path:
        return self.path / "prefixes"

    @property
    def lock(self) -> Path:
        return self.path / "headstart.lock"


@dataclass(frozen=True, slots=True)
class App:
    """The parts of a running program, for whoever drives it: the demo, tests, benchmarks."""

    home: Home
    window: MainWindow
    controller: ChatController
    service: ChatService
    preferences: Preferences
    storage: Storage
    prefix_store: PrefixStore


Script = Callable[[App], Awaitable[int]]


def run(
    home: Home, *, debug: bool = False, model: Path | None = None, script: Script | None = None
) -> int:
    """Open the window and stay until it is closed, or until `script` is through.

    Returns the exit code. Environment problems at the start are shown and end the program.
    """
    application = make_application()
    try:
        home.path.mkdir(parents=True, exist_ok=True)
        lock = _lock(home)
    except EnvironmentProblem as problem:
        return _cannot_start(problem)
    except OSError as error:
        return _cannot_start(
            EnvironmentProblem(
                f"The folder {home.path} cannot be used: {error.strerror or error}.",
                "Choose another one with --home.",
            )
        )
    try:
        start_logging(home, debug)
        loop = qasync.QEventLoop(application)
        asyncio.set_event_loop(loop)
        with loop:
            try:
                return int(loop.run_until_complete(_main(home, model, script)))
            except EnvironmentProblem as problem:
                # shown after the loop: a dialog inside it would enter it a second time
                return _cannot_start(problem)
            finally:
                asyncio.set_event_loop(None)
    finally:
        lock.release()


def make_application() -> QApplication:
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    application = QApplication(sys.argv[:1])
    application.setApplicationName("Headstart")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("headstart")
    application.setStyle("Fusion")
    application.setQuitOnLastWindowClosed(False)
    application.setWindowIcon(QIcon(str(theme.resources() / "icons" / "headstart.svg")))
    theme.load_fonts()
    return application


async def _main(home: Home, model: Path | None, script: Script | None) -> int:
    app = await open_app(home)
    closed = asyncio.Event()
    app.window.closing.connect(closed.set)
    app.window.show()
    try:
        await _database_opens(app)
        if model is not None:
            app.controller.open_model_file(str(model))
        if script is None:
            await closed.wait()
            return 0
        await app.controller.settle()
        return await script(app)
    finally:
        await close_app(app)


async def open_app(home: Home) -> App:
    """Make every part and connect them; nothing is shown yet. Needs a running event loop."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    file = SettingsFile(home.settings)
    settings, notice = file.load()
    preferences = Preferences(settings, file)
    theme.apply(application, settings.theme, settings.text_font)
    storage = Storage(home.database, home.backups)
    running = RunningFile(home.running)
    died = running.last()

    def make_generator() -> Generator:
        # on the engine thread: model libraries are imported when first used
        from headstart.engine.local import LocalGenerator
        from headstart.hub.checked import CheckedModels
        from headstart.storage.profiles import StoredProfiles

        return LocalGenerator(
            CheckedModels(home.checked_models),
            StoredProfiles(storage),
            prefix_store,
            StoredTraces(storage),
            running,
        )

    def make_remote() -> Generator:
        from headstart.engine.remote.generator import RemoteGenerator

        return RemoteGenerator(keychain.get)

    keychain = Keychain()
    prefix_store = PrefixStore(home.prefixes, StoredPrefixes(storage))
    service = ChatService(
        storage,
        Runner(make_generator),
        preferences,
        prefix_store,
        lambda: Runner(make_remote, "remote"),
        keychain,
    )
    controller = ChatController(service)
    window = MainWindow(controller, preferences)
    controller.start()
    told = [notice] if notice else []
    if died is not None:
        # loading or prefilling unasked would end it again, at every start
        running.end()
        service.local.hold_back()
        told.append(died.sentence)
    if told:
        window.banner.show_text("start", " ".join(told))
    return App(home, window, controller, service, preferences, storage, prefix_store)


async def close_app(app: App) -> None:
    """Store what is being written and end every thread."""
    app.window.hide()
    app.window.transcript.close_workers()
    await app.service.close()
    await app.controller.settle()
    await app.service.close_private()
    await asyncio.to_thread(app.prefix_store.close, WRITE_SECONDS)
    await asyncio.to_thread(app.storage.close)
    await asyncio.to_thread(app.preferences.close)


async def _database_opens(app: App) -> None:
    store = await app.storage.ready()
    told = list(store.notices)
    if store.interrupted:
        plural = "reply was" if store.interrupted == 1 else "replies were"
        told.append(
            f"{store.interrupted} {plural} interrupted when the program ended; the text is here, "
            "and the reply can be continued."
        )
    if store.read_only:
        told.insert(0, store.read_only)
    if app.window.banner.isVisible():
        told.insert(0, app.window.banner.text())
    if told:
        app.window.banner.show_text("start", " ".join(told))


def start_logging(home: Home, debug: bool) -> None:
    """A small rotating file in the home; with --debug everything, and on stderr too."""
    root = logging.getLogger("headstart")
    root.setLevel(logging.DEBUG if debug else logging.INFO)
    handlers: list[logging.Handler] = [logging.StreamHandler()] if debug else []
    try:
        home.log.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(
            logging.handlers.RotatingFileHandler(
                home.log, maxBytes=1_000_000, backupCount=3, encoding="utf-8"
            )
        )
    except OSError as error:
        print(f"headstart: no log is kept: {error}", file=sys.stderr)
    form = SafeFormatter("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s")
    for handler in handlers:
        handler.setFormatter(form)
        handler.addFilter(KindsOnly())
        root.addHandler(handler)
    log.debug("Headstart %s, home %s", __version__, home.path)


def _lock(home: Home) -> filelock.BaseFileLock:
    """One program per home; the system takes the lock back when a program is killed."""
    lock = filelock.FileLock(home.lock)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout as error:
        raise EnvironmentProblem(
            f"Headstart is already open with the folder {home.path}.",
            "Use the window that is open, or start another folder with --home.",
        ) from error
    except OSError:
        # a folder that cannot be written: chats can still be read, and nothing can get in the way
        log.warning("this home cannot be locked")
    return lock


def _cannot_start(problem: EnvironmentProblem) -> int:
    print(f"headstart: {problem}", file=sys.stderr)
    application = QApplication.instance()
    if isinstance(application, QApplication) and application.platformName() != "offscreen":
        theme.apply(application, "system", "inter")
        box = QMessageBox(QMessageBox.Icon.Warning, "Headstart", problem.message)
        box.setInformativeText(problem.remedy)
        box.exec()
    return 1

"""Launching: the application, its lock and log, the event loop, and the program inside it."""

from __future__ import annotations

from headstart.core import collecting

# isort: split
import asyncio
import logging
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from headstart.core.events import NoticeKind
from headstart.ui.shell import qt_first  # noqa: F401

# isort: split
import filelock
import qasync
from PySide6.QtCore import QLibraryInfo
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QMessageBox

from headstart import __version__
from headstart.assembly import App, close_app, database_opens, open_app
from headstart.beginning import lock_home
from headstart.beginning import start_logging as start_logging
from headstart.core import open_files, reentry
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import keep_private, private_folder, remove_partials
from headstart.core.resources import resources
from headstart.core.started_with import StartedWith
from headstart.core.told import told
from headstart.home import Home
from headstart.reserve import reserve_heap
from headstart.storage.adapters.crash_log import CrashLog
from headstart.storage.adapters.crash_log import details as crash_details
from headstart.storage.adapters.starts import StartsFile
from headstart.ui.kit import theme
from headstart.ui.kit.collector import CycleCollector
from headstart.ui.kit.first_paint import FirstPaint
from headstart.ui.kit.system_locale import SystemLocale
from headstart.ui.shell.arrivals import Arrivals
from headstart.ui.shell.asked_to_end import when_asked_to_end
from headstart.ui.shell.input_method import choose_plugin
from headstart.ui.shell.on_screen import OnScreen
from headstart.ui.shell.opened_files import Application
from headstart.ui.shell.unexpected import Unexpected
from headstart.ui.wording import say

collecting.resume()
log = logging.getLogger("headstart")

Script = Callable[[App], Awaitable[int]]
# a start has succeeded once the window was open this long
STEADY_SECONDS = 15.0
# seconds that a start waits for another program on its home, which may be about to end
END_SECONDS = 10.0
# in place of an exit code: the user wants the program to start once more
_AGAIN = -1


class Start(Struct, frozen=True):
    """Options of a start. `safe`: nothing is opened or loaded unasked; `script` runs in place of
    waiting for the window to close."""

    started: StartedWith = field(default_factory=StartedWith)
    debug: bool = False
    safe: bool = False
    script: Script | None = None


def run(home: Home, start: Start) -> int:
    """Open the window and stay until it is closed, or until the script has ended.

    Returns the exit code. Environment problems at the start are shown and end the program.
    """
    collecting.rest()
    try:
        return _run(home, start)
    finally:
        collecting.resume()


def _run(home: Home, start: Start) -> int:
    application = make_application()
    keep_private()
    open_files.raise_limit()
    try:
        private_folder(home.path, home.names)
        lock = _lock_or_hand_over(home, start)
        if lock is None:
            return 0
        remove_partials(home.path)
    except EnvironmentProblem as problem:
        return _cannot_start(problem)
    except OSError as error:
        return _cannot_start(
            EnvironmentProblem("home-unusable", path=home.path, reason=error.strerror or error)
        )
    crashes = CrashLog(home.logs)
    try:
        start_logging(home, start.debug)
        crashed = crashes.begin()
        loop = qasync.QEventLoop(application)
        asyncio.set_event_loop(loop)
        with loop:
            try:
                code = int(loop.run_until_complete(_main(home, start, crashed)))
            except EnvironmentProblem as problem:
                # shown after the loop: a dialog inside would enter the loop again
                return _cannot_start(problem)
            finally:
                asyncio.set_event_loop(None)
    finally:
        crashes.end()
        lock.release()
    if code == _AGAIN:
        _start_again(home)
        return 0
    return code


def _start_again(home: Home) -> None:
    """Start the program once more, on its own: this one is about to end."""
    command = reentry.command("--home", str(home.path))
    subprocess.Popen(command, cwd=reentry.FOLDER, start_new_session=True)


def _lock_or_hand_over(home: Home, start: Start) -> filelock.BaseFileLock | None:
    """The lock of the home; None if an open window came to the front with the arguments of this
    start. A program that is about to end is waited for. Raises EnvironmentProblem."""
    deadline = time.monotonic() + END_SECONDS
    while True:
        try:
            return lock_home(home)
        except EnvironmentProblem:
            if start.script is not None:
                raise
            if _raised_first(home, start.started):
                return None
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _raised_first(home: Home, started: StartedWith) -> bool:
    """True if an open window came to the front, with the arguments of this start."""
    from headstart.ui.shell.instance import hand_over

    return hand_over(home.path, started)


def make_application() -> QApplication:
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    reserve_heap()
    plugins = QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)
    choose_plugin(os.environ, Path(plugins))
    application = Application(sys.argv[:1])
    application.setApplicationName("Headstart")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("headstart")
    application.setStyle("Fusion")
    application.setQuitOnLastWindowClosed(False)
    application.setWindowIcon(QIcon(str(resources() / "icons" / "headstart.svg")))
    theme.load_fonts()
    SystemLocale().install()
    return application


async def _main(home: Home, start: Start, crashed: Path | None) -> int:
    starts = StartsFile(home.starts)
    # a script neither repeats an earlier failure nor counts as a start
    failed = start.script is None and starts.begin()
    safe = start.script is None and (failed or start.safe)
    app = await open_app(home, safe=safe, asked=safe and not failed, held=True)
    closed = asyncio.Event()
    app.window.closing.connect(closed.set)
    unexpected = Unexpected(app.window)
    if start.script is None:
        unexpected.watch(asyncio.get_running_loop())
    FirstPaint(app.window.composer, partial(_painted, app))
    arrivals = Arrivals(app.window, app.controllers, app.services.preferences)
    fresh = safe or start.started.new_chat or bool(start.started.model)
    arrivals.expect(fresh)
    if QApplication.platformName() != "offscreen":
        # without a screen there is none to fit
        OnScreen(app.window).fit()
    app.window.show()
    server = None
    try:
        interrupted = await database_opens(app)
        if start.started.model:
            # it belongs to a new chat, not to the last one
            app.controllers.unsent.load(show=False)
        else:
            arrivals.open_last(safe or start.started.new_chat, interrupted)
        arrivals.begin(start.started)
        # owned by the window
        CycleCollector(app.window)
        if start.script is not None:
            await app.controllers.settle()
            return await start.script(app)
        if crashed is not None:
            _tell_crash(app, unexpected, crashed)
        app.window.news.tell()
        from headstart.ui.shell.instance import InstanceServer

        server = InstanceServer(home.path)
        server.arrived.connect(arrivals.arrive)
        application = QApplication.instance()
        if isinstance(application, Application):
            application.opened.arrived.connect(arrivals.arrive)
            application.opened.release()
        # a start from now on waits for the end of this one
        app.window.closing.connect(server.close)
        asyncio.get_running_loop().call_later(STEADY_SECONDS, starts.succeeded)
        with when_asked_to_end(app.window.close):
            await closed.wait()
        starts.succeeded()
        return _AGAIN if app.window.starts_again else 0
    except EnvironmentProblem:
        # the user is told: a careful start would not help
        starts.succeeded()
        raise
    finally:
        if server is not None:
            server.close()
        await close_app(app)
        unexpected.end()


def _painted(app: App) -> None:
    app.storage.release()
    if log.isEnabledFor(logging.DEBUG):
        import psutil

        seconds = time.time() - psutil.Process().create_time()
        log.debug("the window was painted after %.3f s", seconds)


def _tell_crash(app: App, unexpected: Unexpected, crashed: Path) -> None:
    """Show that native code ended the last program, which left a trace."""
    banner = app.window.banner
    said = [banner.text()] if banner.isVisible() else [told("died").text]
    banner.show_text(NoticeKind.START, " ".join(said))
    banner.offer(
        say("settings.details"),
        lambda: unexpected.show(told("died").text, crash_details(crashed)),
    )


def _cannot_start(problem: EnvironmentProblem) -> int:
    print(f"headstart: {problem}", file=sys.stderr)
    application = QApplication.instance()
    if isinstance(application, QApplication) and application.platformName() != "offscreen":
        theme.apply(application, "system", "auto")
        box = QMessageBox(QMessageBox.Icon.Warning, "Headstart", problem.message)
        box.setInformativeText(problem.remedy)
        box.exec()
    return 1

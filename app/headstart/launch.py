"""Launching: the application, its lock and log, the event loop, and the program in it."""

from __future__ import annotations

import asyncio
import logging
import logging.handlers
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from headstart.ui import qt_first  # noqa: F401

# isort: split
import filelock
import qasync
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QMessageBox

from headstart import __version__
from headstart.assembly import App, close_app, database_opens, open_app
from headstart.core.errors import EnvironmentProblem
from headstart.core.log_safety import KindsOnly, SafeFormatter
from headstart.core.resources import resources
from headstart.home import Home
from headstart.ui import theme

log = logging.getLogger("headstart")

Script = Callable[[App], Awaitable[int]]


def run(
    home: Home,
    *,
    debug: bool = False,
    model: Path | None = None,
    script: Script | None = None,
    files: Sequence[Path] = (),
) -> int:
    """Open the window and stay until it is closed, or until `script` is through. `files`: what the
    program was opened with: a model, or conversations.

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
            EnvironmentProblem("home-unusable", path=home.path, reason=error.strerror or error)
        )
    try:
        start_logging(home, debug)
        loop = qasync.QEventLoop(application)
        asyncio.set_event_loop(loop)
        with loop:
            try:
                return int(loop.run_until_complete(_main(home, model, script, files)))
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
    application.setWindowIcon(QIcon(str(resources() / "icons" / "headstart.svg")))
    theme.load_fonts()
    return application


async def _main(
    home: Home, model: Path | None, script: Script | None, files: Sequence[Path]
) -> int:
    app = await open_app(home)
    closed = asyncio.Event()
    app.window.closing.connect(closed.set)
    app.window.show()
    try:
        await database_opens(app)
        if model is not None:
            # for a new chat, not for the last one
            app.controllers.models.open_file(str(model))
            app.controllers.unsent.load(show=False)
        else:
            last = app.services.preferences.current.open_chat
            app.controllers.unsent.load(show=not last)
            app.controllers.branch.open_last(last)
        if files:
            app.window.open_files([str(path) for path in files])
        if script is None:
            await closed.wait()
            return 0
        await app.controllers.settle()
        return await script(app)
    finally:
        await close_app(app)


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
        raise EnvironmentProblem("already-open", path=home.path) from error
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

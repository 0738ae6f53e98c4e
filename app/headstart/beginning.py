"""The beginning of every program on a home: its lock, and its log."""

from __future__ import annotations

import logging
import sys

import filelock

from headstart import __version__
from headstart.core.errors import EnvironmentProblem
from headstart.core.log_safety import KindsOnly, LogFile, SafeFormatter
from headstart.home import Home

log = logging.getLogger("headstart")


def start_logging(home: Home, debug: bool) -> None:
    """Log to a small rotating file in the home; with --debug everything, and to stderr too."""
    root = logging.getLogger("headstart")
    root.setLevel(logging.DEBUG if debug else logging.INFO)
    handlers: list[logging.Handler] = [logging.StreamHandler()] if debug else []
    try:
        home.logs.mkdir(parents=True, exist_ok=True)
        handlers.append(LogFile(home.log, maxBytes=1_000_000, backupCount=3, encoding="utf-8"))
    except OSError as error:
        print(f"headstart: no log is kept: {error}", file=sys.stderr)
    form = SafeFormatter("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s")
    for handler in handlers:
        handler.setFormatter(form)
        handler.addFilter(KindsOnly())
        root.addHandler(handler)
    log.debug("Headstart %s, home %s", __version__, home.path)


def lock_home(home: Home) -> filelock.BaseFileLock:
    """Lock the home for one program; the system releases the lock of a killed one."""
    lock = filelock.FileLock(home.lock)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout as error:
        raise EnvironmentProblem("already-open", path=home.path) from error
    except OSError:
        # the folder is read-only: chats can still be read, and no other program can interfere
        log.warning("this home cannot be locked")
    return lock

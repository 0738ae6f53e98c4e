"""Unexpected errors: exceptions that reach Qt, a thread's end, the event loop, or no handler.

Each is logged, and shown once in the error window; the program continues. Hooks are called on any
thread, the window is shown on the main one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import platform
import sys
import threading
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, qVersion
from PySide6.QtWidgets import QWidget

from headstart import __version__
from headstart.ui.kit.error_window import ErrorWindow
from headstart.ui.kit.tasks import LOGGED
from headstart.ui.wording import say

log = logging.getLogger(__name__)

# most error windows per run; further ones tell nothing new
MOST_SHOWN = 3


class Unexpected(QObject):
    """`parent`: the window over which errors are shown."""

    _happened = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._beside = parent
        self._seen: set[str] = set()
        self._before: tuple[Any, Any, Any] | None = None
        self._happened.connect(self.show, Qt.ConnectionType.QueuedConnection)

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self._on_exception
        threading.excepthook = lambda args: self._on_exception(
            args.exc_type, args.exc_value, args.exc_traceback
        )
        sys.unraisablehook = lambda args: self._on_exception(
            args.exc_type, args.exc_value, args.exc_traceback
        )
        loop.set_exception_handler(self._on_loop)

    def end(self) -> None:
        if self._before is not None:
            sys.excepthook, threading.excepthook, sys.unraisablehook = self._before
            self._before = None

    def show(self, happened: str, details: str) -> None:
        """Show an error, each only once."""
        error = details.splitlines()[-1] if details else happened
        if error in self._seen or len(self._seen) >= MOST_SHOWN:
            return
        self._seen.add(error)
        ErrorWindow(happened, f"{versions()}\n\n{details}", self._beside).show()

    def _on_exception(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None or issubclass(kind, KeyboardInterrupt | SystemExit):
            sys.__excepthook__(kind or Exception, error or Exception(), trace)
            return
        log.error("unexpected", exc_info=(kind, error or kind(), trace))
        self._tell(error or kind(), trace)

    def _on_loop(self, loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            if context.get("message") != LOGGED:
                log.error("unexpected", exc_info=error)
            self._tell(error, error.__traceback__)
        else:
            log.error("the event loop: %s", context.get("message"))

    def _tell(self, error: BaseException, trace: TracebackType | None) -> None:
        lines = traceback.format_exception(type(error), error, trace)
        # the window may be gone while the last threads are ending
        with contextlib.suppress(RuntimeError):
            self._happened.emit(say("shell.internal-error-happened"), "".join(lines).rstrip())


def versions() -> str:
    """Versions for the beginning of the details."""
    system = f"{platform.system()} {platform.release()} ({platform.machine()})"
    return f"Headstart {__version__}, Python {platform.python_version()}, Qt {qVersion()}, {system}"

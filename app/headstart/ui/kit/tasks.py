"""Tasks of the window: requests run on the event loop, and no error is lost.

Environment problems are shown, bugs are logged with their traceback and shown too; neither
closes the window.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from headstart.core.errors import EnvironmentProblem, ran_out_of_memory
from headstart.core.told import told
from headstart.ui.wording import say

log = logging.getLogger(__name__)


# message of errors that are already in the log
LOGGED = "a task of the window failed"


class Problems(QObject):
    """Collects the problems that the user should know about."""

    told = Signal(str, str)  # the problem, its remedy

    def show(self, message: str, remedy: str) -> None:
        """Tell it; "" is nothing to tell."""
        if message:
            self.told.emit(message, remedy)


class Tasks:
    """`show` takes a problem and its remedy."""

    def __init__(self, show: Callable[[str, str], None]) -> None:
        self._show = show
        self._running: set[asyncio.Task[None]] = set()
        self._closed = False

    def close(self) -> None:
        """Refuse further work: the program ends, and a timer may still fire."""
        self._closed = True

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self._closed:
            work.close()
            return
        task = asyncio.get_event_loop().create_task(self._guard(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except EnvironmentProblem as problem:
            log.info("%s", problem.for_log)
            self._show(problem.message, problem.remedy)
        except Exception as error:
            if ran_out_of_memory(error):
                log.warning("a task of the window failed for want of memory")
                short = told("no-memory")
                self._show(short.message, short.remedy)
                return
            log.exception(LOGGED)
            asyncio.get_event_loop().call_exception_handler({"message": LOGGED, "exception": error})
            self._show(
                say("kit.internal-error-name-error", name=type(error).__name__, error=error),
                say("kit.your-chats-safe"),
            )

    async def settle(self, seconds: float) -> None:
        """Wait for the running tasks, up to `seconds`."""
        deadline = time.monotonic() + seconds
        while self._running and time.monotonic() < deadline:
            await asyncio.wait(self._running, timeout=deadline - time.monotonic())

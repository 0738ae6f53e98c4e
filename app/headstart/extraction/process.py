"""The parent's side of the child that reads files: a new child for each file.

On a worker thread; any thread may call `cancel`.
"""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import threading
from collections.abc import Callable
from typing import IO, Any

from headstart.core import reentry
from headstart.core.chats.attachments import LARGEST, Extracted, Unit
from headstart.core.errors import EnvironmentProblem
from headstart.core.told import from_stored
from headstart.extraction.child import OPTION, request

log = logging.getLogger(__name__)

# seconds until reading a file is given up
_LONGEST = 120.0


class ReadingCancelled(Exception):
    """The user removed the file, or the program ends."""


class Reading:
    """The reading of one file; `read` is called once."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._cancelled = self._late = False

    def read(
        self, data: bytes, name: str, progress: Callable[[float], None], encoding: str = ""
    ) -> Extracted:
        """`progress` from 0 to 1; `encoding` if the user chose one. Raises EnvironmentProblem,
        ReadingCancelled."""
        if len(data) > LARGEST:
            raise EnvironmentProblem("attachment-too-large", name=name)
        with self._lock:
            if self._cancelled:
                raise ReadingCancelled
            process = self._process = subprocess.Popen(
                reentry.command(OPTION),
                cwd=reentry.FOLDER,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        timer = threading.Timer(_LONGEST, self._give_up)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            # if the child has ended, its answers show why
            with contextlib.suppress(OSError):
                process.stdin.write(request(name, encoding))
                process.stdin.write(data)
            with contextlib.suppress(OSError):
                process.stdin.close()
            answer = _last_answer(process.stdout, progress)
        finally:
            timer.cancel()
            self._end(process)
        if self._cancelled:
            raise ReadingCancelled
        if self._late:
            raise EnvironmentProblem("attachment-slow", name=name)
        return _extracted(answer, name)

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            if self._process is not None:
                self._process.kill()

    def _give_up(self) -> None:
        self._late = True
        if self._process is not None:
            self._process.kill()

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            process.kill()
            process.wait()
            self._process = None
        if process.stdout is not None:
            process.stdout.close()


def _last_answer(answers: IO[bytes], progress: Callable[[float], None]) -> dict[str, Any] | None:
    found: dict[str, Any] | None = None
    for line in answers:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if "done" in value:
            progress(value["done"] / max(1, value["total"]))
        else:
            found = value
    return found


def _extracted(answer: dict[str, Any] | None, name: str) -> Extracted:
    if answer is None:
        raise EnvironmentProblem("attachment-crashed", name=name)
    if "log" in answer:
        log.error("a file could not be read: %s", answer["log"])
    if "problem" in answer:
        problem = from_stored(answer["problem"])
        assert problem is not None
        raise EnvironmentProblem(problem.code, quotes=False, **problem.facts)
    return Extracted(
        answer["media_type"], Unit(answer["unit"]), tuple(answer["pages"]), answer["encoding"]
    )

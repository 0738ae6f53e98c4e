"""The parent's side of the child that reads many files for the index.

On a worker thread, one file at a time; any thread may call `close`. A file that ends the child
costs only itself: the next one gets a new child.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
import threading

import msgspec

from headstart.core import reentry
from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.values import PagePicture, ReadFile
from headstart.core.text.whole import whole
from headstart.core.told import from_stored
from headstart.extraction.pieces_child import OPTION, PiecesAnswer, Wanted, receive, send

log = logging.getLogger(__name__)

# seconds for one file, and files read by one child: libraries leak
_LONGEST, _MOST = 120.0, 500


class ReadingEnded(Exception):
    """The reader was closed."""


class PieceReader:
    """Starts its child with the first file."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._read = 0
        self._late = self._closed = self._reading = False

    def read(self, data: bytes, name: str) -> ReadFile:
        """The pieces of a file. Raises EnvironmentProblem for a file without readable text, and
        ReadingEnded."""
        # a name may be no text
        answer = self._answer(Wanted(whole(name), data), name)
        return _found(answer, name)

    def draw(self, data: bytes, name: str, page: int, words: str, width: int) -> PagePicture:
        """A page of a PDF (from 1 on) as a picture, `width` pixels wide, with `words` marked.
        Raises EnvironmentProblem and ReadingEnded."""
        wanted = Wanted(whole(name), data, page, whole(words), width)
        answer = self._answer(wanted, name)
        if answer.picture is None:
            raise _problem(answer, name)
        return answer.picture

    def _answer(self, wanted: Wanted, name: str) -> PiecesAnswer:
        self._reading = True
        process = self._child()
        timer = threading.Timer(_LONGEST, self._give_up, (process,))
        timer.daemon = True
        timer.start()
        self._late = False
        frame: bytes | None = None
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(OSError, ValueError):
                send(process.stdin, wanted)
                frame = receive(process.stdout)
        finally:
            self._reading = False
            timer.cancel()
        if self._closed:
            raise ReadingEnded
        if frame is None:
            self._end()
            code = "attachment-slow" if self._late else "attachment-crashed"
            raise EnvironmentProblem(code, name=name)
        self._read += 1
        if self._read >= _MOST:
            self._end()
        return msgspec.msgpack.decode(frame, type=PiecesAnswer)

    def rest(self) -> None:
        """End the child, unless it reads; the next file starts another one."""
        if not self._reading:
            self._end()

    def close(self) -> None:
        self._closed = True
        self._end()

    def _child(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise ReadingEnded
            if self._process is None or self._process.poll() is not None:
                self._read = 0
                self._process = subprocess.Popen(
                    reentry.command(OPTION),
                    cwd=reentry.FOLDER,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            return self._process

    def _give_up(self, process: subprocess.Popen[bytes]) -> None:
        self._late = True
        process.kill()

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()


def _found(answer: PiecesAnswer, name: str) -> ReadFile:
    if answer.found is None:
        raise _problem(answer, name)
    return answer.found


def _problem(answer: PiecesAnswer, name: str) -> EnvironmentProblem:
    if answer.log:
        log.error("a file could not be read for the index: %s", answer.log)
    problem = from_stored(answer.problem)
    if problem is None:
        return EnvironmentProblem("attachment-crashed", name=name)
    return EnvironmentProblem(problem.code, quotes=False, **problem.facts)

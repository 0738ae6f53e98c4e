"""A tool server as a process of its own: its streams for the MCP library, its log, its end.

The library brings a transport for this, too; this one knows the exit status and the last words of
a server that ended, passes text that is no message to the log, and reads a message of 20 MB in
0.1 s in place of 3.9. The library's functions end the whole tree of processes. In the child.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.os.win32.utilities import (
    close_process_job,
    create_windows_process,
    get_windows_executable_command,
    terminate_windows_process_tree,
)
from mcp.shared.message import SessionMessage

from headstart.tools.finding import more_folders
from headstart.tools.lines import Endless, Overlong, ServerLine, ServerLines, is_answer, value_of
from headstart.tools.sifted import Sifter
from headstart.tools.wire import StartServer

_READ = 1 << 18
# bytes of a line that are logged
_LOGGED = 1 << 14
# seconds to end after its input was closed, and after SIGTERM
_QUIET, _FORCED = 2.0, 2.0
_POLL = 0.01

Streams = tuple[
    MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]
]
Log = Callable[[str], None]


class ServerProcess:
    """`ended` is set once its output has ended; `status` is its exit status then, if known."""

    def __init__(self, start: StartServer, log: Log, sifter: Sifter) -> None:
        """`sifter` knows which requests end where an answer cannot be read."""
        self._start = start
        self._log = log
        self._sifter = sifter
        self._process: Any = None
        self.ended = asyncio.Event()
        # true where it sent a message without an end
        self.flooded = False

    @property
    def status(self) -> int | None:
        return None if self._process is None else self._process.returncode

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[Streams]:
        """Start the process; raises OSError where it cannot be. Ends it with all its children."""
        read_end, write_end = os.pipe()
        with os.fdopen(write_end, "w", encoding="utf-8") as errors:
            try:
                self._process = await self._spawn(errors)
            except BaseException:
                os.close(read_end)
                raise
        reader = threading.Thread(target=self._read_errors, args=(read_end,), daemon=True)
        reader.start()
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.ensure_future(self._read(incoming)),
            asyncio.ensure_future(self._write(outgoing)),
        ]
        try:
            yield read, write
        finally:
            with anyio.CancelScope(shield=True):
                await self._stop()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                for stream in (read, write, incoming, outgoing):
                    await stream.aclose()

    async def _spawn(self, errors: TextIO) -> Any:
        start = self._start
        environment = {**get_default_environment(), **start.variables}
        environment["PATH"] = _path(environment)
        folder = start.folder or str(Path.home())
        if sys.platform == "win32":
            command = get_windows_executable_command(start.command)
            return await create_windows_process(
                command, list(start.arguments), environment, errors, folder
            )
        return await anyio.open_process(
            [_whole(start.command, environment), *start.arguments],
            env=environment, stderr=errors, cwd=folder, start_new_session=True,
        )  # fmt: skip

    async def _read(self, incoming: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        lines = ServerLines()
        try:
            while True:
                for line in lines.take(await self._process.stdout.receive(_READ)):
                    for message in self._messages(line):
                        await incoming.send(message)
        except Endless:
            self.flooded = True
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            pass
        finally:
            # the status of an ended process arrives a moment after the end of its output
            with contextlib.suppress(Exception):
                await self._wait(1.0)
            self.ended.set()
            await incoming.aclose()

    def _messages(self, line: ServerLine | Overlong) -> list[SessionMessage]:
        """A line as messages: its own, or the ends of the requests that it would have answered.
        Text is logged."""
        if isinstance(line, Overlong):
            self._log("[A line over 32 MB, 200,000 values or 400 levels was not read.]")
            return self._sifter.fail(line.head, True) if is_answer(line.head) else []
        if not line.data.strip():
            return []
        try:
            message = types.jsonrpc_message_adapter.validate_python(_spelled(line), by_name=False)
        except (ValueError, RecursionError):
            self._log(line.data[:_LOGGED].decode("utf-8", "replace"))
            head = line.data[:_LOGGED]
            return self._sifter.fail(head, False) if is_answer(head) else []
        if getattr(message, "method", "") == "sampling/createMessage":
            self._log("[Headstart does not let servers ask its models: sampling was refused.]")
        return [SessionMessage(message)]

    async def _write(self, outgoing: MemoryObjectReceiveStream[SessionMessage]) -> None:
        with contextlib.suppress(
            anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError
        ):
            async for one in outgoing:
                await self._process.stdin.send(_line(one) + b"\n")

    def _read_errors(self, handle: int) -> None:
        """Pass what the server writes for people to the log; on a thread of its own."""
        with os.fdopen(handle, "rb", buffering=0) as stream, contextlib.suppress(OSError):
            left = b""
            while part := stream.read(1 << 14):
                *lines, left = (left + part).split(b"\n")
                for line in lines:
                    self._log(line.decode("utf-8", "replace"))
                left = left[-(1 << 14) :]
            if left:
                self._log(left.decode("utf-8", "replace"))

    async def _stop(self) -> None:
        """Close its input, wait, then end the whole tree."""
        process = self._process
        with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
        ended = await self._wait(_QUIET)
        if sys.platform != "win32":
            # also what a server that ended by itself left behind
            await terminate_posix_process_tree(process, _FORCED)
        elif not ended:
            await terminate_windows_process_tree(process)
        if not ended:
            await self._wait(_QUIET)
        if sys.platform == "win32":
            close_process_job(process)
        with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdout.aclose()

    async def _wait(self, seconds: float) -> bool:
        """True once the process has ended; its output may stay open in a child of its own."""
        until = asyncio.get_running_loop().time() + seconds
        while self._process.returncode is None:
            if asyncio.get_running_loop().time() >= until:
                return False
            await asyncio.sleep(_POLL)
        return True


def _line(one: SessionMessage) -> bytes:
    """A message in a line of JSON; half a character, which UTF-8 has not, is escaped."""
    try:
        text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
    except ValueError:
        text = json.dumps(one.message.model_dump(by_alias=True, exclude_unset=True))
    return text.encode("utf-8", "replace")


def _spelled(line: ServerLine) -> Any:
    """The value of a line, with the version of JSON-RPC that some servers leave out. Raises
    ValueError."""
    found = value_of(line)
    return {"jsonrpc": "2.0", **found} if isinstance(found, dict) else found


def _path(environment: Mapping[str, str]) -> str:
    """The path on which programs are looked for, with folders that a desktop leaves out."""
    known = [one for one in environment.get("PATH", "").split(os.pathsep) if one]
    return os.pathsep.join(dict.fromkeys([*known, *more_folders()]))


def _whole(command: str, environment: Mapping[str, str]) -> str:
    """The whole path of a program: the system would look for it on the path of this process."""
    import shutil

    return shutil.which(command, path=environment["PATH"]) or command

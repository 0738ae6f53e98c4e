"""One window per home: a second start hands its arguments to the first, and exits.

The file lock decides which is first; the socket only raises the window. It lies in a folder that
only the user can enter; a file in the home holds its address for a second start. Main thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from headstart.core import patient
from headstart.core.files import write_whole
from headstart.core.started_with import StartedWith

log = logging.getLogger(__name__)

# seconds that a second start looks for the window of a first one, and waits for its answer
FIND_SECONDS, ANSWER_SECONDS = 0.2, 5.0
# bytes of a socket's address (`sun_path`), one of them for the final zero
_LONGEST_ADDRESS = 107
_LONGEST_MESSAGE = 1 << 20
_LONGEST_TOKEN = 1_000
_TAKEN = b"taken\n"
_STEP_MS = 50
# prefix of a temporary folder for the socket, if no other folder serves
_OWN_FOLDER = "headstart-window-"


class _Message(msgspec.Struct, frozen=True):
    started: StartedWith
    # the token that lets a window come to the front under Wayland
    token: Annotated[str, Meta(max_length=_LONGEST_TOKEN, pattern=r"^[^\x00]*$")] = ""


class InstanceServer(QObject):
    """Emits `arrived` with a `StartedWith` for each further start."""

    arrived = Signal(StartedWith)

    def __init__(self, home: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._note = _note(home)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)
        self._unread: dict[QLocalSocket, bytes] = {}
        address = self._address = _address(home)
        # left over from a killed program: the lock proves that nothing listens
        QLocalServer.removeServer(address)
        if not self._server.listen(address):
            log.warning("no second start can be heard: %s", self._server.errorString())
            return
        with contextlib.suppress(OSError):
            write_whole(self._note, address.encode())

    def close(self) -> None:
        self._server.close()
        with contextlib.suppress(OSError):
            patient.remove(self._note)
        folder = Path(self._address).parent
        if folder.name.startswith(_OWN_FOLDER):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def _on_connection(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            self._unread[socket] = b""
            socket.readyRead.connect(lambda socket=socket: self._read(socket))
            socket.disconnected.connect(lambda socket=socket: self._forget(socket))
            self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if socket not in self._unread:
            return
        self._unread[socket] += bytes(socket.readAll().data())
        line, end, _ = self._unread[socket].partition(b"\n")
        if not end:
            if len(line) > _LONGEST_MESSAGE:
                socket.abort()
            return
        try:
            message = _received(line)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            socket.abort()
            return
        self._unread.pop(socket)
        # a request to end that came before it is heard first
        QTimer.singleShot(0, self, lambda: self._take(socket, message))

    def _take(self, socket: QLocalSocket, message: _Message) -> None:
        if not self._server.isListening():
            # this program ends: the other one starts itself
            socket.abort()
            return
        socket.write(_TAKEN)
        socket.flush()
        if message.token:
            os.environ["XDG_ACTIVATION_TOKEN"] = message.token
        self.arrived.emit(message.started)

    def _forget(self, socket: QLocalSocket) -> None:
        self._unread.pop(socket, None)
        socket.deleteLater()


def hand_over(home: Path, started: StartedWith, seconds: float = FIND_SECONDS) -> bool:
    """Hand the arguments to the open window; True if it took them."""
    deadline = time.monotonic() + seconds
    token = os.environ.get("XDG_ACTIVATION_TOKEN", "")
    message = _Message(started, token if len(token) <= _LONGEST_TOKEN else "")
    while True:
        try:
            address = _note(home).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            address = ""
        if address and _send(address, _sent(message), time.monotonic() + ANSWER_SECONDS):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)


def _sent(message: _Message) -> bytes:
    """The line for the first window. Names of files may be no text: they arrive as they are."""
    text = json.dumps(msgspec.to_builtins(message), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _received(line: bytes) -> _Message:
    """The inverse of `_sent`; raises ValueError, RecursionError and msgspec's errors."""
    # bytes are decoded with halves of pairs, too
    return msgspec.convert(json.loads(line), _Message)


def _send(address: str, data: bytes, deadline: float) -> bool:
    socket = QLocalSocket()
    socket.connectToServer(address)
    if not socket.waitForConnected(_STEP_MS):
        return False
    socket.write(data)
    while not socket.canReadLine():
        if socket.bytesToWrite():
            socket.waitForBytesWritten(_STEP_MS)
        else:
            socket.waitForReadyRead(_STEP_MS)
        gone = socket.state() is not QLocalSocket.LocalSocketState.ConnectedState
        if time.monotonic() > deadline or (gone and not socket.canReadLine()):
            return False
        # Qt waits with the interpreter's lock held
        time.sleep(0.005)
    return bytes(socket.readLine().data()) == _TAKEN


def _note(home: Path) -> Path:
    """The file with the address at which a second start finds the first."""
    return home / "window-address"


def _address(home: Path) -> str:
    name = f"headstart-{hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:12]}"
    if sys.platform == "win32":
        return name
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    for folder in (runtime, str(home.resolve())):
        address = str(Path(folder, f"{name}.socket")) if folder else ""
        if address and len(os.fsencode(address)) < _LONGEST_ADDRESS and os.access(folder, os.W_OK):
            return address
    # a home with a long path, and no runtime folder: a folder that only this user can enter
    return str(Path(tempfile.mkdtemp(prefix=_OWN_FOLDER), name))

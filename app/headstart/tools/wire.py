"""Messages between the program and the child process that speaks with tool servers. Pure.

Each is a length in four bytes and a msgpack value. Requests have numbers that the program chooses.
"""

from __future__ import annotations

import struct
from typing import BinaryIO

import msgspec
from msgspec import Struct

from headstart.core.told import Told
from headstart.core.tool_servers.lists import ServerLists
from headstart.core.tool_servers.questions import FormField, QuestionEnd, Value
from headstart.core.tool_servers.results import Content

# bytes of one message: more than any result that is passed on
MOST_BYTES = 256 << 20
_LENGTH = struct.Struct("<I")


# --- to the child --------------------------------------------------------------------------------


class StartServer(Struct, frozen=True, tag=True):
    """`server` is its id, `name` the user's. `handshake`: the server spoke the older age of the
    protocol before; None: not known. `start`: a number that news of this start carry."""

    server: str
    name: str
    command: str = ""
    arguments: tuple[str, ...] = ()
    folder: str = ""
    url: str = ""
    # the environment of a command, the headers of an address
    variables: dict[str, str] = {}
    handshake: bool | None = None
    start: int = 0


class EndServer(Struct, frozen=True, tag=True):
    server: str


class CallTool(Struct, frozen=True, tag=True):
    """`arguments` are a JSON object."""

    number: int
    server: str
    tool: str
    arguments: str


class GetPrompt(Struct, frozen=True, tag=True):
    number: int
    server: str
    name: str
    arguments: dict[str, str]


class ReadResource(Struct, frozen=True, tag=True):
    number: int
    server: str
    uri: str


class CancelRequest(Struct, frozen=True, tag=True):
    number: int


class AnswerQuestion(Struct, frozen=True, tag=True):
    number: int
    end: QuestionEnd
    values: dict[str, Value] = {}


ToHost = (
    StartServer | EndServer | CallTool | GetPrompt | ReadResource | CancelRequest | AnswerQuestion
)


# --- from the child ------------------------------------------------------------------------------


class ServerStarted(Struct, frozen=True, tag=True):
    """`handshake`: it speaks the older age of the protocol."""

    server: str
    lists: ServerLists
    handshake: bool
    start: int = 0


class ListsChanged(Struct, frozen=True, tag=True):
    server: str
    lists: ServerLists


class ServerEnded(Struct, frozen=True, tag=True):
    """`problem`: None if it was asked to end. `start`: 0 stands for any."""

    server: str
    problem: Told | None = None
    start: int = 0


class ServerLogged(Struct, frozen=True, tag=True):
    """Lines that a server wrote for people."""

    server: str
    lines: tuple[str, ...]


class CallProgressed(Struct, frozen=True, tag=True):
    """`total`: 0 if the server does not say."""

    number: int
    done: float
    total: float = 0.0
    message: str = ""


class Returned(Struct, frozen=True, tag=True):
    """The end of a request; `failed`: the content is an error."""

    number: int
    content: tuple[Content, ...] = ()
    failed: bool = False


class RequestFailed(Struct, frozen=True, tag=True):
    """A request without a result. `server_ended`: it may succeed after another start."""

    number: int
    problem: Told
    server_ended: bool = False


class QuestionAsked(Struct, frozen=True, tag=True):
    """A server asks the user a question."""

    number: int
    server: str
    message: str
    fields: tuple[FormField, ...] = ()
    url: str = ""


class QuestionGone(Struct, frozen=True, tag=True):
    """Nobody waits for the answer any more."""

    number: int


FromHost = (
    ServerStarted
    | ListsChanged
    | ServerEnded
    | ServerLogged
    | CallProgressed
    | Returned
    | RequestFailed
    | QuestionAsked
    | QuestionGone
)

_encoder = msgspec.msgpack.Encoder()
to_host = msgspec.msgpack.Decoder(ToHost)
from_host = msgspec.msgpack.Decoder(FromHost)


def framed(message: ToHost | FromHost) -> bytes:
    data = _encoder.encode(message)
    return _LENGTH.pack(len(data)) + data


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next message; None at the end of the stream, or of one that is not of this kind."""
    head = _exactly(stream, _LENGTH.size)
    if head is None:
        return None
    (size,) = _LENGTH.unpack(head)
    return None if size > MOST_BYTES else _exactly(stream, size)


def _exactly(stream: BinaryIO, size: int) -> bytes | None:
    found = bytearray()
    while len(found) < size:
        part = stream.read(size - len(found))
        if not part:
            return None
        found += part
    return bytes(found)

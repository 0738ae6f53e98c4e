"""Downloads and their progress: values shared by the queue, the verbs and the window."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from headstart.core.told import Told


class DownloadState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    # for the network, a server, or another program's download of the same file; resumes
    # automatically
    WAITING = "waiting"
    # all bytes are downloaded, and are compared with the hub's digests
    CHECKING = "checking"
    PAUSED = "paused"
    # it stopped, and resumes when the user asks for it
    FAILED = "failed"
    DONE = "done"


# these need the network
ACTIVE = (
    DownloadState.QUEUED,
    DownloadState.RUNNING,
    DownloadState.WAITING,
    DownloadState.CHECKING,
)
# these resume only on the user's request
STOPPED = (DownloadState.PAUSED, DownloadState.FAILED)


# largest file, in bytes, that the hub serves over plain HTTP: the limit in its own library
LARGEST_HTTP = 50 * 10**9


class RemoteFile(Struct, frozen=True):
    """A file of a repository. `etag`: its SHA-256, or its git object id if it is small."""

    path: str
    size: int
    etag: str


_PART = re.compile(r"-\d{5}-of-\d{5}\.gguf$")


def models_of(files: Iterable[RemoteFile]) -> list[list[RemoteFile]]:
    """Files by the model that needs all of them: the parts of a split GGUF file, a GGUF file alone,
    and everything else by its folder."""
    found: dict[str, list[RemoteFile]] = {}
    for file in files:
        part = _PART.search(file.path)
        if part is not None:
            key = file.path[: part.start()]
        elif file.path.endswith(".gguf"):
            key = file.path
        else:
            key = file.path.rpartition("/")[0] + "/"
        found.setdefault(key, []).append(file)
    return list(found.values())


class DownloadRequest(Struct, frozen=True):
    """Files that are downloaded together: all parts of a model.

    `main` is the file to open; "" for a folder of files.
    """

    repo: str
    commit: str
    title: str
    files: tuple[RemoteFile, ...]
    main: str = ""
    revision: str = "main"

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def id(self) -> str:
        """The same files of the same repository are one download."""
        return f"{self.repo}:{self.commit[:12]}:{self.main or self.title}"


class Download(Struct, frozen=True):
    """The current state of a download. Bytes, bytes a second, seconds."""

    wanted: DownloadRequest
    state: DownloadState
    received: int = 0
    speed: float = 0.0
    # why it waits or stopped
    reason: Told | None = None
    # the model's location, once it is done
    path: str = ""
    # number of times that it finished or failed since the start
    ends: int = 0
    # it waits for the user, although it was under way when the program ended
    held: bool = False

    @property
    def id(self) -> str:
        return self.wanted.id

    @property
    def seconds_left(self) -> float | None:
        """None while it cannot be estimated."""
        if self.state is not DownloadState.RUNNING or self.speed <= 0:
            return None
        return max(0, self.wanted.size - self.received) / self.speed

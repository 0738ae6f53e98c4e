"""Downloads and their progress: values that the queue, the verbs and the window share."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from headstart.core.told import Told


class DownloadState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    # for a network, a server, or another program that downloads the same; it goes on automatically
    WAITING = "waiting"
    # all bytes are here; they are compared with what the hub says of them
    CHECKING = "checking"
    PAUSED = "paused"
    # it stopped, and goes on where it was when the user asks for it
    FAILED = "failed"
    DONE = "done"


# these want the network
ACTIVE = (
    DownloadState.QUEUED,
    DownloadState.RUNNING,
    DownloadState.WAITING,
    DownloadState.CHECKING,
)
# these go on only when the user says so
STOPPED = (DownloadState.PAUSED, DownloadState.FAILED)


# bytes of a file that the hub serves over plain HTTP: what its own library has as the limit
LARGEST_HTTP = 50 * 10**9


class RemoteFile(Struct, frozen=True):
    """A file of a repository. `etag`: its SHA-256, or what git calls it where it is small."""

    path: str
    size: int
    etag: str


class DownloadRequest(Struct, frozen=True):
    """Files that are downloaded together: all parts of a model.

    `main` is the file that is opened; "" for a folder of files.
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
    """One download as it is now. Bytes, bytes a second, seconds."""

    wanted: DownloadRequest
    state: DownloadState
    received: int = 0
    speed: float = 0.0
    # why it waits or stopped
    reason: Told | None = None
    # where the model lies, when it is done
    path: str = ""
    # how often it was done or failed since the start
    ends: int = 0

    @property
    def id(self) -> str:
        return self.wanted.id

    @property
    def seconds_left(self) -> float | None:
        """None while nobody can know."""
        if self.state is not DownloadState.RUNNING or self.speed <= 0:
            return None
        return max(0, self.wanted.size - self.received) / self.speed

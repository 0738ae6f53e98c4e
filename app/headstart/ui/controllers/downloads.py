"""Downloads: their progress, and the user's actions on them. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import DownloadEnded, DownloadsChanged, ModelsChanged
from headstart.chat.library.downloads import Downloads
from headstart.core.hub.downloads import Download, DownloadState
from headstart.ui.kit.tasks import Tasks


class DownloadsController(QObject):
    changed = Signal(tuple)  # of Download
    done = Signal(Download)
    failed = Signal(Download)

    def __init__(self, downloads: Downloads, tasks: Tasks, broadcast: Broadcast) -> None:
        super().__init__()
        self._downloads = downloads
        self._tasks = tasks
        self._broadcast = broadcast
        broadcast.on(DownloadsChanged, lambda change: self.changed.emit(change.downloads))
        broadcast.on(DownloadEnded, self._on_ended)

    def wake(self) -> None:
        """Resume the downloads of the last session, once the start is over."""
        self._tasks.spawn(self._downloads.wake())

    def list(self) -> None:
        self.changed.emit(self._downloads.all)

    def pause(self, download_id: str) -> None:
        self._tasks.spawn(self._downloads.pause([download_id]))

    def resume(self, download_id: str) -> None:
        self._tasks.spawn(self._downloads.resume([download_id]))

    def cancel(self, download_id: str) -> None:
        self._tasks.spawn(self._downloads.cancel([download_id]))

    def move(self, download_id: str, place: int) -> None:
        self._tasks.spawn(self._downloads.move(download_id, place))

    def clear_done(self) -> None:
        self._tasks.spawn(self._downloads.clear_done())

    def _on_ended(self, change: DownloadEnded) -> None:
        if change.download.state is DownloadState.DONE:
            self.done.emit(change.download)
            self._broadcast.tell(ModelsChanged())
        else:
            self.failed.emit(change.download)

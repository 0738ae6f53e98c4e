"""A queue of downloads over a hub of our own, in a home of its own; and the models that it has."""

from __future__ import annotations

import random
from pathlib import Path

from headstart.core.hub.catalog import Details
from headstart.core.hub.downloads import Download, DownloadState
from headstart.hub.downloads.book import Book
from headstart.hub.downloads.queue import DownloadQueue
from headstart.hub.downloads.transfer import TransferTiming
from headstart.hub.online.client import HubClient
from tests.support.hub_server import HubServer
from tests.support.patience import wait_for

MODEL = random.Random(7).randbytes(3 << 20)
OTHER = random.Random(8).randbytes(300 << 10)
SMALL = b'{"model_type": "llama"}'
REPO = "maker/model-GGUF"
# seconds of silence after which a connection is given up: more than a busy computer is silent for
STALL = 2.0
QUICK = TransferTiming(
    first=0.01, most=0.1, slow=0.4, least=64 << 10, piece=256 << 10, reserve=1 << 20
)


class Desk:
    """A queue over a hub, in a home of its own."""

    def __init__(self, hub: HubServer, folder: Path, token: str | None = None) -> None:
        self.client = HubClient(lambda: token, hub.endpoint, stall_seconds=STALL)
        self.cache = folder / "cache"
        self.book = folder / "book.json"
        self.changes = 0
        self.queue = self._open()

    def _open(self) -> DownloadQueue:
        return DownloadQueue(Book(self.book), self.cache, self.client.source, self._count, QUICK)

    def _count(self) -> None:
        self.changes += 1

    def reopen(self) -> None:
        self.queue.close()
        self.queue = self._open()
        self.queue.start()

    def details(self, repo: str = REPO) -> Details:
        return self.client.details(repo)

    def get(self, repo: str = REPO) -> str:
        details = self.details(repo)
        return self.queue.add(details.wanted(details.variants[0]))

    def one(self, number: int = 0) -> Download:
        return self.queue.all()[number]

    def wait(self, *states: DownloadState, number: int = 0) -> Download:
        wait_for(lambda: self.one(number).state in states)
        return self.one(number)

    def ended(self, number: int = 0) -> Download:
        return self.wait(DownloadState.DONE, DownloadState.FAILED, number=number)

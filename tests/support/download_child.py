"""Downloads one variant in a process that may be killed:
`python -m tests.support.download_child ENDPOINT FOLDER REPO`.

Prints the state, and the bytes that are there, until it is done.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from headstart.core.hub.downloads import DownloadState
from headstart.hub.downloads.book import Book
from headstart.hub.downloads.queue import DownloadQueue
from headstart.hub.downloads.transfer import TransferTiming
from headstart.hub.online.client import HubClient

# as in the program, but for waits, which are a tenth of it
TIMING = TransferTiming(first=0.05, most=1.0, slow=1.0, reserve=64 << 20)
STALL = 1.5


def open_queue(endpoint: str, folder: Path) -> DownloadQueue:
    client = HubClient(endpoint=endpoint, stall_seconds=STALL)
    book = Book(folder / "book.json")
    return DownloadQueue(book, folder / "cache", client.source, lambda: None, TIMING)


def main() -> None:
    endpoint, folder, repo = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    queue = open_queue(endpoint, folder)
    queue.start()
    if not queue.all():
        details = HubClient(endpoint=endpoint).details(repo)
        queue.add(details.wanted(details.variants[0]))
    print("began", flush=True)
    while True:
        (one,) = queue.all()
        if one.state in (DownloadState.DONE, DownloadState.FAILED):
            reason = one.reason.code if one.reason is not None else ""
            print(f"{one.state.value} {reason or '-'} {one.path}", flush=True)
            return
        time.sleep(0.01)


if __name__ == "__main__":
    main()

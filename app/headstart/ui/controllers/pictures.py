"""Images of messages for the window: loaded, decoded off the main thread, and cached. Main
thread."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QImage

from headstart.chat.attaching import Attached, Attaching
from headstart.core.chats.parts import ImagePart
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import write_whole
from headstart.core.text.whole import whole
from headstart.ui.kit.pictures import decode
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat

# decoded images in the cache, each at the size of a thumbnail
_KEPT = 48
# largest image in its own window, in pixels: more would be scaled down at each resize
_LARGEST = QSize(2560, 1600)


class PicturesController(QObject):
    ready = Signal(str)  # the digest of a loaded image
    opened = Signal(object, object)  # ImagePart, QImage or None
    saved = Signal(str)  # path of the saved copy

    def __init__(self, attaching: Attaching, open_chat: OpenChat, tasks: Tasks) -> None:
        super().__init__()
        self._attaching = attaching
        self._open = open_chat
        self._tasks = tasks
        self._images: OrderedDict[str, QImage | None] = OrderedDict()
        self._asked: set[str] = set()

    def thumbnail(self, part: ImagePart, within: QSize) -> QImage | None:
        """The image if it is cached; else None, and `ready` is emitted later."""
        digest = part.blob.digest
        if digest in self._images:
            self._images.move_to_end(digest)
            return self._images[digest]
        if digest not in self._asked:
            self._asked.add(digest)
            self._tasks.spawn(self._fetch(self._open.id, part, within))
        return None

    def open(self, part: ImagePart) -> None:
        """Load the image at screen size and emit `opened`."""
        self._tasks.spawn(self._whole(self._open.id, part))

    def save(self, part: Attached, changed: str | None, path: str) -> None:
        """Save a copy of a file, or its changed text, at the user's path."""
        self._tasks.spawn(self._save(self._open.id, part, changed, Path(path)))

    async def _fetch(self, chat_id: str, part: ImagePart, within: QSize) -> None:
        digest = part.blob.digest
        try:
            self._images[digest] = await self._decoded(chat_id, part, within)
        finally:
            self._asked.discard(digest)
        while len(self._images) > _KEPT:
            self._images.popitem(last=False)
        self.ready.emit(digest)

    async def _whole(self, chat_id: str, part: ImagePart) -> None:
        self.opened.emit(part, await self._decoded(chat_id, part, _LARGEST))

    async def _decoded(self, chat_id: str, part: ImagePart, within: QSize) -> QImage | None:
        try:
            data = await self._attaching.data(chat_id, part)
        except EnvironmentProblem:
            # the message says that the file is gone
            return None
        return await asyncio.to_thread(decode, data, within)

    async def _save(self, chat_id: str, part: Attached, changed: str | None, path: Path) -> None:
        if changed is None:
            data = await self._attaching.data(chat_id, part)
        else:
            data = whole(changed).encode()
        try:
            await asyncio.to_thread(write_whole, path, data, shared=True)
        except OSError as error:
            raise EnvironmentProblem(
                "file-not-written", path=path, reason=error.strerror or error
            ) from error
        self.saved.emit(str(path))

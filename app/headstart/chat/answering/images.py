"""Images of a chat for its model: their bytes, and the projector that turns them into tokens.

On the event loop's thread; files are read on other threads.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Sequence

from headstart.chat.databases import Databases
from headstart.chat.requests import NO_IMAGES, Images
from headstart.core.chats.parts import ImagePart
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import Notice, NoticeKind
from headstart.core.requests import LoadRequest
from headstart.core.told import told
from headstart.hub.projectors import projector_of
from headstart.storage.worker import Store

# bytes of images in the cache: a chat's images are requested at every pause in typing
_MOST = 64 << 20


def images_gone(wanted: Sequence[ImagePart], images: Images) -> Notice | None:
    """The notice of images whose bytes are missing; None if all are there."""
    gone = {part.blob.digest for part in wanted} - set(images)
    return Notice(NoticeKind.IMAGES, told("images-gone", count=len(gone))) if gone else None


class ChatImages:
    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        # stored chats only: a private chat's images exist only in its own database
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    async def read(self, chat_id: str, wanted: Sequence[ImagePart]) -> Images:
        """The images' bytes by digest; damaged or missing ones are left out: only their names are
        sent."""
        if not wanted:
            return NO_IMAGES
        found = {
            part.blob.digest: self._kept[part.blob.digest]
            for part in wanted
            if part.blob.digest in self._kept
        }
        missing = [part for part in wanted if part.blob.digest not in found]

        def read(store: Store) -> Images:
            fetched: dict[str, bytes] = {}
            for part in missing:
                with contextlib.suppress(EnvironmentProblem):
                    fetched[part.blob.digest] = store.blobs.get(part.blob)
            return fetched

        if missing:
            found |= await self._databases.run(chat_id, read)
        if not self._databases.is_private(chat_id):
            self._keep(found)
        return found

    async def for_model(
        self, chat_id: str, wanted: Sequence[ImagePart], load: LoadRequest
    ) -> tuple[LoadRequest, Images]:
        """The load request with the projector, and the images; no images without a projector."""
        if not wanted:
            return load, NO_IMAGES
        projector = await asyncio.to_thread(projector_of, load.model)
        if projector is None:
            return load, NO_IMAGES
        return load.seeing(projector), await self.read(chat_id, wanted)

    def _keep(self, found: Images) -> None:
        for digest, data in found.items():
            self._kept[digest] = data
            self._kept.move_to_end(digest)
        while sum(map(len, self._kept.values())) > _MOST:
            self._kept.popitem(last=False)

"""Files to attach to a message: stored, extracted, and extracted again to choose pages.

On the event loop's thread; a file is read in a child process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path

from msgspec.structs import replace

from headstart.chat.databases import Databases
from headstart.core.chats.attachments import (
    LARGEST,
    LONGEST,
    Extracted,
    Unit,
    in_parts,
    ranges_text,
)
from headstart.core.chats.parts import FilePart, ImagePart
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import read_regular
from headstart.core.images import image_of
from headstart.core.text.file_names import readable
from headstart.core.text.whole import whole
from headstart.extraction.process import Reading, ReadingCancelled

Attached = FilePart | ImagePart
# files extracted at the same time
_AT_ONCE = 2


class Attaching:
    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def file(
        self, chat_id: str, path: Path, reading: Reading, progress: Callable[[float], None]
    ) -> Attached:
        """Store and extract a file for a message; `progress` runs from 0 to 1. Raises
        EnvironmentProblem, ReadingCancelled."""
        data = await asyncio.to_thread(_bytes, path)
        name = await asyncio.to_thread(readable, path.name)
        return await self.content(chat_id, data, name, reading, progress)

    async def content(
        self,
        chat_id: str,
        data: bytes,
        name: str,
        reading: Reading,
        progress: Callable[[float], None],
    ) -> Attached:
        """The same for content without a file, such as pasted data."""
        image = image_of(data)
        if image is not None:
            media_type, width, height = image
            blob = await self._databases.run(
                chat_id, lambda store: store.blobs.put(data, media_type)
            )
            return ImagePart(name, blob, width, height)
        found = await self._read(data, name, reading, progress)
        blob = await self._databases.run(
            chat_id, lambda store: store.blobs.put(data, found.media_type)
        )
        return FilePart(
            name,
            blob,
            found.text,
            len(found.pages),
            found.unit.value,
            encoding=found.encoding,
        )

    async def text(self, chat_id: str, text: str, name: str) -> FilePart:
        """A text that was pasted, or changed, as a file. Raises EnvironmentProblem."""
        if len(text) > LONGEST:
            raise EnvironmentProblem("attachment-too-long", name=name)
        text = whole(text)
        data, parts = await asyncio.to_thread(lambda: (text.encode(), in_parts(text)))
        blob = await self._databases.run(chat_id, lambda store: store.blobs.put(data, "text/plain"))
        return FilePart(name, blob, text, len(parts), Unit.PART.value)

    async def pages(self, chat_id: str, part: FilePart) -> Extracted:
        """All pages of a file, including the ones not chosen. Raises EnvironmentProblem."""
        return await self._again(chat_id, part, part.encoding)

    async def read_as(self, chat_id: str, part: FilePart, encoding: str) -> FilePart:
        """The whole file, decoded with another encoding. Raises EnvironmentProblem."""
        found = await self._again(chat_id, part, encoding)
        return replace(
            part, text=found.text, pages=len(found.pages), chosen="", encoding=found.encoding
        )

    async def _again(self, chat_id: str, part: FilePart, encoding: str) -> Extracted:
        data = await self.data(chat_id, part)
        return await self._read(data, part.name, Reading(), lambda _fraction: None, encoding)

    async def data(self, chat_id: str, part: Attached) -> bytes:
        """The bytes of an attachment. Raises EnvironmentProblem."""
        return await self._databases.run(chat_id, lambda store: store.blobs.get(part.blob))

    async def _read(
        self,
        data: bytes,
        name: str,
        reading: Reading,
        progress: Callable[[float], None],
        encoding: str = "",
    ) -> Extracted:
        loop = asyncio.get_running_loop()

        def tell(fraction: float) -> None:
            loop.call_soon_threadsafe(progress, fraction)

        async with self._places:
            try:
                return await asyncio.to_thread(reading.read, data, name, tell, encoding)
            except asyncio.CancelledError:
                reading.cancel()
                raise


def choose(part: FilePart, found: Extracted, numbers: Collection[int]) -> FilePart:
    """The file with these pages only."""
    everything = len(set(numbers)) == len(found.pages)
    chosen = "" if everything else ranges_text(numbers)
    return replace(part, text=found.chosen(numbers), chosen=chosen)


def _bytes(path: Path) -> bytes:
    """A file's bytes; raises EnvironmentProblem. On a worker thread."""
    try:
        if path.is_dir():
            raise EnvironmentProblem("attachment-folder", name=path.name)
        return read_regular(path, LARGEST)
    except OSError as error:
        raise EnvironmentProblem(
            "attachment-gone", name=path.name, reason=error.strerror or error
        ) from error
    except ValueError as error:
        # a path with a null byte raises ValueError too
        if "\0" in str(path):
            raise EnvironmentProblem(
                "attachment-gone", name=path.name, reason="no file has such a name"
            ) from error
        raise EnvironmentProblem("attachment-too-large", name=path.name) from error


__all__ = ["Attached", "Attaching", "Reading", "ReadingCancelled", "choose"]

"""Files of the next message: reading, counting, choosing pages, removing. Main thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from headstart.chat.attaching import Attached, Attaching, Reading, ReadingCancelled, choose
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import NextPromptSize
from headstart.core.chats.attachments import PASTED, Extracted
from headstart.core.chats.parts import FilePart, ImagePart, OtherPart
from headstart.core.chats.values import new_id
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import PromptSize
from headstart.core.text.shown import is_blank
from headstart.core.told import Told
from headstart.ui.attachment import Attachment
from headstart.ui.kit.pictures import as_png, converted
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat


class AttachingController(QObject):
    # the open chat's current attachments
    changed = Signal(tuple)
    refused = Signal(Told)  # why a file could not be attached
    pages_read = Signal(str, Extracted)  # id, Extracted: the pages to choose from
    attached = Signal()  # the files of the open chat's next message changed
    text_wanted = Signal(str)  # of an attachment, for the message itself
    sized = Signal(object)  # PromptSize of the open chat's next message, or None

    def __init__(
        self, attaching: Attaching, open_chat: OpenChat, tasks: Tasks, broadcast: Broadcast
    ) -> None:
        super().__init__()
        self._attaching = attaching
        self._open = open_chat
        self._tasks = tasks
        self._reading: dict[str, dict[str, tuple[Attachment, Reading]]] = {}
        self._ids: dict[tuple[str, str, str], str] = {}
        # positions by id, in the order of the user's choice: short files are read before long ones
        self._order: dict[str, int] = {}
        self._sizes: dict[str, PromptSize] = {}
        # ids of texts that are being changed, and whose pages are to be chosen then
        self._pages_wanted: set[str] = set()
        broadcast.on(NextPromptSize, self._on_size)
        open_chat.opened.connect(self._show)
        open_chat.sent.connect(self._on_sent)

    # --- state ---------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """True if a file of the open chat is still being read."""
        return bool(self._reading.get(self._open.id))

    @property
    def too_large(self) -> bool:
        """True if the open chat's next message has files and is known not to fit."""
        size = self._sizes.get(self._open.id)
        return bool(self._files) and size is not None and size.tokens > size.limit

    @property
    def shown(self) -> tuple[Attachment, ...]:
        """The open chat's attachments."""
        size = self._sizes.get(self._open.id)
        counts = size.attached if size is not None else ()
        parts = self._files
        known = counts if len(counts) == len(parts) else (0,) * len(parts)
        done = [
            Attachment(self._id(part), part.name, part, 1.0, tokens)
            for part, tokens in zip(parts, known, strict=True)
        ]
        reading = self._reading.get(self._open.id, {})
        # a text that is being changed is there twice
        done = [one for one in done if one.id not in reading]
        waiting = [one for one, _ in reading.values()]
        return tuple(sorted((*done, *waiting), key=lambda one: self._order.get(one.id, 0)))

    @property
    def _files(self) -> list[Attached]:
        return [part for part in self._open.parts if isinstance(part, FilePart | ImagePart)]

    def _id(self, part: Attached) -> str:
        return self._ids.setdefault((self._open.id, part.name, part.blob.digest), new_id())

    def _find(self, attachment_id: str) -> Attached | None:
        return next((part for part in self._files if self._id(part) == attachment_id), None)

    # --- verbs ---------------------------------------------------------------------------

    def add_files(self, paths: Sequence[str]) -> None:
        """Attach files to the open chat's next message."""
        for path in map(Path, paths):
            self._begin(path.name, path)

    def add_content(self, name: str, content: QImage | bytes) -> None:
        """Attach content without a file: a pasted image, or a resource of a tool server."""
        self._begin(name, content)

    def add_text(self, text: str) -> None:
        """Attach a pasted text."""
        taken, number = {one.name for one in self.shown}, 1
        name = f"{PASTED}.txt"
        while name in taken:
            number += 1
            name = f"{PASTED} {number}.txt"
        self._begin(name, text)

    def edit(self, attachment_id: str, text: str) -> None:
        """Attach a changed text in place of a file's; a blank one is removed."""
        part = self._find(attachment_id)
        if is_blank(text):
            self.remove(attachment_id)
        elif isinstance(part, FilePart) and text != part.text:
            # nothing can be sent until the new text is there
            one = Attachment(attachment_id, part.name)
            self._reading.setdefault(self._open.id, {})[attachment_id] = (one, Reading())
            self._show()
            self._tasks.spawn(self._edit(self._open.id, attachment_id, part, text))

    def take_text(self, attachment_id: str, text: str) -> None:
        """Have an attached text stand in the message itself."""
        if self._find(attachment_id) is not None:
            self.text_wanted.emit(text)
            self.remove(attachment_id)

    def remove(self, attachment_id: str) -> None:
        for chat in self._reading.values():
            if attachment_id in chat:
                chat[attachment_id][1].cancel()
        gone = self._find(attachment_id)
        if gone is not None:
            parts = tuple(part for part in self._open.parts if part is not gone)
            self._attach(self._open.id, parts)

    def read_pages(self, attachment_id: str) -> None:
        """Read a file again, to choose pages from it; a changed text once it is there."""
        if attachment_id in self._reading.get(self._open.id, {}):
            self._pages_wanted.add(attachment_id)
            return
        part = self._find(attachment_id)
        if isinstance(part, FilePart):
            self._tasks.spawn(self._pages(self._open.id, attachment_id, part))

    def choose(self, attachment_id: str, found: Extracted, numbers: Sequence[int]) -> None:
        """Attach only these pages of a file."""
        part = self._find(attachment_id)
        if isinstance(part, FilePart):
            chosen = choose(part, found, numbers)
            parts = tuple(chosen if one is part else one for one in self._open.parts)
            self._attach(self._open.id, parts)

    def read_as(self, attachment_id: str, encoding: str) -> None:
        """Read a text again, in another encoding."""
        part = self._find(attachment_id)
        if isinstance(part, FilePart):
            self._tasks.spawn(self._read_as(self._open.id, part, encoding))

    def cancel(self) -> None:
        """Cancel all reading, at the end of the program."""
        for chat in self._reading.values():
            for _, reading in chat.values():
                reading.cancel()

    # --- internals -----------------------------------------------------------------------

    def _begin(self, name: str, source: Path | QImage | bytes | str) -> None:
        chat_id, one, reading = self._open.id, Attachment(new_id(), name), Reading()
        self._order[one.id] = len(self._order) + 1
        self._reading.setdefault(chat_id, {})[one.id] = (one, reading)
        self._show()
        progress = lambda fraction: self._progress(chat_id, one.id, fraction)  # noqa: E731
        work = self._take(chat_id, source, name, reading, progress)
        self._tasks.spawn(self._read(chat_id, one.id, work))

    async def _take(
        self,
        chat_id: str,
        source: Path | QImage | bytes | str,
        name: str,
        reading: Reading,
        progress: Callable[[float], None],
    ) -> Attached:
        if isinstance(source, str):
            return await self._attaching.text(chat_id, source, name)
        if isinstance(source, Path):
            data = await asyncio.to_thread(converted, source)
            if data is None:
                return await self._attaching.file(chat_id, source, reading, progress)
            name = source.with_suffix(".png").name
        elif isinstance(source, bytes):
            data = source
        else:
            data = await asyncio.to_thread(as_png, source)
        return await self._attaching.content(chat_id, data, name, reading, progress)

    async def _read(self, chat_id: str, which: str, work: Coroutine[Any, Any, Attached]) -> None:
        part = None
        try:
            part = await work
        except ReadingCancelled:
            pass
        except EnvironmentProblem as problem:
            self.refused.emit(problem.told)
        finally:
            self._reading[chat_id].pop(which, None)
            if part is None and chat_id == self._open.id:
                self._show()
        if part is None:
            return
        self._ids[chat_id, part.name, part.blob.digest] = which
        others = self._open.unsent_in(chat_id).parts
        again = any(
            isinstance(one, FilePart | ImagePart)
            and (one.name, one.blob.digest) == (part.name, part.blob.digest)
            for one in others
        )

        def place(part: OtherPart) -> int:
            if not isinstance(part, FilePart | ImagePart):
                return 0
            return self._order.get(self._ids.get((chat_id, part.name, part.blob.digest), ""), 0)

        self._attach(chat_id, others if again else tuple(sorted((*others, part), key=place)))

    def _progress(self, chat_id: str, which: str, fraction: float) -> None:
        found = self._reading.get(chat_id, {}).get(which)
        if found is not None:
            self._reading[chat_id][which] = (replace(found[0], fraction=fraction), found[1])
            if chat_id == self._open.id:
                self.changed.emit(self.shown)

    async def _pages(self, chat_id: str, which: str, part: FilePart) -> None:
        found = await self._attaching.pages(chat_id, part)
        if chat_id == self._open.id:
            self.pages_read.emit(which, found)

    async def _read_as(self, chat_id: str, part: FilePart, encoding: str) -> None:
        try:
            found = await self._attaching.read_as(chat_id, part, encoding)
        except EnvironmentProblem as problem:
            self.refused.emit(problem.told)
            return
        parts = self._open.unsent_in(chat_id).parts
        self._attach(chat_id, tuple(found if one == part else one for one in parts))

    async def _edit(self, chat_id: str, which: str, part: FilePart, text: str) -> None:
        found = None
        try:
            found = await self._attaching.text(chat_id, text, part.name)
        except EnvironmentProblem as problem:
            self.refused.emit(problem.told)
        finally:
            self._reading[chat_id].pop(which, None)
        if found is not None:
            self._ids[chat_id, found.name, found.blob.digest] = which
            parts = self._open.unsent_in(chat_id).parts
            self._attach(chat_id, tuple(found if one == part else one for one in parts))
        elif chat_id == self._open.id:
            self._show()
        if which in self._pages_wanted:
            self._pages_wanted.discard(which)
            if chat_id == self._open.id:
                self.read_pages(which)

    def _attach(self, chat_id: str, parts: tuple[Any, ...]) -> None:
        self._sizes.pop(chat_id, None)
        self._open.attach(chat_id, parts)
        if chat_id == self._open.id:
            self._show()
            self.attached.emit()

    def _show(self) -> None:
        self.changed.emit(self.shown)
        self.sized.emit(self._sizes.get(self._open.id))

    def _on_sent(self) -> None:
        self._sizes.pop(self._open.id, None)
        self._show()

    def _on_size(self, change: NextPromptSize) -> None:
        self._sizes[change.chat_id] = change.size
        if change.chat_id == self._open.id:
            self._show()

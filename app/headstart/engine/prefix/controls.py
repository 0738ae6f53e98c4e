"""The user's control of stored prefixes. Any thread."""

from __future__ import annotations

from collections.abc import Callable

from headstart.core.prefixes import PrefixUse
from headstart.core.told import Told
from headstart.engine.prefix.records import Records
from headstart.engine.prefix.writer import Writer


class PrefixControls:
    def __init__(self, records: Records, writer: Writer) -> None:
        self._records = records
        self._writer = writer
        # number of times that text of chats had to be forgotten since the app started, also outside
        # prefixes
        self.forgets = 0

    def on_trouble(self, tell: Callable[[Told], None]) -> None:
        """Call `tell`, on the writer's thread, when nothing can be written."""
        self._writer.tell_trouble = tell

    def set_limits(self, on_disk: bool, most_gb: int, memory_mb: int = 0) -> None:
        """Limit the bytes on disk and in memory; 0 MB of memory is automatic."""
        self._writer.set_limits(on_disk, most_gb)
        with self._records.lock:
            self._records.limit_memory(memory_mb * 1_000_000)

    def use_of_disk(self) -> PrefixUse:
        budget = self._writer.budget()
        with self._records.lock:
            return PrefixUse(
                total=self._records.disk_size,
                budget=budget,
                by_chat=self._records.sizes_by_chat(),
                written_today=self._writer.written_today,
                location=str(self._writer.folder),
                in_memory=self._records.memory_size,
                memory_budget=self._records.most_memory,
                trouble=self._writer.trouble,
            )

    def allow(self, chat_id: str, on_disk: bool) -> bool:
        """Set whether this chat may be written to disk from now on; True if that is a change."""
        with self._records.lock:
            return self._records.permits.allow(chat_id, on_disk)

    def clear(self) -> None:
        """Forget everything, in memory and on disk."""
        # records not yet listed would reappear
        self._writer.wait_until_ready()
        with self._records.lock:
            self._writer.queue(self._records.clear())

    def forget_chat(self, chat_id: str) -> None:
        """Forget the records that only this chat needs; shared ones stay."""
        self._writer.wait_until_ready()
        with self._records.lock:
            self._writer.queue(self._records.forget_chat(chat_id))

    def forget_words(self) -> None:
        """Make drafting from earlier chats forget a chat's text."""
        with self._records.lock:
            self.forgets += 1

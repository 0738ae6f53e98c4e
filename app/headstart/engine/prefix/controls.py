"""The user's control of stored prefixes. Any thread."""

from __future__ import annotations

from collections.abc import Callable

from headstart.core.prefixes import PrefixUse
from headstart.core.told import Told
from headstart.engine.prefix.records import Records
from headstart.engine.prefix.writer import Writer

# deleted chats that loaded models have yet to hear of: many more than a model can hold
_MOST_GONE = 1_000


class PrefixControls:
    def __init__(self, records: Records, writer: Writer) -> None:
        self._records = records
        self._writer = writer
        # number of times that text of chats had to be forgotten since the app started, also outside
        # prefixes
        self.forgets = 0
        # the chats that were deleted for good, the last ones, and their number
        self.gone: tuple[str, ...] = ()
        self.number_gone = 0

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

    def forget_chat(self, chat_id: str, for_good: bool = False) -> None:
        """Forget the records that only this chat needs; shared ones stay. `for_good`: the chat is
        deleted, and loaded models forget it too."""
        self._writer.wait_until_ready()
        with self._records.lock:
            self._writer.queue(self._records.forget_chat(chat_id, for_good))
            if for_good:
                self.gone = (*self.gone[-_MOST_GONE:], chat_id)
                self.number_gone += 1

    def gone_since(self, number: int) -> tuple[str, ...]:
        """The chats that were deleted after the first `number` ones, which has a bound: a model
        that never looked meanwhile gets the last ones."""
        with self._records.lock:
            missing = self.number_gone - number
            return self.gone[-missing:] if missing else ()

    def forget_words(self) -> None:
        """Make drafting from earlier chats forget a chat's text."""
        with self._records.lock:
            self.forgets += 1

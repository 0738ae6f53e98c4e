"""The catalogue of existing records, as trees in memory, looked up by the tokens of a prompt.

Not thread-safe: callers hold the lock of `records` around every call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from msgspec import Struct, field

from headstart.core.prefixes import TOKEN_BYTES, RecordInfo, RecordKind
from headstart.engine.prefix.keys import chain, common_tokens, record_key
from headstart.engine.prefix.record_file import Payload


class PrefixEntry(Struct, eq=False):
    """A record and the location of its bytes. An entry neither in memory nor on disk is
    forgotten."""

    info: RecordInfo
    payload: Payload | None = None
    on_disk: bool = False
    # waits for the writer: its payload must stay
    queued: bool = False
    used: int = 0
    # number of reads from the disk since the app started
    reads: int = 0
    # a read in progress, started because the record will probably be needed
    coming: Future[Payload | None] | None = None
    # chats that need it on disk, and those that use it at all
    chats: set[str] = field(default_factory=set)
    holders: set[str] = field(default_factory=set)
    # who may reuse it; of a record from an earlier run its namespace tells
    audience: str = ""

    @property
    def there(self) -> bool:
        return self.payload is not None or self.on_disk


class Step(Struct, frozen=True):
    """A record along a prompt; only its first `use` tokens match the prompt."""

    entry: PrefixEntry
    use: int

    @property
    def start(self) -> int:
        return self.entry.info.start

    @property
    def end(self) -> int:
        return self.start + self.use


class Catalogue:
    def __init__(self) -> None:
        self._entries: dict[bytes, PrefixEntry] = {}
        self._children: dict[bytes, set[bytes]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[PrefixEntry]:
        return iter(list(self._entries.values()))

    def get(self, key: bytes) -> PrefixEntry | None:
        return self._entries.get(key)

    def add(self, entry: PrefixEntry) -> None:
        self._entries[entry.info.key] = entry
        self._children.setdefault(entry.info.parent, set()).add(entry.info.key)

    def remove(self, entry: PrefixEntry) -> None:
        if self._entries.get(entry.info.key) is not entry:
            return
        del self._entries[entry.info.key]
        siblings = self._children.get(entry.info.parent)
        if siblings is not None:
            siblings.discard(entry.info.key)
            if not siblings:
                del self._children[entry.info.parent]

    def children(self, parent: bytes) -> list[PrefixEntry]:
        return [self._entries[key] for key in self._children.get(parent, ())]

    def steps(self, namespaces: Sequence[bytes], tokens: bytes, chunk: int) -> list[Step]:
        """The longest chain of ranges along `tokens`, each from the first of the namespaces that
        has it; the last may match only in part."""
        chains = [chain(one, tokens, chunk) for one in namespaces]
        steps: list[Step] = []
        for keys in zip(*(one[1:] for one in chains), strict=True):
            found = (entry for key in keys if (entry := self._entries.get(key)) is not None)
            entry = next((one for one in found if one.there), None)
            if entry is None:
                break
            steps.append(Step(entry, chunk))
        at = len(steps)
        rest = tokens[at * chunk * TOKEN_BYTES :]
        best: Step | None = None
        for entry in (child for keys in chains for child in self.children(keys[at])):
            if entry.info.kind is RecordKind.RANGE and entry.there:
                same = common_tokens(entry.info.tokens, rest)
                if same > (best.use if best else 0):
                    best = Step(entry, same)
        return [*steps, best] if best else steps

    def snapshots(
        self, namespaces: Sequence[bytes], tokens: bytes, chunk: int
    ) -> list[PrefixEntry]:
        """The snapshots along `tokens`, the farthest first."""
        found = []
        for namespace in namespaces:
            for index, key in enumerate(chain(namespace, tokens, chunk)):
                rest = tokens[index * chunk * TOKEN_BYTES :]
                found += [
                    entry
                    for entry in self.children(key)
                    if entry.info.kind is RecordKind.SNAPSHOT
                    and entry.there
                    and rest.startswith(entry.info.tokens)
                ]
        return sorted(found, key=lambda entry: -entry.info.end)

    def covering(self, parent: bytes, tokens: bytes, to_disk: bool) -> PrefixEntry | None:
        """A range under `parent` that begins with `tokens`.

        With `to_disk`, a longer one counts only if it is on disk or will be: it may belong to a
        chat that must not be stored.
        """
        exact = self._entries.get(record_key(RecordKind.RANGE, parent, tokens))
        if exact is not None and exact.there:
            return exact
        return next(
            (
                entry
                for entry in self.children(parent)
                if entry.info.kind is RecordKind.RANGE
                and entry.there
                and entry.info.tokens.startswith(tokens)
                and (not to_disk or entry.on_disk or entry.chats)
            ),
            None,
        )

    def covered(self, entry: PrefixEntry) -> list[PrefixEntry]:
        """Shorter ranges that `entry` contains."""
        return [
            other
            for other in self.children(entry.info.parent)
            if other is not entry
            and other.info.kind is entry.info.kind is RecordKind.RANGE
            and entry.info.tokens.startswith(other.info.tokens)
        ]

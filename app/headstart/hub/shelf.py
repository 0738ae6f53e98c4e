"""The shelf: every model on this computer, at any location, with its known facts.

Findings are kept in a small file of the home, so that a scan only has to check which files changed.
A model is identified by content: after a move or a renaming it keeps its name, its notes and its
measurements. Worker threads; one scan at a time.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from headstart.core.errors import ModelProblem
from headstart.core.files import open_regular
from headstart.core.models.installed import About, InstalledModel, Moved
from headstart.core.models.names import people_name
from headstart.core.models.ref import ModelFormat, ModelRef
from headstart.core.models.split_files import parts
from headstart.core.told import from_stored, told
from headstart.hub import about, library, mlx_folder
from headstart.hub.content import BEGINNING, content_of
from headstart.hub.draft_memory import DraftMemory
from headstart.hub.kept_list import Kept, KeptFacts, KeptList, SeenFile
from headstart.hub.sources import FolderModel, ModelFolder, ModelSource, walk

# a file that changed less than this many seconds ago may still be written
_FRESH = 2.0


class Shelf:
    """`places` is called at each scan: the user may add folders. Without a `path` nothing is
    stored."""

    def __init__(self, path: Path | None, places: Callable[[], Sequence[ModelFolder]]) -> None:
        self._list = KeptList(path)
        self.drafts = DraftMemory(self._list)
        self._places = places
        self._moved: list[Moved] = []

    # --- scan ----------------------------------------------------------------------------

    def look(self, opened: Iterable[str] = ()) -> list[InstalledModel]:
        """All models: the starter model, models opened by the user, and those in the folders; each
        content once."""
        # without the lock: a slow disk must not delay a request for a name
        there = self._all(opened)
        with self._list.lock:
            kept = self._list.load()
            before = msgspec.json.encode(kept)
            found = self._read(there, kept)
            self._follow_moved(kept, {str(one.path) for one, _ in found})
            models = self._listed(found, kept)
            if msgspec.json.encode(kept) != before:
                self._list.save()
            return models

    def moved(self) -> list[Moved]:
        """Models found at a new location since the last call."""
        with self._list.lock:
            moved, self._moved = self._moved, []
            return moved

    def ref(self, path: Path) -> ModelRef:
        """The model at `path` with its known name; raises OSError if there is none."""
        found = library.ref(path)
        with self._list.lock:
            kept = self._list.load()
            seen = kept.seen.get(str(path))
            if seen is None:
                name = people_name(found.name)
                return replace(found, name=name, known_as=found.signature)
            return self._named(replace(found, name=seen.name), seen.content, kept)

    def name_of(self, key: str) -> str:
        """Name of a model, without disk access; "" for one never seen."""
        with self._list.lock:
            kept = self._list.load()
            seen = kept.seen.get(key)
            known = None if seen is None else kept.known.get(seen.content)
            if seen is None:
                return ""
            own = known.name if known is not None else ""
            return own or self._called(seen, kept)

    def find(self, key: str) -> ModelRef:
        """The model with the key of a chat or of the settings, even if it has moved; raises
        ModelProblem if it is gone."""
        path = Path(key)
        with contextlib.suppress(OSError):
            return self.ref(path)
        with self._list.lock:
            kept = self._list.load()
            for content, known in kept.known.items():
                if key in known.paths:
                    for other in reversed(known.paths):
                        if self._holds(other, content, kept):
                            with contextlib.suppress(OSError):
                                return self.ref(Path(other))
        raise ModelProblem("model-missing", path=path)

    def held_other(self, key: str, now: str) -> bool:
        """True if a path is known to have held other bytes than the path `now` holds."""
        with self._list.lock:
            kept = self._list.load()
            seen = kept.seen.get(now)
            held = {content for content, known in kept.known.items() if key in known.paths}
            return bool(held) and seen is not None and seen.content not in held

    def open(self, path: Path) -> ModelRef:
        """Check a model that the user opened, and remember it; raises ModelProblem."""
        found = library.open_model(path)
        with self._list.lock:
            kept = self._list.load()
            one = FolderModel(found.path, found.name, found.format, ModelSource.OPENED)
            self._read([one], kept)
            self._list.save()
        return self.ref(found.path)

    # --- user data of a model ------------------------------------------------------------

    def rename(self, content: str, name: str) -> None:
        """Set the model's name on this computer; "" for its file's name. The file keeps its
        name."""
        self._change(content, name=name.strip())

    def set_notes(self, content: str, notes: str) -> None:
        self._change(content, notes=notes)

    def used(self, key: str, at: float) -> None:
        """Note that a reply was generated with it."""
        with self._list.lock:
            seen = self._list.load().seen.get(key)
            if seen is not None:
                self._change(seen.content, last_used=at)

    def forget(self, key: str) -> None:
        """Forget a model whose file was removed on purpose: it did not move."""
        with self._list.lock:
            kept = self._list.load()
            kept.seen.pop(key, None)
            for known in kept.known.values():
                if key in known.paths:
                    known.paths.remove(key)
            self._list.save()

    def _change(self, content: str, **changes: object) -> None:
        with self._list.lock:
            known = self._list.load().known.get(content)
            if known is not None:
                for name, value in changes.items():
                    setattr(known, name, value)
                self._list.save()

    # --- reading -------------------------------------------------------------------------

    def _all(self, opened: Iterable[str]) -> list[FolderModel]:
        starter = library.starter_model()
        found = []
        if starter is not None:
            found.append(
                FolderModel(starter.path, starter.name, starter.format, ModelSource.STARTER)
            )
        for name in opened:
            with contextlib.suppress(OSError):
                ref = library.ref(Path(name))
                found.append(FolderModel(ref.path, ref.name, ref.format, ModelSource.OPENED))
        for place in self._places():
            found += walk(place)
        # the same file on two paths: an opened file may lie in a scanned folder
        first: dict[str, FolderModel] = {}
        for one in found:
            first.setdefault(str(one.path), one)
        return list(first.values())

    def _read(self, found: Iterable[FolderModel], kept: Kept) -> list[tuple[FolderModel, SeenFile]]:
        """Facts of each, read from disk if new or changed."""
        result = []
        for one in found:
            try:
                state = _state(one)
                seen = kept.seen.get(str(one.path))
                if seen is None or seen.state != state:
                    seen = _look_at(one, state)
                    age = time.time() - state[1] / 1e9
                    if 0 <= age < _FRESH:
                        # it may still be written: remember nothing about it
                        kept.seen.pop(str(one.path), None)
                        result.append((one, seen))
                        continue
                    kept.seen[str(one.path)] = seen
            except OSError:
                continue
            result.append((one, seen))
            known = kept.known.get(seen.content)
            if known is None:
                known = kept.known[seen.content] = KeptFacts(f"{one.name}:{seen.size}")
            if str(one.path) not in known.paths:
                known.paths.append(str(one.path))
        return result

    def _follow_moved(self, kept: Kept, there: set[str]) -> None:
        """Track models whose bytes are at another location now."""
        for path in [path for path in kept.seen if path not in there]:
            if Path(path).exists():
                # its folder is no longer scanned
                continue
            content = kept.seen.pop(path).content
            known = kept.known.get(content)
            paths = () if known is None else known.paths
            now = [one for one in paths if one in there and self._holds(one, content, kept)]
            if now:
                # chats may store the old path, in copies and exports too
                self._moved.append(Moved(path, now[-1]))

    @staticmethod
    def _holds(path: str, content: str, kept: Kept) -> bool:
        """True if the path held these bytes at the last scan: paths can be reused."""
        seen = kept.seen.get(path)
        return seen is not None and seen.content == content

    def _listed(
        self, found: list[tuple[FolderModel, SeenFile]], kept: Kept
    ) -> list[InstalledModel]:
        models: dict[str, InstalledModel] = {}
        for one, seen in found:
            if seen.content in models:
                same = models[seen.content]
                models[seen.content] = replace(same, copies=(*same.copies, str(one.path)))
                continue
            plain = ModelRef(one.path, one.name, seen.size, one.format)
            known = kept.known.get(seen.content) or KeptFacts("")
            why = None
            if seen.trouble:
                why = from_stored(seen.trouble)
            elif seen.about.no_chat:
                why = told("no-chat-model", name=one.name, what=seen.about.no_chat)
            models[seen.content] = InstalledModel(
                self._named(plain, seen.content, kept, seen),
                one.source.value,
                seen.content,
                seen.about,
                known.notes,
                bool(known.name),
                known.last_used,
                why_not=why,
            )
        return list(models.values())

    @staticmethod
    def _named(ref: ModelRef, content: str, kept: Kept, seen: SeenFile | None = None) -> ModelRef:
        known, seen = kept.known.get(content), seen or kept.seen.get(ref.key)
        name = ref.name if seen is None else Shelf._called(seen, kept)
        if known is None:
            return replace(ref, name=name, known_as=ref.signature)
        return replace(ref, name=known.name or name, known_as=known.signature)

    @staticmethod
    def _called(seen: SeenFile, kept: Kept) -> str:
        """Its display name; with its quantization if another model has the same name."""
        name = people_name(seen.name)
        same = {
            one.content
            for one in kept.seen.values()
            if one.content != seen.content and people_name(one.name) == name
        }
        stored = seen.about.quantization
        return f"{name} {stored}" if same and stored and stored not in name else name


def _state(one: FolderModel) -> tuple[int, int]:
    """Size and time that tell whether a file must be read again; raises OSError."""
    if one.format == "mlx":
        status = (one.path / "config.json").stat()
        return mlx_folder.weight_size(one.path), status.st_mtime_ns
    states = [part.stat() for part in parts(one.path)]
    return sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)


def _look_at(one: FolderModel, state: tuple[int, int]) -> SeenFile:
    """Raises OSError."""
    size, form = state[0], one.format
    beginning = b""
    if form == "gguf":
        with open_regular(one.path) as file:
            beginning = file.read(BEGINNING)
    content = content_of(one.path, beginning)
    try:
        said = _said(one, form, beginning)
    except ModelProblem as problem:
        return SeenFile(state, one.name, content, About(), size, problem.told.stored)
    return SeenFile(state, one.name, content, said, size)


def _said(one: FolderModel, form: ModelFormat, beginning: bytes) -> About:
    return (
        about.of_folder(one.path) if form == "mlx" else about.of_file(one.name, beginning, one.path)
    )

"""Import of files: read on a worker thread, and stored in the database by `intake`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatsChanged
from headstart.chat.preferences import Preferences
from headstart.chat.transfer import intake
from headstart.chat.transfer.intake import ImportJobRun, ImportPlan, IncomingChat, Result
from headstart.core.errors import EnvironmentProblem
from headstart.exchange.report import Report
from headstart.hub.shelf import Shelf
from headstart.storage.worker import Storage

if TYPE_CHECKING:
    # imported with the first import of chats, not at the start
    from headstart.chat.transfer.trees import ModelNames
    from headstart.exchange.tree import ExchangeChat

log = logging.getLogger(__name__)

# seconds until a leftover folder is removed
_OLD = 86_400


class Importing:
    def __init__(
        self,
        storage: Storage,
        shelf: Shelf | None,
        preferences: Preferences,
        broadcast: Broadcast,
        scratch: Path | None = None,
    ) -> None:
        """`scratch`: the folder to unpack archives in."""
        self._storage = storage
        self._shelf = shelf
        self._preferences = preferences
        self._broadcast = broadcast
        self._scratch = scratch

    async def recognised(self, paths: Sequence[Path]) -> set[Path]:
        """The files whose contents are conversations; folders always count."""

        def work() -> set[Path]:
            from headstart.exchange import detect
            from headstart.exchange.material import open_material
            from headstart.exchange.own_format import SUFFIX

            known = set()
            with scratch_folder(self._scratch) as folder:
                for path in paths:
                    if path.is_dir() or path.name.endswith(SUFFIX):
                        known.add(path)
                        continue
                    try:
                        material = open_material(path, folder)
                    except EnvironmentProblem:
                        # the import itself reports the reason
                        continue
                    with contextlib.closing(material):
                        if detect.recognise(material, Report()):
                            known.add(path)
            return known

        return await asyncio.to_thread(work)

    async def plan(self, paths: Sequence[Path], run: ImportJobRun) -> ImportPlan:
        """Plan an import, including the items it would leave out; nothing is changed."""
        report = Report()

        def work() -> ImportPlan:
            from headstart.chat.transfer.trees import ModelNames

            incoming = self._incoming(paths, ModelNames(), report, run)
            return intake.plan(self._storage, incoming, report, run)

        return await asyncio.to_thread(work)

    async def run(self, paths: Sequence[Path], run: ImportJobRun) -> Result:
        """Import the chats; raises EnvironmentProblem if the database cannot be written."""
        report = Report()

        def work() -> Result:
            from headstart.chat.transfer.file_texts import FileTexts

            fill = FileTexts(report, run).filled
            incoming = self._incoming(paths, self._models(), report, run, fill)
            return intake.take(self._storage, incoming, report, run)

        try:
            result = await asyncio.to_thread(work)
        finally:
            self._broadcast.tell(ChatsChanged())
        log.info("imported %d new chats, %d messages", result.new, result.messages)
        return result

    # --- on a worker thread --------------------------------------------------------------

    def _models(self) -> ModelNames:
        from headstart.chat.transfer.trees import ModelNames

        if self._shelf is None:
            return ModelNames()
        return ModelNames(self._shelf.look(self._preferences.current.model_files))

    def _incoming(
        self,
        paths: Sequence[Path],
        models: ModelNames,
        report: Report,
        run: ImportJobRun,
        fill: Callable[[ExchangeChat], ExchangeChat] = lambda one: one,
    ) -> Iterator[IncomingChat]:
        from headstart.chat.transfer.trees import to_tree
        from headstart.exchange import detect, ids
        from headstart.exchange.ids import MARKDOWN

        for found in self._conversations(paths, report, run):
            source = detect.title_of_source(found.source)
            # messages in Markdown have no ids; a mirrored file names its chat
            linear = found.source == MARKDOWN
            also = found.id if linear and ids.is_own(found.id) else ""
            yield IncomingChat(to_tree(fill(found), models), source, linear, also)

    def _conversations(
        self, paths: Sequence[Path], report: Report, run: ImportJobRun
    ) -> Iterator[ExchangeChat]:
        from headstart.exchange import detect
        from headstart.exchange.material import open_material

        with scratch_folder(self._scratch) as folder:
            for path in paths:
                try:
                    material = open_material(path, folder)
                except EnvironmentProblem as problem:
                    report.problem(path.name, problem.told)
                    continue
                try:
                    for kind in detect.recognise(material, report, run.stop.is_set):
                        yield from kind.format.read(material, kind.members, report)
                except EnvironmentProblem as problem:
                    report.problem(path.name, problem.told)
                except Exception:
                    # our bug, but the other chosen files are imported
                    log.exception("a file could not be read")
                    report.skip(path.name, "import-unreadable")
                finally:
                    material.close()


@contextlib.contextmanager
def scratch_folder(inside: Path | None) -> Iterator[Path]:
    """A temporary folder; leftovers of a killed program are removed."""
    if inside is not None:
        inside.mkdir(parents=True, exist_ok=True)
        for path in inside.iterdir():
            with contextlib.suppress(OSError):
                # a folder in use is less than a day old
                if time.time() - path.stat().st_mtime > _OLD:
                    shutil.rmtree(path)
    with tempfile.TemporaryDirectory(dir=inside, ignore_cleanup_errors=True) as folder:
        yield Path(folder)

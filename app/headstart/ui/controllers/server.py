"""The server for other programs: its state, requests, models and key, for its page. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ModelsChanged, ModelsLoaded, ServerChanged
from headstart.chat.serving.serving import KeptPrompts, ServerState, Serving
from headstart.core.errors import EnvironmentProblem
from headstart.core.serving.line import Totals
from headstart.ui.kit.tasks import Tasks

# the list of requests is read again this often while it is on show
LOOK_MS = 250


class ServerController(QObject):
    changed = Signal(ServerState)
    requests = Signal(list, Totals)  # of ServedLine
    models_known = Signal(list, object)  # of ServedModel; why none answers by itself: Told or None
    drafts_known = Signal(list)  # of DraftChoice
    key_known = Signal(str)
    kept_known = Signal(KeptPrompts)
    tested = Signal(str, str, bool)  # the dialect, what was said, whether it worked

    def __init__(self, serving: Serving, tasks: Tasks, broadcast: Broadcast) -> None:
        super().__init__()
        self._serving = serving
        self._tasks = tasks
        self._seen = -1
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look)
        broadcast.on(ServerChanged, lambda _change: self._on_changed())
        broadcast.on(ModelsLoaded, lambda _change: self._on_models())
        broadcast.on(ModelsChanged, lambda _change: self._on_models())

    @property
    def state(self) -> ServerState:
        return self._serving.state

    def watch(self, shown: bool) -> None:
        """Keep the page up to date while it is on show."""
        if not shown:
            self._timer.stop()
            return
        if self._timer.isActive():
            return
        self._timer.start()
        self._seen = -1
        self._look()
        self.changed.emit(self._serving.state)
        self._tasks.spawn(self._list())

    def stop(self, number: int) -> None:
        """End the request of a line."""
        self._serving.log.stop(number)

    def clear(self) -> None:
        """Forget the lines of ended requests."""
        self._serving.log.clear()

    def new_key(self) -> None:
        self._tasks.spawn(self._new_key())

    def test(self, dialect: str) -> None:
        """Send a short request, as a program would; emits `tested`."""
        self._tasks.spawn(self._test(dialect))

    def forget_kept(self) -> None:
        """Remove programs' prompts from the disk."""
        self._tasks.spawn(self._forget())

    def _look(self) -> None:
        version = self._serving.log.version
        if version != self._seen:
            self._seen = version
            self.requests.emit(self._serving.log.lines, self._serving.log.totals)

    def _on_changed(self) -> None:
        self.changed.emit(self._serving.state)
        # another model may answer
        self._on_models()

    def _on_models(self) -> None:
        if self._timer.isActive():
            self._tasks.spawn(self._list())

    async def _list(self) -> None:
        self.key_known.emit(await self._serving.key())
        found = await self._serving.look()
        self.models_known.emit(list(found.chat), found.problem)
        self.drafts_known.emit(await self._serving.drafts())
        self.kept_known.emit(await self._serving.kept())

    async def _new_key(self) -> None:
        self.key_known.emit(await self._serving.new_key())

    async def _forget(self) -> None:
        await self._serving.forget_kept()
        self.kept_known.emit(await self._serving.kept())

    async def _test(self, dialect: str) -> None:
        try:
            said, worked = await self._serving.tried(dialect), True
        except EnvironmentProblem as problem:
            said, worked = problem.told.text, False
        self.tested.emit(dialect, said, worked)

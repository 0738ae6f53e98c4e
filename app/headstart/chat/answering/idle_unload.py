"""Unloads models that have been idle for a while, if the user wants that. On the event loop's
thread."""

from __future__ import annotations

from headstart.chat.answering.loading import Loader
from headstart.chat.background import Background, Timer
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ModelsLoaded, ReplyEnded, ServedEnded
from headstart.chat.preferences import Preferences


class IdleUnload:
    def __init__(
        self,
        loader: Loader,
        preferences: Preferences,
        broadcast: Broadcast,
        background: Background,
    ) -> None:
        self._loader = loader
        self._preferences = preferences
        self._background = background
        self._timer: Timer | None = None
        self._loaded: tuple[str, ...] = ()
        broadcast.on(ModelsLoaded, self._on_loaded)
        broadcast.on(ReplyEnded, lambda _change: self._wait())
        broadcast.on(ServedEnded, lambda _change: self._wait())
        preferences.listen(lambda _settings: self._wait(), "library")

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _on_loaded(self, change: ModelsLoaded) -> None:
        self._loaded = tuple(one.model.key for one in change.models)
        self._wait()

    def _wait(self) -> None:
        self.close()
        library = self._preferences.current.library
        if library.unload_minutes and set(self._loaded) - set(library.kept):
            self._timer = self._background.later(60 * library.unload_minutes, self._unload)

    def _unload(self) -> None:
        if self._loader.writing:
            # the end of the reply restarts the wait
            return
        if self._loader.loading or self._loader.served:
            self._wait()
            return
        kept = self._preferences.current.library.kept
        self._background.run(self._loader.unload([key for key in self._loaded if key not in kept]))

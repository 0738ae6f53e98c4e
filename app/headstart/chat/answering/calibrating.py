"""Measures draft depths on demand; `Calibrated` tells the progress. Event loop's thread."""

from __future__ import annotations

from headstart.chat.answering.drafts import Drafts
from headstart.chat.answering.loading import Loader
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import Calibrated
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import Failed, SpeedCurve
from headstart.core.requests import LoadRequest
from headstart.engine.runner import Runner
from headstart.engine.stream import Stream


class Calibrating:
    """At most one measurement at a time."""

    def __init__(
        self, runner: Runner, loader: Loader, drafts: Drafts, broadcast: Broadcast
    ) -> None:
        self._runner = runner
        self._loader = loader
        self._drafts = drafts
        self._broadcast = broadcast
        self._stream: Stream | None = None
        # a reply does not wait for a measurement, which can be repeated later
        loader.on_request(self.cancel)

    async def run(self, chat_id: str) -> None:
        """Measure the speed of every draft depth for the chat's models."""
        if self._stream is not None:
            return
        wanted = await self._drafts.pair(chat_id)
        if wanted is None:
            raise EnvironmentProblem("server-speculates-itself")
        if wanted.draft is None:
            raise EnvironmentProblem("no-draft-to-calibrate")
        if self._stream is None:
            await self._measure(wanted)

    async def _measure(self, wanted: LoadRequest) -> None:
        stream = self._stream = self._runner.calibrate(wanted)
        curve: SpeedCurve | None = None
        problem: str | None = None
        self._broadcast.tell(Calibrated(wanted.pair, None, running=True))
        try:
            async for event in stream:
                self._loader.follow(event, wanted)
                if isinstance(event, SpeedCurve):
                    curve = event
                    self._broadcast.tell(Calibrated(wanted.pair, curve, running=True))
                elif isinstance(event, Failed):
                    problem = event.told.text
        finally:
            self._stream = None
            self._broadcast.tell(Calibrated(wanted.pair, curve, problem=problem))

    def cancel(self) -> None:
        if self._stream is not None:
            self._stream.cancel()

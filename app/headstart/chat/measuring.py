"""Measuring draft depths on demand, told as `Measured` while it goes on. Event loop's thread."""

from __future__ import annotations

from collections.abc import Callable

from headstart.chat.changes import Change, Measured
from headstart.chat.warming import Warmer
from headstart.core.events import Failed, SpeedCurve
from headstart.core.settings import EngineSettings
from headstart.core.values import ModelRef
from headstart.engine.runner import Runner, Stream


class Measuring:
    """At most one measurement at a time."""

    def __init__(self, runner: Runner, warmer: Warmer, tell: Callable[[Change], None]) -> None:
        self._runner = runner
        self._warmer = warmer
        self._tell = tell
        self._stream: Stream | None = None

    @property
    def running(self) -> bool:
        return self._stream is not None

    async def run(self, model: ModelRef, engine: EngineSettings, draft: ModelRef) -> None:
        stream = self._stream = self._runner.measure(model, engine, draft)
        curve: SpeedCurve | None = None
        problem: str | None = None
        self._tell(Measured(None, running=True))
        try:
            async for event in stream:
                self._warmer.follow(event, model, engine, draft)
                if isinstance(event, SpeedCurve):
                    curve = event
                    self._tell(Measured(curve, running=True))
                elif isinstance(event, Failed):
                    problem = f"{event.message} {event.remedy}".strip()
        finally:
            self._stream = None
            self._tell(Measured(curve, problem=problem))

    def cancel(self) -> None:
        if self._stream is not None:
            self._stream.cancel()

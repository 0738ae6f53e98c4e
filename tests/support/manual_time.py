"""Time that passes when a test says so."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from headstart.chat.background import Background


class _Timer(Struct):
    due: float
    act: Callable[[], object]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class ManualBackground(Background):
    def __init__(self) -> None:
        super().__init__()
        self._passed = 0.0
        self._timers: list[_Timer] = []

    def later(self, seconds: float, act: Callable[[], object]) -> _Timer:
        timer = _Timer(self._passed + seconds, act)
        self._timers.append(timer)
        return timer

    def now(self) -> int:
        return super().now() + round(1000 * self._passed)

    def pass_time(self, seconds: float) -> None:
        """Have everything act that is due by then, in its order."""
        end = self._passed + seconds
        while due := [one for one in self._timers if not one.cancelled and one.due <= end]:
            first = min(due, key=lambda timer: timer.due)
            self._timers.remove(first)
            self._passed = first.due
            first.act()
        self._passed = end

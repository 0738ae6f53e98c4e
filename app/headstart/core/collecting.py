"""Python's collector of cycles, on the main thread only.

It rests from the import of this module until `resume`: the modules and the window that a start
makes stay, and it would look through all of them several times. While a window is open it does not
run by itself: it would run on whichever thread makes the next object, and a widget that is
collected on another thread than Qt's ended the program (PySide calls a destructor that is not
there). The window calls `step` instead, see `ui.kit.collector`.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

# objects made since the last collection, from which on another is worth it, and collections of one
# generation before the next older one is looked at; as Python's own
_WORTH, _OLDER = 700, 10
# the largest share of time that full collections may take
_SHARE = 0.01


def rest() -> None:
    gc.disable()


def resume() -> None:
    """Collect again, without what there is by now: later collections are shorter, too."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def freeze() -> None:
    """Leave out what there is by now; the collector rests, and `Steps` takes its place."""
    gc.disable()
    gc.freeze()


class Steps:
    """Collections at the times that their owner chooses, all on its thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # the time from which on a full collection may be made
        self._next_full = clock()

    def step(self) -> None:
        """Collect the generations that are due."""
        made, young, old = gc.get_count()
        if made < _WORTH:
            return
        began = self._clock()
        if young <= _OLDER:
            gc.collect(0)
        elif old <= _OLDER or began < self._next_full:
            gc.collect(1)
        else:
            gc.collect(2)
            took = self._clock() - began
            self._next_full = began + took + took / _SHARE


rest()

"""Limits on compiling and rendering chat templates: time, steps and memory.

Everything in a template that can loop or grow is charged in this module first. The clock is the
thread's processor time, so that a busy computer stops no template. Memory is the growth of the
process since the rendering began, checked after every few megabytes that a template makes: values
made and dropped again cost nothing.
"""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Iterator

import jinja2
import psutil

# steps of loops in one rendering; a long chat takes some ten thousand
MOST_STEPS = 3_000_000
# processor time, for one rendering or for all trial renderings that find a template's needs
MOST_SECONDS = 1.0
# extra steps and time for each message: some templates loop over all earlier ones at each
STEPS_EACH, SECONDS_EACH = 5_000, 0.005
# bytes that a rendering may hold at once, and bytes of one value
MOST_BYTES, LARGEST = 90_000_000, 40_000_000
_LOOK_EACH = 6_000_000
# seconds on the quick clock between readings of the slow one
_CLOCK_EACH = 0.02


class TooMuch(jinja2.TemplateError):
    """The template takes too long, or makes too much."""


class _State(threading.local):
    depth = 0
    steps = 0
    # bytes made so far, bytes made at the last check of memory, and memory at the start
    made = looked = began_with = 0
    # the next reading of the slow clock, on the quick one; the deadline, on the slow one
    soon = ends = 0.0


_state = _State()


@contextlib.contextmanager
def allowance(messages: int = 0) -> Iterator[None]:
    """Grant time and memory for all rendering and compiling inside; a nested allowance adds
    none."""
    if not _state.depth:
        _state.ends = time.thread_time() + MOST_SECONDS + messages * SECONDS_EACH
        _state.soon = 0.0
        _state.made = _state.looked = 0
        _state.began_with = _resident()
    _state.depth += 1
    try:
        yield
    finally:
        _state.depth -= 1


@contextlib.contextmanager
def counting(messages: int = 0) -> Iterator[None]:
    """Grant time, memory and steps for rendering `messages` messages, or for compiling a
    template."""
    with allowance(messages):
        _state.steps = MOST_STEPS + messages * STEPS_EACH
        yield


def tick() -> None:
    """Raises TooMuch when the time is over. Cheap: every comparison calls it."""
    if time.perf_counter() > _state.soon:
        _read_clock()


def step(count: int) -> None:
    _state.steps -= count
    if _state.steps < 0:
        raise TooMuch("it loops for too long")
    tick()


def charge(size: int) -> None:
    """Charge bytes that are about to be made, or were just made."""
    tick()
    if size > LARGEST:
        raise TooMuch("it makes too much at once")
    _state.made += size
    if _state.made - _state.looked > _LOOK_EACH:
        _state.looked = _state.made
        # other threads may grow the process too, so a template that made less than the limit is
        # safe
        if _state.made > MOST_BYTES and _resident() - _state.began_with + size > MOST_BYTES:
            raise TooMuch("it makes too much")


def _read_clock() -> None:
    if time.thread_time() > _state.ends:
        raise TooMuch("it takes too long")
    _state.soon = time.perf_counter() + _CLOCK_EACH


@functools.cache
def _process() -> psutil.Process:
    return psutil.Process()


def _resident() -> int:
    found: int = _process().memory_info().rss
    return found

"""Limits of chat templates while they are compiled and rendered: time, steps and memory.

Everything in a template that can loop or grow asks here first. The clock is the processor time of
the thread, so that a busy computer stops nothing. Memory is what the process has grown by since the
rendering began, looked at whenever a template has made some megabytes: what it made and dropped
again costs nothing.
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
# of processor time, for one rendering or for all that are made to find what a template wants
MOST_SECONDS = 1.0
# more of both for each message: some templates go through all earlier ones at each
STEPS_EACH, SECONDS_EACH = 5_000, 0.005
# bytes that a rendering may have at once, and that one value may have
MOST_BYTES, LARGEST = 90_000_000, 40_000_000
_LOOK_EACH = 6_000_000
# how often the slow clock is read, by the quick one
_CLOCK_EACH = 0.02


class TooMuch(jinja2.TemplateError):
    """The template loops for too long, or makes too much."""


class _State(threading.local):
    depth = 0
    steps = 0
    # bytes made so far, and when the memory was looked at last
    made = looked = began_with = 0
    # by the quick clock: when the slow one is read again; by the slow one: the end
    soon = ends = 0.0


_state = _State()


@contextlib.contextmanager
def allowance(messages: int = 0) -> Iterator[None]:
    """Time and memory for all that is rendered and compiled within: an inner one gets no more."""
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
    """One rendering of so many messages, or compiling one template: its steps too."""
    with allowance(messages):
        _state.steps = MOST_STEPS + messages * STEPS_EACH
        yield


def tick() -> None:
    """Raises TooMuch where the time is over. Cheap: it is asked at every comparison."""
    if time.perf_counter() > _state.soon:
        _read_clock()


def step(count: int) -> None:
    _state.steps -= count
    if _state.steps < 0:
        raise TooMuch("it loops for too long")
    tick()


def charge(size: int) -> None:
    """Charge bytes that are about to be made, or were."""
    tick()
    if size > LARGEST:
        raise TooMuch("it makes too much at once")
    _state.made += size
    if _state.made - _state.looked > _LOOK_EACH:
        _state.looked = _state.made
        # another thread may grow too: a template that made less than the limit cannot hold it
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

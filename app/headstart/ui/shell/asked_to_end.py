"""Signals that ask the program to end, from the system or by Ctrl+C: it ends as when its window is
closed, and keeps the text written so far."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from types import FrameType

from PySide6.QtCore import QSocketNotifier

_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


@contextlib.contextmanager
def when_asked_to_end(end: Callable[[], object]) -> Iterator[None]:
    """Call `end` on such a signal; a second one ends the program at once.

    The event loop calls it, woken by the signal's number through a socket. Python's own handlers
    run between any two steps of the main thread, while it may hold a lock that `end` needs. Windows
    closes windows instead.
    """
    if sys.platform == "win32":
        yield
        return
    woken, waking = socket.socketpair()
    for end_of in (woken, waking):
        end_of.setblocking(False)
    notifier = QSocketNotifier(woken.fileno(), QSocketNotifier.Type.Read)

    def on_signal(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)

    def on_woken() -> None:
        # Python's other signals wake it too
        if any(number in before for number in woken.recv(64)):
            end()

    taken = {getattr(signal, name): signal.getsignal(getattr(signal, name)) for name in _SIGNALS}
    # ignored signals, as under nohup, stay ignored
    before = {one: kept for one, kept in taken.items() if kept != signal.SIG_IGN}
    notifier.activated.connect(on_woken)
    waker = signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    try:
        for one in before:
            signal.signal(one, on_signal)
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        signal.set_wakeup_fd(waker)
        notifier.setEnabled(False)
        woken.close()
        waking.close()

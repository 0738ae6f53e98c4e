"""The number of files that this process may have open, sockets included. Called at every start.

Desktops allow 1,024 by default and far more on request: a model in pieces, databases, a window and
a server's connections share them. Windows has no such limit.
"""

from __future__ import annotations

import contextlib

# enough for everything; children inherit it, and some count up to it
_WANTED = 8192


def raise_limit() -> None:
    """Raise the limit as far as the system lets a user, up to what is wanted."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED if hard == resource.RLIM_INFINITY else min(_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        # macOS refuses more than a limit of its own
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def limit() -> int | None:
    """The limit as it is now; None where there is none."""
    try:
        import resource
    except ImportError:
        return None
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft

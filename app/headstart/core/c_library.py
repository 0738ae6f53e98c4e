"""The C library that this process runs on, for functions that Python does not offer."""

from __future__ import annotations

import ctypes
import sys


def c_library() -> ctypes.CDLL:
    """A new object at each call, so that types given to its functions are the caller's own. Raises
    OSError; a function that the system lacks raises AttributeError."""
    # Windows looks a function up in one library, never in all that are open
    return ctypes.CDLL("ucrtbase.dll" if sys.platform == "win32" else None)

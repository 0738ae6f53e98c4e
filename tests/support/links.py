"""Symbolic links, which most accounts of Windows may not make."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

# Windows' number for a privilege that is not held
_NOT_HELD = 1314
_TESTS = str(Path(__file__).resolve().parents[1])


def skip_without_links() -> None:
    """From now on a test that makes a link itself is skipped where this account may make none. The
    program's own links, and those of the test's tools, are refused as ever."""
    if sys.platform != "win32":
        return
    make = os.symlink

    def made(*arguments: Any, **named: Any) -> None:
        try:
            make(*arguments, **named)
        except OSError as error:
            if error.winerror == _NOT_HELD and asked_by_a_test(inspect.currentframe()):
                pytest.skip("this account may make no symbolic links")
            raise

    os.symlink = made


def asked_by_a_test(frame: FrameType | None) -> bool:
    """True if the first frame outside this file and pathlib is of a file of the tests."""
    while frame is not None and _passed_through(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return frame is not None and os.path.realpath(frame.f_code.co_filename).startswith(_TESTS)


def _passed_through(module: str) -> bool:
    return module == __name__ or module.partition(".")[0] == "pathlib"

"""Symbolic links, which most accounts of Windows may not make."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

# Windows' number for a privilege that is not held
_NOT_HELD = 1314


def skip_without_links() -> None:
    """From now on a test that makes a link is skipped where this account may make none."""
    if sys.platform != "win32":
        return
    make = os.symlink

    def made(*arguments: Any, **named: Any) -> None:
        try:
            make(*arguments, **named)
        except OSError as error:
            if error.winerror == _NOT_HELD:
                pytest.skip("this account may make no symbolic links")
            raise

    os.symlink = made

"""The room on the disks of a test."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest


def free_disk(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Have so many bytes be free on every disk."""
    usage = SimpleNamespace(total=size, used=0, free=size)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)

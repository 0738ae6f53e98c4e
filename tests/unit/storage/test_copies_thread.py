"""A database opens also where there is no memory for the thread that copies it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from headstart.storage.rescue.copies import DailyCopies


@pytest.mark.logs("no copies of the database are made")
def test_without_a_thread_no_copies_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as short:
        short.setattr(threading.Thread, "start", refuse)
        copies = DailyCopies(tmp_path / "headstart.db", tmp_path / "backups")
    copies.close()
    assert list(tmp_path.iterdir()) == []

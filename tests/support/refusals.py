"""A disk that refuses one write: the database's or a file's."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest
from sqlalchemy import event

from headstart.assembly import App
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.adapters.state_file import StateFile

_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


class Refusals:
    """Counts the writes of a program, and refuses those with the numbers in `refused` (from 1
    on)."""

    def __init__(self, *refused: int) -> None:
        self.count = 0
        self.refused = set(refused)
        # everything, while it is full
        self.full = False
        self.seen: list[str] = []

    def watch(self, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
        """Watch a program from now on."""
        event.listen(app.storage.engine, "before_cursor_execute", self._on_statement)
        for kind in (SettingsFile, StateFile):
            self._watch_file(kind, monkeypatch)

    def _watch_file(self, kind: type[Any], monkeypatch: pytest.MonkeyPatch) -> None:
        save = kind.save

        def watched(file: Any, value: Any) -> None:
            self._tick(kind.__name__)
            save(file, value)

        monkeypatch.setattr(kind, "save", watched)

    def _on_statement(self, *given: Any) -> None:
        statement = str(given[2]).lstrip()
        # the index of words is made again at will
        if statement.upper().startswith(_WRITES) and "message_search" not in statement:
            self._tick(" ".join(statement.split())[:60])

    def _tick(self, what: str) -> None:
        self.count += 1
        self.seen.append(what)
        if self.full or self.count in self.refused:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

"""Databases of these tests are closed when their test ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine

from headstart.storage import database


@pytest.fixture(autouse=True)
def closed_databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Python 3.13 warns of connections that are collected open, in whichever test runs then. Those
    of storage threads are closed by their owners."""
    here, found = threading.get_ident(), list[Engine]()

    def create(*given: object, **named: object) -> Engine:
        engine: Engine = create_engine(*given, **named)  # type: ignore[call-overload]
        if threading.get_ident() == here:
            found.append(engine)
        return engine

    monkeypatch.setattr(database, "create_engine", create)
    yield
    for engine in found:
        engine.dispose()

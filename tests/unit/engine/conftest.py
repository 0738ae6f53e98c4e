"""A scripted server, and somebody who asks it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import ScriptedServer
from tests.unit.engine.asking import Asking


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def asking() -> Iterator[Asking]:
    asking = Asking()
    yield asking
    asking.generator.close()

"""A scripted server, and somebody who asks it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.asking import Asking
from tests.support.scripted_server import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def asking() -> Iterator[Asking]:
    asking = Asking()
    yield asking
    asking.session.close()

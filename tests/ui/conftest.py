"""A hub of our own for the page about models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.core.models.ref import ModelRef
from tests.support.hub_server import HubServer
from tests.support.models_page import serve


@pytest.fixture(autouse=True)
def quick(shallow_starter: None) -> None:
    """What a window shows does not depend on what a reply says."""


@pytest.fixture
def hub(starter: ModelRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    yield from serve(starter, tmp_path, monkeypatch)

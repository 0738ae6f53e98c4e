"""Fixtures that several modules of whole-engine tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.core.model_ref import ModelRef
from headstart.engine import local, prefill
from tests.models.tiny_mlx import FAMILIES, make_tiny_mlx
from tests.support.prefix_engine import PrefixEngine, free_disk


@pytest.fixture
def plenty_of_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine for tests may have a small disk; what happens then has its own tests."""
    free_disk(monkeypatch, 1 << 40)


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may hold a user up for milliseconds takes longer on a machine that is busy."""
    monkeypatch.setattr(prefill, "KEEP_SECONDS", 2.0)
    monkeypatch.setattr(local, "SWITCH_SECONDS", 2.0)
    monkeypatch.setattr(local, "QUIT_SECONDS", 10.0)


@pytest.fixture
def engine(shallow: ModelRef, tmp_path: Path) -> Iterator[PrefixEngine]:
    engine = PrefixEngine(tmp_path, shallow)
    engine.chat("c")
    yield engine
    engine.stop()


@pytest.fixture(scope="session")
def folders(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("mlx")
    made = {name: make_tiny_mlx(name, starter.path, root / name) for name in FAMILIES}
    made |= {
        f"{name} draft": make_tiny_mlx(name, starter.path, root / f"{name}-draft", layers=3)
        for name in FAMILIES
    }
    return made

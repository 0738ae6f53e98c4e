"""Fixtures that several modules of whole-engine tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.core.models.ref import ModelRef
from headstart.engine import local, prefill
from headstart.engine.loading import models
from tests.models.drafts import drop_layers, other_vocabulary, renamed_tokens
from tests.support.knowledge_window import manuals
from tests.support.prefix_engine import PrefixEngine
from tests.support.scripted_server import ScriptedServer


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may hold a user up for milliseconds takes longer on a machine that is busy."""
    monkeypatch.setattr(prefill, "KEEP_SECONDS", 2.0)
    monkeypatch.setattr(models, "SWITCH_SECONDS", 2.0)
    monkeypatch.setattr(local, "QUIT_SECONDS", 10.0)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server with models, whose answers are scripted."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of manuals."""
    return manuals(tmp_path)


@pytest.fixture
def engine(shallow: ModelRef, tmp_path: Path) -> Iterator[PrefixEngine]:
    engine = PrefixEngine(tmp_path, shallow)
    engine.chat("c")
    yield engine
    engine.stop()


@pytest.fixture(scope="session")
def drafts(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModelRef]:
    """For the starter model: with its vocabulary, another one, and nearly its own."""
    folder = tmp_path_factory.mktemp("drafts")
    # a file as large as the target's is no draft: these lose a layer too
    near = drop_layers(starter.path, folder / "near-1.gguf", [12])
    paths = {
        "layers": drop_layers(starter.path, folder / "layers.gguf", [12, 18]),
        "other": other_vocabulary(starter.path, folder / "other.gguf"),
        "near": renamed_tokens(near, folder / "near.gguf", range(260, 300)),
    }
    return {name: ModelRef(path, path.stem, path.stat().st_size) for name, path in paths.items()}


@pytest.fixture(scope="session")
def folders(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    # where there is no MLX its tests are skipped before they ask for this
    from tests.models.tiny_mlx import FAMILIES, make_tiny_mlx

    root = tmp_path_factory.mktemp("mlx")
    made = {name: make_tiny_mlx(name, starter.path, root / name) for name in FAMILIES}
    made |= {
        f"{name} draft": make_tiny_mlx(name, starter.path, root / f"{name}-draft", layers=3)
        for name in FAMILIES
    }
    return made

"""A hub of our own with a few repositories, and a queue over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.download_desk import MODEL, OTHER, REPO, SMALL, Desk
from tests.support.hub_server import HubServer, Repo


@pytest.fixture
def hub() -> Iterator[HubServer]:
    server = HubServer(
        {
            REPO: Repo({"model-Q4_K_M.gguf": MODEL}),
            "maker/parts-GGUF": Repo(
                {
                    "big-Q4_K_M-00001-of-00002.gguf": MODEL,
                    "big-Q4_K_M-00002-of-00002.gguf": OTHER,
                }
            ),
            "maker/gated-GGUF": Repo({"m-Q8_0.gguf": OTHER}, token="hf_right", gated=True),
            "maker/folder-4bit": Repo(
                {"config.json": SMALL, "model.safetensors": OTHER, "tokenizer.json": b"{}"},
                {"tags": ["mlx"], "library_name": "mlx"},
            ),
        }
    )
    yield server
    server.close()


@pytest.fixture
def desk(hub: HubServer, tmp_path: Path) -> Iterator[Desk]:
    found = Desk(hub, tmp_path)
    yield found
    found.queue.close()

"""The page about models, driven as a user does, and a hub of our own that it asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from headstart.assembly import App
from headstart.core.models.ref import ModelRef
from headstart.ui.models.page import ModelsPage
from headstart.ui.models.results import ITEM
from headstart.ui.shell.notices import Banner, Toast
from tests.support.gguf_files import make_gguf
from tests.support.hub_server import HubServer, Repo

REPO = "maker/Small-1B-GGUF"
# small weights, but no computer has room for its keys and values
WIDE = {
    "llama.block_count": 80,
    "llama.embedding_length": 65_536,
    "llama.attention.head_count": 64,
    "llama.attention.head_count_kv": 64,
}


def serve(
    starter: ModelRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[HubServer]:
    """A hub with a small model, one that is too large, and a gated one; until the test ends."""
    weights = starter.path.read_bytes()
    gguf = {"total": 1_000_000_000, "architecture": "llama", "context_length": 8192}
    server = HubServer(
        {
            # other bytes than those of the starter model, of which nothing is downloaded
            REPO: Repo({"Small-1B-Q4_1.gguf": weights + bytes(64)}, {"gguf": gguf}),
            "maker/Large-70B-GGUF": Repo(
                {"Large-70B-Q4_K_M.gguf": make_gguf(WIDE, weights=1 << 20)},
                {"gguf": {"total": 70_000_000_000}},
            ),
            "maker/Gated-GGUF": Repo({"g-Q8_0.gguf": make_gguf()}, token="hf_1", gated=True),
        }
    )
    address = f"{server.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address)
    monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    yield server
    server.close()


def open_page(app: App) -> ModelsPage:
    app.window.commands.run("models.show")
    page = app.window.pages.models
    assert page is not None
    return page


def banner_of(app: App) -> Banner:
    """Banner of the page that is shown in the place of the chat."""
    assert app.window.pages.place is not None
    return app.window.pages.place.banner


def toast_of(app: App) -> Toast:
    assert app.window.pages.place is not None
    return app.window.pages.place.toast


async def search(app: App, words: str) -> list[str]:
    view = open_page(app).discover
    view.row.field.setText(words)
    QTest.keyClick(view.row.field, Qt.Key.Key_Return)
    await app.controllers.settle()
    rows = range(view.results.rowCount())
    return [view.results.index(row).data(ITEM).name for row in rows]

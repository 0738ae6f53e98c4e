"""From the first start to an answer of a good model, as a new user goes: clicks are counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import constants
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from headstart.core.chats.values import MessageStatus
from headstart.core.models.recommended import Recommended
from headstart.core.models.ref import ModelRef
from tests.conftest import OpenApp, until
from tests.support.driver import reply_done, use_sampling
from tests.support.hub_server import HubServer, Repo

MODEL, DRAFT = "maker/Good-1B-GGUF", "maker/Draft-135M-GGUF"
GOOD = Recommended(
    "Good 1B", "general", 1, "1B", "apache-2.0", MODEL, ("Good-1B-Q4_1.gguf",), 0.1, 8192,
    draft_repo=DRAFT, draft_patterns=("Draft-135M-Q4_1.gguf",),
)  # fmt: skip


async def test_two_clicks_lead_to_a_good_answer(
    running: OpenApp, starter: ModelRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = starter.path.read_bytes()
    facts = {"gguf": {"total": 1_000_000_000, "architecture": "llama", "context_length": 8192}}
    hub = HubServer(
        {
            MODEL: Repo({"Good-1B-Q4_1.gguf": weights + bytes(64)}, facts),
            DRAFT: Repo({"Draft-135M-Q4_1.gguf": weights + bytes(128)}, facts),
        }
    )
    address = f"{hub.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address)
    monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("headstart.hub.recommended.read_list", lambda: (GOOD,))
    clicks = 0

    def click(widget: QWidget) -> None:
        nonlocal clicks
        clicks += 1
        assert widget.isVisible()
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton)

    async with running() as app:
        use_sampling(app)
        window, note = app.window, app.window.note
        app.controllers.wake()
        await until(lambda: note.isVisible() and bool(note.links))
        # nothing is asked of the network before the user wants it
        assert hub.requests == []
        assert note.links[0].text() == "Get Good 1B, 0.1 GB"
        click(note.links[0])
        # it is there by itself when it has come, in this chat and in new ones
        await until(lambda: "Good 1B" in window.header.pill.toolTip())
        click(window.greeting.cards[0])
        await until(lambda: app.controllers.reply.writing)
        reply = await reply_done(app)
        assert reply.status is not MessageStatus.FAILED
        assert reply.text
        assert reply.author == "Good 1B"
        # its draft came with it
        names = {one.ref.path.name for one in await app.services.installed.look()}
        assert {"Good-1B-Q4_1.gguf", "Draft-135M-Q4_1.gguf"} <= names
    hub.close()
    assert clicks == 2

"""Databases as every schema so far had them still open, with everything that was in them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from headstart.core.chats.parts import Origin, OriginRun, ReasoningPart, TextPart
from headstart.core.chats.search import Filters
from headstart.core.chats.values import MessageStatus
from headstart.storage import schema
from headstart.storage.worker import Storage

FOLDER = Path(__file__).parents[2] / "fixtures" / "databases"
CHAT = "a" * 32


def test_every_schema_but_the_newest_has_a_database() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.sql")) == list(schema.REVISIONS[:-1])


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.sql")), ids=lambda path: path.stem)
async def test_a_database_of_an_older_schema_opens_whole(path: Path, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "headstart.db")
    connection.executescript(path.read_text(encoding="utf-8"))
    connection.close()
    storage = Storage(tmp_path / "headstart.db", tmp_path / "backups")
    store = await storage.ready()
    assert store.notices == ()
    assert store.interrupted == 1
    chats = await storage.run(lambda store: store.chats.summaries())
    # what had been deleted is gone
    assert [(chat.title, chat.pinned) for chat in chats] == [("Rivers", True)]
    chat = await storage.run(lambda store: store.chats.get(CHAT))
    assert chat is not None
    assert chat.options.system_prompt == "Be brief."
    assert chat.model == "/models/harbour.gguf"
    if path.stem >= "0007":
        assert (chat.folder, chat.tags) == ("Travel/Rivers", ("water", "maps"))
        tree = await storage.run(lambda store: store.transfers.read(CHAT))
        assert tree is not None
        assert tree.extra == '{"source": "lmstudio"}'
    # what was there before is found too
    while await storage.run(lambda store: store.search.build()):
        pass
    found = await storage.run(lambda store: store.search.find("rivers", Filters(), 9))
    assert len(found) >= 2
    branch = await storage.run(lambda store: store.messages.branch(CHAT))
    question, answer, further, cut = branch
    assert question.text == "Tell me about rivers."
    assert answer.parts[1] == TextPart("Rivers flow.", (OriginRun(12, Origin.DRAFT),))
    assert isinstance(answer.parts[0], ReasoningPart)
    assert (answer.version, answer.versions, answer.author) == (1, 2, "harbour")
    assert answer.stats is not None
    assert answer.stats.generated_tokens == 30
    has_drafts = path.stem >= "0002"
    assert (answer.stats.speculation is not None) == has_drafts
    assert further.text == "And lakes?"
    assert (cut.text, cut.status) == ("Lakes rest.", MessageStatus.INTERRUPTED)
    await storage.run(lambda store: store.messages.show_version(answer.id, 1))
    other = (await storage.run(lambda store: store.messages.branch(CHAT)))[1]
    assert other.text == "Rivers — 河 — flow"
    assert other.author == "harbour-7b on 192.168.1.5:8080"
    storage.close()
    # a copy was made before anything was changed
    copies = list((tmp_path / "backups").iterdir())
    assert len(copies) >= 1

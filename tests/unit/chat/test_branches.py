"""Reading chats in pages, and writing them out, over a real database."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.core.errors import EnvironmentProblem
from tests.support.answers import Answer, Talk


async def test_a_branch_is_read_in_pages_from_its_end(talk: Talk, chat: str) -> None:
    for number in range(4):
        await talk.say(chat, f"Question {number}")
    page = await talk.branches.page(chat, count=3)
    assert [message.text for message in page.messages][1] == "Question 3"
    assert page.earlier == 5
    before = await talk.branches.page(chat, page.messages[0].id, count=3)
    assert before.earlier == 2
    assert before.messages[-1].id != page.messages[0].id
    whole = await talk.branches.whole(chat)
    assert whole[2:5] == before.messages
    assert await talk.branches.message(chat, whole[0].id) == whole[0]
    assert await talk.branches.message(chat, "nobody") is None


async def test_a_chat_is_exported_as_it_is_shown(talk: Talk, chat: str, tmp_path: Path) -> None:
    talk.answerer.answers = [Answer(["Rivers *flow*."])]
    await talk.say(chat, "Tell me about rivers.")
    path = tmp_path / "rivers.md"
    await talk.export(chat, path)
    text = path.read_text(encoding="utf-8")
    assert "Tell me about rivers." in text
    assert "Rivers *flow*." in text
    with pytest.raises(EnvironmentProblem, match="could not be written"):
        await talk.export(chat, tmp_path / "nowhere" / "rivers.md")
    assert not (tmp_path / "nowhere").exists()

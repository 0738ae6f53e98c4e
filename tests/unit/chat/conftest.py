"""The verbs over a real database and answers from a queue."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.answers import Talk


@pytest.fixture
def talk(loop: asyncio.AbstractEventLoop, tmp_path: Path) -> Iterator[Talk]:
    async def make() -> Talk:
        return Talk(tmp_path)

    talk = loop.run_until_complete(make())
    yield talk
    loop.run_until_complete(talk.close())


@pytest.fixture
def chat(talk: Talk) -> str:
    """A chat that was begun, and has no message yet."""
    return talk.databases.begin().id

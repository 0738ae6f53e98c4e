"""Servers that answer without an end are left, with a sentence and without much memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.endless_child import all_asked, asked
from tests.support.endless_server import KINDS, EndlessServer, endless_server

pytestmark = pytest.mark.logs("a request failed")
# those that take some seconds, because a reply may be as long
LONG = {
    "events without an end", "text", "text of other planes", "reasoning", "calls of tools",
    "nothing", "notes", "empty lines", "packed twice", "tiny pieces", "a packed stream",
}  # fmt: skip


@pytest.fixture(scope="module")
def endless() -> Iterator[EndlessServer]:
    with endless_server() as server:
        yield server


@pytest.mark.parametrize("way", ["list", "reply"])
def test_it_is_left_with_a_sentence(endless: EndlessServer, way: str) -> None:
    kinds = [kind for kind in KINDS if kind not in LONG]
    assert len(kinds) > 30
    for kind in kinds:
        said = asked(endless, kind, way == "list")
        assert said.startswith("127.0.0.1"), (kind, said)
        assert any(words in said for words in ("more than a reply", "not as a server", "failed")), (
            kind,
            said,
        )


@pytest.mark.proof
def test_no_answer_takes_much_memory(endless: EndlessServer) -> None:
    for one in all_asked(endless):
        assert one.megabytes <= 64, one
        assert one.said.startswith("127.0.0.1"), one

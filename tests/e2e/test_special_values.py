"""-1 for a limit and for a seed, as clients of LM Studio and llama.cpp send it, and its effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import keyring
import pytest

from headstart.core.settings.schema import SamplingChoice
from tests.conftest import OpenApp
from tests.support.keyrings import MemoryKeyring
from tests.support.program import Plain, beside, opened

RIVERS = [{"role": "user", "content": "Name three rivers."}]
# by path: a body, and the name of its limit
WAYS: dict[str, tuple[dict[str, Any], str]] = {
    "/v1/chat/completions": ({"messages": RIVERS}, "max_tokens"),
    "/api/v0/chat/completions": ({"messages": RIVERS}, "n_predict"),
    "/v1/responses": ({"input": "Name three rivers."}, "max_output_tokens"),
    "/v1/messages": ({"messages": RIVERS}, "max_tokens"),
}


@pytest.fixture(autouse=True)
def kept_keys() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


def _end(found: dict[str, Any]) -> str:
    """The reason of the end, in any dialect."""
    if "choices" in found:
        return str(found["choices"][0]["finish_reason"])
    return str(found.get("stop_reason") or found["status"])


@pytest.mark.words
async def test_no_limit_and_another_seed(running: OpenApp) -> None:
    async with running() as app:
        # limits of the user's own chats are not those of a program that names none
        app.services.preferences.update(sampling=SamplingChoice(max_tokens=2, seed=7))
        program = Plain(*await opened(app))

        def ask() -> None:
            for path, (body, longest) in WAYS.items():
                status, found = program.post(path, body | {longest: -1, "temperature": 0})
                assert status == 200, found
                assert _end(found) in ("stop", "end_turn", "completed"), (path, found)
                status, found = program.post(path, body | {longest: 0})
                assert status == 400, (path, found)
                assert "-1 for no limit" in found["error"]["message"]
            body = WAYS["/v1/chat/completions"][0] | {"temperature": 1.5, "max_tokens": 16}
            texts: dict[int, set[str]] = {-1: set(), 5: set()}
            for seed, seen in texts.items():
                for _ in range(3):
                    status, found = program.post("/v1/chat/completions", body | {"seed": seed})
                    assert status == 200, found
                    seen.add(found["choices"][0]["message"]["content"])
            assert [len(seen) for seen in texts.values()] == [3, 1]
            for more in ({"frequency_penalty": 2.0}, {"logit_bias": {"19556": -100}}):
                assert program.post("/v1/chat/completions", body | more)[0] == 400

        await beside(ask)

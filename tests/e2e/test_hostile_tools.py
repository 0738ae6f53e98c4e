"""Tools and formats that are made to take time, through the doors of programs, of tool servers and
of the window: an answer, or one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import keyring
import pytest

from tests.conftest import OpenApp
from tests.support.hostile_schemas import DEAR, TOO_LARGE
from tests.support.keyrings import MemoryKeyring
from tests.support.program import Plain, beside, opened

HELLO = [{"role": "user", "content": "Hello"}]


@pytest.fixture(autouse=True)
def kept_keys() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


def _bodies(schema: Any) -> dict[str, tuple[str, Any]]:
    """Path and body of each way to send a schema, by the field that an error names."""
    function = {"name": "look", "description": "Looks.", "parameters": schema}
    own = {"name": "look", "description": "Looks.", "input_schema": schema}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    text = {"format": {"type": "json_schema", "name": "answer", "schema": schema}}
    chat, messages, responses = "/v1/chat/completions", "/v1/messages", "/v1/responses"
    return {
        "chat tools": (chat, {"messages": HELLO, "tools": [{"function": function}]}),
        "chat format": (chat, {"messages": HELLO, "response_format": form}),
        "messages tools": (messages, {"messages": HELLO, "tools": [own]}),
        "messages format": (messages, {"messages": HELLO, "output_config": text}),
        "responses tools": (
            responses, {"input": "Hello", "tools": [{"type": "function", **function}]},
        ),
        "responses format": (responses, {"input": "Hello", "text": text}),
    }  # fmt: skip


async def test_too_large_schemas_are_refused_in_each_dialect(running: OpenApp) -> None:
    async with running() as app:
        program = Plain(*await opened(app))
        for name, schema in TOO_LARGE.items():
            for way, (path, body) in _bodies(schema).items():
                asked = partial(program.post, path, {"max_tokens": 1, **body})
                status, found = await beside(asked)
                said = found["error"]["message"]
                assert status == 400, (name, way, said)
                # the reader of bodies refuses the deepest before anybody looks at a schema
                assert "more than" in said or "nested too deeply" in said, (name, way)
                if "tools" in way and "more than" in said:
                    assert "'look'" in said
        many = [{"function": {"name": f"f{n}", "parameters": DEAR["keys"]}} for n in range(13)]
        body = {"messages": HELLO, "tools": many, "max_tokens": 1}
        status, found = await beside(partial(program.post, "/v1/chat/completions", body))
        assert status == 400
        assert "all tools" in found["error"]["message"]


@pytest.mark.logs("a request failed: ")
@pytest.mark.parametrize("name", ["any of", "required", "multiples", "length"])
async def test_dear_schemas_are_answered(running: OpenApp, name: str) -> None:
    """A tool that no grammar holds can be called, a format that has none is refused in words."""
    async with running() as app:
        program = Plain(*await opened(app))
        for way, (path, body) in _bodies(DEAR[name]).items():
            limits = {"max_tokens": 2, "max_output_tokens": 2}
            asked = partial(program.post, path, {**limits, **body})
            status, found = await beside(asked)
            if status == 400:
                said = found["error"]["message"]
                assert "format" in way or "too long" in said, (way, said)
                assert "format" not in way or "held to this format" in said, (way, said)
            else:
                assert status == 200, (way, found)

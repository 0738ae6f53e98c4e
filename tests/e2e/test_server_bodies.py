"""Bodies with too much in them, and numbers that nothing can hold: declined with a sentence, in the
form of the dialect, while others are served."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import keyring
import pytest

from tests.conftest import OpenApp
from tests.support.keyrings import MemoryKeyring
from tests.support.program import Plain, beside, opened

HELLO: Any = [{"role": "user", "content": "Say hello."}]
BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"messages": HELLO, "max_tokens": 1},
    "/v1/messages": {"messages": HELLO, "max_tokens": 1},
    "/v1/responses": {"input": "Say hello.", "max_output_tokens": 1},
    "/v1/completions": {"prompt": "Say hello.", "max_tokens": 1},
}
FAT: dict[str, tuple[int, str, Callable[[], bytes]]] = {
    "lists": (413, "objects, lists and keys", lambda: b"[" + b"[]," * 3_000_000 + b"[]]"),
    "objects": (413, "objects, lists and keys", lambda: b"[" + b'{"":{}},' * 900_000 + b"{}]"),
    "numbers": (413, "objects, lists and keys", lambda: b"[" + b"1," * 5_000_000 + b"1]"),
    "emoji": (413, "ASCII", lambda: ('"' + "x" * 40_000_000 + '😀"').encode()),
    "levels": (400, "nested", lambda: b"[" * 401 + b"]" * 401),
    "digits": (400, "digits", lambda: b"9" * 20_000),
    "nothing": (400, "JSON", lambda: b"nope"),
}
# as they are written in a body
NUMBERS = [
    "9" * 400, "-" + "9" * 400, "9" * 5_000, "-" + "9" * 5_000, "1e999", "-1e999",
    "9" * 25, "0." + "1" * 3_000, "NaN", "Infinity", "-Infinity",
]  # fmt: skip
# the limits of a reply's length are left out: some of these would be very long
FIELDS = ("temperature", "top_k", "min_p", "presence_penalty", "seed", "n", "other")


@pytest.fixture(autouse=True)
def kept_keys() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


def error_of(path: str, data: bytes) -> Any:
    """The error of an answer, in the form of its dialect."""
    found = json.loads(data)
    if path == "/v1/messages":
        assert found["type"] == "error"
    else:
        assert {"message", "type", "param", "code"} == found["error"].keys()
    assert found["error"]["message"].endswith(".")
    return found["error"]


async def test_a_fat_body_is_declined_in_every_dialect(running: OpenApp) -> None:
    async with running() as app:
        program = Plain(*await opened(app))

        def ask() -> None:
            for path, body in BODIES.items():
                for name, (wanted, said, made) in FAT.items():
                    head = json.dumps(body).encode()
                    raw = head[:-1] + b', "x": ' + made() + b"}"
                    status, _, data = program.ask("POST", path, raw=raw)
                    assert (status, name) == (wanted, name), data[:300]
                    assert said in error_of(path, data)["message"]
                assert program.post(path, body)[0] == 200

        await beside(ask)


async def test_no_number_is_an_internal_error(running: OpenApp) -> None:
    async with running() as app:
        program = Plain(*await opened(app))

        def ask() -> None:
            for path, body in BODIES.items():
                for number, text in enumerate(NUMBERS):
                    # each field meets some of the numbers, in every dialect
                    for place, field in enumerate(FIELDS):
                        if (number + place) % 5:
                            continue
                        given = {**body, field: "HERE"}
                        raw = json.dumps(given).replace('"HERE"', text).encode()
                        status, _, data = program.ask("POST", path, raw=raw)
                        assert status in (200, 400), (path, field, text[:9], data[:300])
                        if status == 400:
                            assert field in error_of(path, data)["message"], (path, field, text[:9])

        await beside(ask)


@pytest.mark.parametrize("text", NUMBERS)
async def test_numbers_deep_inside_are_read_or_declined(running: OpenApp, text: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer", "maximum": "HERE"}}}
    call = {"id": "a", "type": "function", "function": {"name": "t", "arguments": {"a": "HERE"}}}
    function = {"name": "t", "parameters": schema}
    format_ = {"type": "json_schema", "json_schema": {"name": "s", "schema": schema}}
    bodies: list[tuple[str, Any]] = [
        ("/v1/chat/completions", {"tools": [{"type": "function", "function": function}]}),
        ("/v1/chat/completions", {"response_format": format_}),
        (
            "/v1/chat/completions",
            {"messages": [*HELLO, {"role": "assistant", "tool_calls": [call]}, *HELLO]},
        ),
        ("/v1/messages", {"tools": [{"name": "t", "input_schema": schema}]}),
        ("/v1/responses", {"tools": [{"type": "function", **function}], "metadata": {"a": "HERE"}}),
        ("/v1/messages/count_tokens", {"tools": [{"name": "t", "input_schema": schema}]}),
        ("/v1/embeddings", {"input": ["a"], "dimensions": "HERE"}),
    ]
    async with running() as app:
        program = Plain(*await opened(app))

        def ask() -> None:
            for path, more in bodies:
                given = {**BODIES.get(path, BODIES["/v1/messages"]), **more}
                raw = json.dumps(given).replace('"HERE"', text).encode()
                status, _, data = program.ask("POST", path, raw=raw)
                assert 200 <= status < 500, (path, data[:300])
                json.loads(data)

        await beside(ask)

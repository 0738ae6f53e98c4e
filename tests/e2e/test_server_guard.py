"""What the server refuses, and what it survives: foreign pages, odd bodies, broken senders."""

from __future__ import annotations

import json
import random
import shutil
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import keyring
import pytest
from msgspec.structs import replace

from headstart.core.models.ref import ModelRef
from tests.conftest import OpenApp, until
from tests.support.bodies import CHAT, COMPLETIONS, MESSAGES, RESPONSES, mutated
from tests.support.keyrings import MemoryKeyring
from tests.support.patience import PATIENCE
from tests.support.program import Plain, beside, events, opened

HELLO: Any = [{"role": "user", "content": "Say hello."}]


@pytest.fixture(autouse=True)
def kept_keys() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


@pytest.mark.logs("a request failed: This message is too long")
async def test_refusals(running: OpenApp) -> None:
    async with running() as app:
        port, key = await opened(app)
        program = Plain(port, key)

        def ask() -> None:
            body = {"messages": HELLO, "max_tokens": 1}
            path = "/v1/chat/completions"
            for headers in ({"host": "evil.example"}, {"origin": "http://evil.example"}):
                status, _ = program.post(path, body, **headers)
                assert status == 403
            assert Plain(port, "wrong").post(path, body)[0] == 401
            assert program.post("/v1/nothing", body)[0] == 404
            assert program.ask("PUT", path)[0] == 405
            assert program.ask("POST", path, raw=b"{")[0] == 400
            assert program.ask("POST", path, raw=b"[" * 100_000)[0] == 400
            status, found = program.post(path, {"messages": []})
            assert (status, found["error"]["type"]) == (400, "invalid_request_error")
            long = {"messages": [{"role": "user", "content": "word " * 40_000}], "stream": True}
            status, found = program.post(path, long)
            assert status == 400
            assert found["error"]["code"] == "context_length_exceeded"
            assert "maximum context length is 8192 tokens" in found["error"]["message"]
            status, found = program.post("/v1/messages", long)
            assert status == 400
            assert found["error"]["message"].startswith("prompt is too long: ")
            assert program.ask("HEAD", "/")[0] == 200
            assert program.ask("GET", "/api/version")[0] == 200
            assert json.loads(program.ask("GET", "/api/tags")[2])["models"]
            assert json.loads(program.ask("GET", "/api/v0/models")[2])["data"]

        await beside(ask)


async def test_a_named_web_page_may_ask(running: OpenApp) -> None:
    async with running() as app:
        port, key = await opened(app, origins=("app://obsidian.md",))
        program = Plain(port, key)

        def ask() -> None:
            page = {"origin": "app://obsidian.md", "access-control-request-headers": "x-one"}
            status, headers, _ = program.ask("OPTIONS", "/v1/models", headers=page)
            assert status == 204
            assert headers["access-control-allow-origin"] == "app://obsidian.md"
            assert headers["access-control-allow-headers"] == "x-one"
            status, headers, _ = program.ask("GET", "/v1/models", headers=page)
            assert (status, headers["access-control-allow-origin"]) == (200, "app://obsidian.md")

        await beside(ask)


async def test_a_program_that_hangs_up_frees_the_engine(running: OpenApp) -> None:
    async with running() as app:
        port, key = await opened(app)
        serving = app.services.serving

        def ask() -> None:
            body = {"messages": HELLO, "max_tokens": 4000, "stream": True, "temperature": 0}
            Plain(port, key).hang_up("/v1/chat/completions", body, after=1)

        await beside(ask)
        await until(lambda: not serving.log.under_way)
        (line,) = serving.log.lines
        assert line.state == "gone"
        assert line.written < 2000


@pytest.mark.logs("a request failed")
@pytest.mark.parametrize(
    "count", [40, pytest.param(300, marks=pytest.mark.proof)], ids=["some", "all"]
)
async def test_odd_bodies_get_an_answer_of_the_right_shape(running: OpenApp, count: int) -> None:
    paths = {
        "/v1/chat/completions": CHAT,
        "/v1/messages": MESSAGES,
        "/v1/responses": RESPONSES,
        "/v1/completions": COMPLETIONS,
    }
    rng = random.Random(8)
    async with running() as app:
        program = Plain(*await opened(app))

        def ask() -> list[str]:
            wrong = []
            for number in range(count):
                path = rng.choice(list(paths))
                body = mutated({**paths[path], "stream": False}, rng)
                for name in ("max_tokens", "max_output_tokens"):
                    body[name] = 2
                data = json.dumps(body).encode()
                status, headers, found = program.ask("POST", path, raw=data)
                wrong += _wrong(f"{number} {path}", status, headers, found)
            return wrong

        assert await beside(ask) == []
        assert app.services.serving.log.under_way == 0


def _wrong(name: str, status: int, headers: Mapping[str, str], data: bytes) -> list[str]:
    """Problems of an answer: a body of the dialect, or an error of its shape."""
    if not (status == 200 or 400 <= status < 500):
        return [f"{name}: {status} {data[:200]!r}"]
    if headers["content-type"].startswith("text/event-stream"):
        return [] if events(data) else [f"{name}: an empty stream"]
    found = json.loads(data)
    if status == 200:
        return [] if {"choices", "output", "content"} & found.keys() else [f"{name}: {found}"]
    error = found["error"]
    shape = {"type", "message"} <= error.keys() and error["message"]
    return [] if shape else [f"{name}: {found}"]


async def test_slow_and_broken_senders(running: OpenApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headstart.server.routes.BODY_SECONDS", 0.5)
    async with running() as app:
        port, key = await opened(app)

        def send(*parts: bytes) -> bytes:
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
                for part in parts:
                    connection.sendall(part)
                found = b""
                while data := connection.recv(4096):
                    found += data
                    if b"}" in data:
                        break
                return found

        def ask() -> None:
            head = (
                f"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nx-api-key: {key}\r\n"
            ).encode()
            # a body that never comes
            assert b" 408 " in send(head + b"content-length: 100\r\n\r\n{")
            # one that says it is too large, before any of it is sent
            large = send(head + b"content-length: 99999999999\r\n\r\n")
            assert b" 413 " in large
            assert b"request_too_large" in large
            assert b" 400 " in send(b"GARBAGE\r\n\r\n")
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
                connection.sendall(head + b"content-length: 100\r\n\r\n{")
            # the server is still there
            assert Plain(port, key).ask("GET", "/v1/models")[0] == 200

        await beside(ask)


@pytest.mark.logs("a request failed")
async def test_a_model_that_is_gone(running: OpenApp, shallow: ModelRef, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    path = folder / "gone.gguf"
    shutil.copyfile(shallow.path, path)
    async with running() as app:
        library = app.services.preferences.current.library
        app.services.preferences.update(library=replace(library, folders=(str(folder),)))
        program = Plain(*await opened(app, model=str(path)))

        def ask() -> tuple[int, Any]:
            return program.post("/v1/chat/completions", {"messages": HELLO, "max_tokens": 2})

        assert (await beside(ask))[0] == 200
        path.unlink()
        await app.services.local.loader.unload()
        status, found = await beside(ask)
        assert status in (500, 503)
        assert "gone.gguf" in found["error"]["message"]

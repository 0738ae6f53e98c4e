"""Every way in which a server, or the way to it, can fail: told in plain words, no word lost."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from headstart.core.chats.values import FinishReason
from headstart.core.errors import EnvironmentProblem
from headstart.core.requests import RemoteRequest
from headstart.core.servers import Connection, ServerModel
from headstart.core.settings.schema import Sampling
from headstart.engine.remote.client import list_models
from tests.support.asking import QUESTION, STORY, Asking, run
from tests.support.patience import PATIENCE
from tests.support.scripted_server import WORDS, Answer, Asked, Handler, ScriptedServer, chunk

pytestmark = pytest.mark.logs("a request failed")


def _refuse(status: str, body: Any, **headers: str) -> Handler:
    async def handler(asked: Asked, answer: Answer) -> None:
        await answer.json(body, status, **headers)

    return handler


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "x"}}


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        (_refuse("401 Unauthorized", _error("bad key")), "does not accept the key: bad key"),
        (_refuse("403 Forbidden", _error("not you")), "does not allow this: not you"),
        (_refuse("404 Not Found", _error("no such model")), "has no model harbour-7b"),
        (_refuse("400 Bad Request", _error("too long")), "refuses this request (status 400): too"),
        (_refuse("500 Internal Server Error", _error("CUDA")), "failed (status 500): CUDA"),
        (_refuse("307 Temporary Redirect", {}, location="http://x"), "status 307"),
    ],
)
def test_refusals_are_told_in_plain_words(
    server: ScriptedServer, asking: Asking, handler: Handler, words: str
) -> None:
    server.handler = handler
    assert words in asking.fail(server.url).message
    assert len(server.asked) == 1


def test_a_busy_server_is_asked_again(server: ScriptedServer, asking: Asking) -> None:
    busy = _refuse("429 Too Many Requests", _error("slow down"), retry_after="0.5")
    server.script = [busy, _refuse("503 Service Unavailable", _error("Loading model"))]
    began = time.monotonic()
    asking.ask(server.url)
    assert time.monotonic() - began > 0.5
    assert asking.said() == STORY
    assert ["is busy" in text or "is not ready" in text for text in asking.notices] == [True] * 2


def test_what_a_server_does_not_take_is_left_out_and_told(
    server: ScriptedServer, asking: Asking
) -> None:
    server.script = [_refuse("400 Bad Request", _error("Unsupported parameter: 'temperature'"))]
    asking.ask(server.url)
    assert asking.said() == STORY
    assert "temperature" not in server.asked[1].body
    assert any("does not take temperature" in text for text in asking.notices)
    server.script = [_refuse("400 Bad Request", _error("unknown field stream_options"))]
    asking.ask(server.url)
    assert asking.said() == STORY


def test_refusals_one_by_one_are_all_followed(server: ScriptedServer, asking: Asking) -> None:
    """OpenAI names one parameter at a time; FastAPI says 422."""
    named = {"message": "Unsupported value", "param": "temperature", "type": "x"}
    server.script = [
        _refuse("400 Bad Request", {"error": named}),
        _refuse("422 Unprocessable Entity", _error("extra fields not permitted: top_p")),
    ]
    asking.ask(server.url, sampling=Sampling(max_tokens=9))
    assert asking.said() == STORY
    assert not {"temperature", "top_p"} & set(server.asked[-1].body)
    assert server.asked[-1].body["max_tokens"] == 9
    # a value is refused, not the setting
    server.handler = _refuse("400 Bad Request", _error("max_tokens exceeds the context of 4096"))
    assert "exceeds the context" in asking.fail(server.url, sampling=Sampling(max_tokens=9)).message


def test_a_whole_reply_stays_whole_whatever_comes_after_it(
    server: ScriptedServer, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headstart.engine.remote.turn.LAST_SECONDS", 0.1)

    async def linger(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS)
        await answer.event(chunk({}, "stop"))
        await asyncio.sleep(10 * PATIENCE)

    async def break_off(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS)
        await answer.event(chunk({}, "stop"))
        await asyncio.sleep(0.05)
        await answer.raw(b"data: {half")

    for handler in (linger, break_off):
        server.handler = handler
        assert asking.ask(server.url).finish is FinishReason.END
        assert asking.said() == STORY

    async def abort(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS[:4])
        await answer.event(chunk({}, "abort"))

    server.handler = abort
    assert "ended the connection" in asking.fail(server.url).message


def test_neither_key_nor_words_of_a_refusal_are_logged(
    server: ScriptedServer, asking: Asking, caplog: pytest.LogCaptureFixture
) -> None:
    words = "invalid input 'Tell me a story.' for the key secret"
    server.handler = _refuse("400 Bad Request", _error(words))
    problem = asking.fail(server.url)
    assert "Tell me a story." in problem.message
    assert "secret" not in problem.message
    assert "BadRequestError" in caplog.text
    assert "story" not in caplog.text
    assert "secret" not in caplog.text


def test_going_on_after_thinking_begins_the_reply(server: ScriptedServer, asking: Asking) -> None:
    async def think(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(["<think>Let me see.</think>", "It is 4."])
        await answer.end()

    server.handler = think
    asking.ask(server.url, "vllm", thought="Hm, let")
    assert server.asked[0].body["messages"][-1]["role"] == "user"
    assert "continue_final_message" not in server.asked[0].body
    assert asking.said() == "It is 4."


def test_the_environment_stays_at_home(
    server: ScriptedServer, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer another\nX-Own: 1")
    monkeypatch.setenv("OPENAI_ORG_ID", "my organisation")
    run(list_models(Connection("s", "S", server.url), "secret"))
    asking.ask(server.url)
    for asked in server.asked:
        assert asked.headers["authorization"] == "Bearer secret"
        assert not {"x-own", "openai-organization"} & set(asked.headers)


def test_a_cut_stream_keeps_the_words(server: ScriptedServer, asking: Asking) -> None:
    async def cut(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS[:4])
        await asyncio.sleep(0.05)
        await answer.cut()

    async def end_early(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS[:4])

    async def break_in_an_event(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS[:4])
        await answer.raw(b'data: {"choices": [{"delta": {"con')

    for handler in (cut, end_early, break_in_an_event):
        server.handler = handler
        problem = asking.fail(server.url)
        assert asking.said() == "Once upon a time"
        assert "Continue" in problem.remedy


def test_silence_ends_after_the_patience(server: ScriptedServer, asking: Asking) -> None:
    async def stall(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS[:4])
        await asyncio.sleep(10 * PATIENCE)

    async def drip(asked: Asked, answer: Answer) -> None:
        """Bytes, but never a word."""
        await answer.stream()
        await answer.words(WORDS[:4])
        while True:
            await answer.raw(b" ")
            await asyncio.sleep(0.1)

    for handler in (stall, drip):
        server.handler = handler
        began = time.monotonic()
        problem = asking.fail(server.url, timeout=1)
        assert time.monotonic() - began > 0.9
        assert "said nothing for 1 second." in problem.message
        assert asking.said() == "Once upon a time"


@pytest.mark.parametrize(
    "garbage",
    [
        b"data: {not json}\n\n",
        b"data: 17\n\n",
        b'data: ["a"]\n\n',
        b"data: \xff\xfe\x00\n\n",
        b'data: {"choices": 5}\n\ndata: {"choices": [7]}\n\ndata: {"choices": [{"delta": 3}]}\n\n',
        b"\x00\x01\x02\n\n\n",
        b'data: {"error": {"message": "out of memory"}}\n\n',
        b'event: error\ndata: {"message": "x"}\n\n',
    ],
)
def test_garbage_never_crashes_and_keeps_the_words(
    server: ScriptedServer, asking: Asking, garbage: bytes
) -> None:
    async def handler(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS[:4])
        await answer.raw(garbage)

    server.handler = handler
    asking.fail(server.url)
    assert asking.said() == "Once upon a time"


def test_servers_of_another_kind_are_named_so(server: ScriptedServer, asking: Asking) -> None:
    async def page(asked: Asked, answer: Answer) -> None:
        await answer.head(content_type="text/html")
        await answer.raw(b"<html>Welcome to the printer</html>")

    async def other_json(asked: Asked, answer: Answer) -> None:
        await answer.json({"jsonrpc": "2.0", "result": 1})

    async def smtp(asked: Asked, answer: Answer) -> None:
        await answer.raw(b"220 mail.example.com ESMTP\r\n")

    for handler in (page, other_json, smtp):
        server.handler = handler
        assert "OpenAI chat API" in str(asking.fail(server.url))
    # https where there is only http
    problem = asking.fail(server.url.replace("http:", "https:"))
    assert "https" in problem.message


def test_a_server_that_is_not_there_is_named(asking: Asking) -> None:
    assert "127.0.0.1:1 cannot be reached" in asking.fail("http://127.0.0.1:1/v1").message
    problem = asking.fail("http://no-such-computer.invalid/v1")
    assert "no-such-computer.invalid" in problem.message


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    own, key = folder / "own.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(key), "-out", str(own)],
        check=True, capture_output=True,
    )  # fmt: skip
    return own, key


def test_a_certificate_that_does_not_verify_stops_everything(
    asking: Asking, certificate: tuple[Path, Path]
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    with ScriptedServer(tls=tls) as server:
        problem = asking.fail(server.url)
        assert "certificate" in problem.message
        assert "cannot be verified" in problem.message
        assert server.asked == []
        # the user's own server: its certificate is trusted when the user names it
        asking.ask(server.url, certificate=str(certificate[0]))
        assert asking.said() == STORY
    problem = asking.fail("https://127.0.0.1:1/v1", certificate="/nowhere.pem")
    assert "/nowhere.pem" in problem.message


def test_without_the_users_word_nothing_is_sent(server: ScriptedServer, asking: Asking) -> None:
    model = ServerModel(Connection("s", "Server", server.url), "m")
    with pytest.raises(EnvironmentProblem, match="was not allowed"):
        asking.send(RemoteRequest(model, QUESTION, Sampling()))
    assert server.asked == []

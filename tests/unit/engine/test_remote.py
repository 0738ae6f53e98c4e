"""Replies from servers: what is sent, what is shown, and every way in which it can fail."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    CancelToken,
    ContextUse,
    Finished,
    GenerationEvent,
    GenerationRequest,
    Notice,
    PromptMessage,
    Reading,
    TextAdded,
)
from headstart.core.servers import Connection, ServerKind, ServerModel
from headstart.core.settings import Sampling
from headstart.core.values import FinishReason, PartKind, Role, TurnFigures
from headstart.engine.remote.client import list_models
from headstart.engine.remote.generator import RemoteGenerator
from tests.servers import WORDS, Answer, Asked, Handler, ScriptedServer, chunk

T = TypeVar("T")
STORY = "".join(WORDS)
QUESTION = (
    PromptMessage(Role.SYSTEM, "Be brief.", "system"),
    PromptMessage(Role.USER, "Tell me a story.", "q"),
)


def _run(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` would take the window's event loop away from later tests."""
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        return loop.run_until_complete(work)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


class Asking:
    """A remote generator on this thread, and what it said."""

    def __init__(self, key: str | None = "secret") -> None:
        self.key = key
        self.generator = RemoteGenerator(lambda _account: key)
        self.events: list[GenerationEvent] = []

    def ask(
        self,
        url: str,
        kind: ServerKind = "",
        *,
        patience: int = 5,
        sampling: Sampling | None = None,
        so_far: str = "",
        cancel: CancelToken | None = None,
        context: int = 0,
        certificate: str = "",
    ) -> TurnFigures:
        self.events.clear()
        connection = Connection(
            "s", "Server", url, certificate, patience, True, kind, self.key is not None
        )
        request = GenerationRequest(
            ServerModel(connection, "harbour-7b", context),
            QUESTION,
            sampling or Sampling(),
            reply_so_far=so_far,
        )
        self.generator.generate(request, self.events.append, cancel or CancelToken())
        last = self.events[-1]
        assert isinstance(last, Finished)
        return last.figures

    def fail(self, url: str, **more: Any) -> EnvironmentProblem:
        with pytest.raises(EnvironmentProblem) as told:
            self.ask(url, **more)
        assert told.value.remedy
        return told.value

    def said(self, kind: PartKind = PartKind.TEXT) -> str:
        return "".join(
            piece.text
            for event in self.events
            if isinstance(event, TextAdded)
            for piece in event.pieces
            if piece.kind is kind
        )

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Notice)]


@pytest.fixture
def asking() -> Iterator[Asking]:
    asking = Asking()
    yield asking
    asking.generator.close()


# --- what is sent and shown ------------------------------------------------------------------


def test_a_reply_comes_with_its_figures(server: ScriptedServer, asking: Asking) -> None:
    figures = asking.ask(server.url, context=4096)
    assert asking.said() == STORY
    assert figures.finish is FinishReason.END
    assert (figures.prompt_tokens, figures.reused_tokens) == (30, 20)
    assert figures.generated_tokens == len(WORDS)
    assert figures.first_token_seconds is not None
    assert ContextUse(30 + len(WORDS), 4096) in asking.events


def test_only_what_a_chat_needs_is_sent(
    server: ScriptedServer, asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another service's")
    monkeypatch.setenv("OPENAI_ORG_ID", "my organisation")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "my project")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    asking.ask(server.url, sampling=Sampling(temperature=0.5, seed=7, max_tokens=50, stop=("##",)))
    (asked,) = server.asked
    assert asked.headers["authorization"] == "Bearer secret"
    assert not {"openai-organization", "openai-project"} & set(asked.headers)
    assert asked.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Tell me a story."},
    ]
    assert asked.body["model"] == "harbour-7b"
    assert {name: asked.body[name] for name in ("temperature", "seed", "max_tokens", "stop")} == {
        "temperature": 0.5, "seed": 7, "max_tokens": 50, "stop": ["##"],
    }  # fmt: skip
    # what this server may not know is not sent
    assert not {"top_k", "min_p", "repeat_penalty", "cache_prompt"} & set(asked.body)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("llama.cpp", {"top_k": 0, "min_p": 0.1, "repeat_penalty": 1.1}),
        ("vllm", {"top_k": -1, "min_p": 0.1, "repetition_penalty": 1.1}),
        ("lmstudio", {"top_k": 0, "repeat_penalty": 1.1}),
        ("ollama", {}),
    ],
)
def test_each_kind_of_server_gets_its_own_names(
    server: ScriptedServer, asking: Asking, kind: ServerKind, expected: dict[str, float]
) -> None:
    asking.ask(server.url, kind, sampling=Sampling(top_k=0, min_p=0.1, repeat_penalty=1.1))
    body = server.asked[0].body
    names = {"top_k", "min_p", "repeat_penalty", "repetition_penalty"}
    assert {name: body[name] for name in names & set(body)} == expected


def test_reasoning_stands_apart_by_whatever_name(server: ScriptedServer, asking: Asking) -> None:
    async def think(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.event(chunk({"role": "assistant", "content": None}))
        await answer.event(chunk({"reasoning_content": "Let me "}))
        await answer.event(chunk({"reasoning": "see."}))
        await answer.words(["It ", "is 4."])
        await answer.end()

    async def think_in_tags(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(["<th", "ink>Let me see.</think>", "\n\nIt is 4."])
        await answer.end()

    for handler in (think, think_in_tags):
        server.handler = handler
        asking.ask(server.url)
        assert asking.said(PartKind.REASONING) == "Let me see."
        assert asking.said() == "It is 4."


def test_llama_cpps_own_figures_are_shown(server: ScriptedServer, asking: Asking) -> None:
    async def report(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        assert asked.body["return_progress"] is True
        progress = {"total": 100, "cache": 40, "processed": 70, "time_ms": 5}
        await answer.event({**chunk({}), "prompt_progress": progress})
        await answer.words(WORDS)
        timings = {
            "cache_n": 40, "prompt_n": 60, "prompt_ms": 500.0, "predicted_n": 9,
            "predicted_ms": 90.0, "draft_n": 20, "draft_n_accepted": 15,
        }  # fmt: skip
        await answer.event({**chunk({}, "stop"), "timings": timings})
        await answer.raw(b"data: [DONE]\n\n")

    server.handler = report
    figures = asking.ask(server.url, "llama.cpp")
    assert Reading(70, 100, 40) in asking.events
    assert (figures.prompt_tokens, figures.reused_tokens) == (100, 40)
    assert figures.read_seconds == 0.5
    assert figures.speculation is not None
    assert (figures.speculation.draft_tested, figures.speculation.draft_accepted) == (20, 15)


def test_a_reply_in_one_piece_is_a_reply(server: ScriptedServer, asking: Asking) -> None:
    async def at_once(asked: Asked, answer: Answer) -> None:
        message = {"role": "assistant", "content": STORY}
        await answer.json(
            {"choices": [{"index": 0, "message": message, "finish_reason": "length"}]}
        )

    server.handler = at_once
    assert asking.ask(server.url).finish is FinishReason.LENGTH
    assert asking.said() == STORY


def test_a_stop_string_ends_a_reply_even_if_the_server_does_not(
    server: ScriptedServer, asking: Asking
) -> None:
    figures = asking.ask(server.url, sampling=Sampling(stop=(" there",)))
    assert asking.said() == "Once upon a time"
    assert figures.finish is FinishReason.STOP_STRING


def test_going_on_sends_what_was_written(server: ScriptedServer, asking: Asking) -> None:
    asking.ask(server.url, "vllm", so_far="<think>\nHm.\n</think>\n\nOnce upon")
    body = server.asked[0].body
    assert body["messages"][-1] == {"role": "assistant", "content": "Once upon"}
    assert body["continue_final_message"] is True
    assert body["add_generation_prompt"] is False


def test_what_is_said_again_is_not_shown_again(server: ScriptedServer, asking: Asking) -> None:
    """llama.cpp's server repeats what it goes on from."""
    asking.ask(server.url, "llama.cpp", so_far="Once upon a ti")
    assert asking.said() == "me there was a harbour."
    # other words are a reply of their own, and none of them is lost
    asking.ask(server.url, "llama.cpp", so_far="Once upon a day")
    assert asking.said() == STORY
    asking.ask(server.url, "vllm", so_far="Once")
    assert asking.said() == STORY


def test_a_connection_that_was_closed_meanwhile_is_opened_again(
    server: ScriptedServer, asking: Asking
) -> None:
    async def close(asked: Asked, answer: Answer) -> None:
        pass

    server.script = [close]
    asking.ask(server.url)
    assert asking.said() == STORY
    server.handler = close
    assert "hangs up" in asking.fail(server.url).message


def test_a_stop_is_heard_at_once_and_ends_the_servers_work(
    server: ScriptedServer, asking: Asking
) -> None:
    ended: list[float] = []

    async def for_ever(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        try:
            while True:
                await answer.words(WORDS, pause=0.01)
        finally:
            ended.append(time.monotonic())

    async def silence(asked: Asked, answer: Answer) -> None:
        await asyncio.sleep(60)

    for handler, first in ((for_ever, "Once"), (silence, "")):
        server.handler = handler
        cancel = CancelToken()
        timer = _after(0.4, cancel.cancel)
        began = time.monotonic()
        figures = asking.ask(server.url, cancel=cancel, patience=30)
        timer.join()
        assert time.monotonic() - began < 2
        assert figures.finish is FinishReason.CANCELLED
        assert asking.said().startswith(first)
    deadline = time.monotonic() + 5
    while not ended and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ended


def _after(seconds: float, act: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


# --- what goes wrong -------------------------------------------------------------------------


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
    server: ScriptedServer, asking: Asking
) -> None:
    async def linger(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS)
        await answer.event(chunk({}, "stop"))
        await asyncio.sleep(60)

    async def break_off(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS)
        await answer.event(chunk({}, "stop"))
        await asyncio.sleep(0.05)
        await answer.raw(b"data: {half")

    for handler in (linger, break_off):
        server.handler = handler
        assert asking.ask(server.url, patience=1).finish is FinishReason.END
        assert asking.said() == STORY

    async def abort(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS[:4])
        await answer.event(chunk({}, "abort"))

    server.handler = abort
    assert "ended the connection" in asking.fail(server.url).message


def test_neither_key_nor_words_of_a_refusal_are_logged(
    server: ScriptedServer, asking: Asking
) -> None:
    words = "invalid input 'Tell me a story.' for the key secret"
    server.handler = _refuse("400 Bad Request", _error(words))
    problem = asking.fail(server.url)
    assert "Tell me a story." in problem.message
    assert "secret" not in problem.message
    assert "story" not in problem.for_log
    assert "secret" not in problem.for_log


def test_going_on_after_thinking_begins_the_reply(server: ScriptedServer, asking: Asking) -> None:
    async def think(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(["<think>Let me see.</think>", "It is 4."])
        await answer.end()

    server.handler = think
    asking.ask(server.url, "vllm", so_far="<think>\nHm, let")
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
    _run(list_models(Connection("s", "S", server.url), "secret"))
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
        await asyncio.sleep(60)

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
        problem = asking.fail(server.url, patience=1)
        assert 0.9 < time.monotonic() - began < 4
        assert "said nothing for 1 seconds" in problem.message
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
    request = GenerationRequest(
        ServerModel(Connection("s", "Server", server.url), "m"), QUESTION, Sampling()
    )
    with pytest.raises(EnvironmentProblem, match="was not allowed"):
        asking.generator.generate(request, asking.events.append, CancelToken())
    assert server.asked == []


# --- what is offered -------------------------------------------------------------------------


def test_a_list_of_models_tells_the_kind_of_server(server: ScriptedServer) -> None:
    server.models = [
        {"id": "org/Model-7B", "owned_by": "vllm", "max_model_len": 32768},
        {"id": "", "owned_by": "vllm"},
        {"id": 5},
        "what",  # type: ignore[list-item]
    ]
    offer = _run(list_models(Connection("s", "S", server.url), "key"))
    assert offer.kind == "vllm"
    assert offer.models == (("org/Model-7B", 32768),)


def test_a_list_that_is_none_is_told(server: ScriptedServer) -> None:
    server.models = "nothing"  # type: ignore[assignment]
    with pytest.raises(EnvironmentProblem, match="OpenAI chat API"):
        _run(list_models(Connection("s", "S", server.url), None))
    with pytest.raises(EnvironmentProblem, match="cannot be reached"):
        _run(list_models(Connection("s", "S", "http://127.0.0.1:1/v1"), None))

"""Replies from servers: what is sent, what is shown, and what servers offer."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Callable

import pytest

from headstart.core.chats.parts import PartKind
from headstart.core.chats.values import FinishReason
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    ContextUse,
    Prefilling,
)
from headstart.core.requests import PromptImage
from headstart.core.servers import Connection, ServerKind
from headstart.core.settings.schema import Sampling
from headstart.engine.remote.client import list_models
from headstart.engine.stop import StopSignal
from tests.support.asking import STORY, Asking, run
from tests.support.documents import png
from tests.support.patience import PATIENCE
from tests.support.scripted_server import WORDS, Answer, Asked, ScriptedServer, chunk


def test_a_reply_comes_with_its_figures(server: ScriptedServer, asking: Asking) -> None:
    stats = asking.ask(server.url, context=4096)
    assert asking.said() == STORY
    assert stats.finish is FinishReason.END
    assert (stats.prompt_tokens, stats.reused_tokens) == (30, 20)
    assert stats.generated_tokens == len(WORDS)
    assert stats.first_token_seconds is not None
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


def test_characters_that_are_cut_in_two_are_whole_and_halves_are_replaced(
    server: ScriptedServer, asking: Asking
) -> None:
    """In every stream of text; what is shown can be stored."""

    async def cut(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        for name in ("reasoning_content", "content"):
            for piece in ("a \ud83d", "\ude00 b \ud83d", " c \udc00", "\0d", "\ud83d"):
                await answer.event(chunk({name: piece}))
        await answer.end()

    server.handler = cut
    assert asking.ask(server.url).finish is FinishReason.END
    expected = "a 😀 b \ufffd c \ufffd\ufffdd\ufffd"
    assert asking.said(PartKind.REASONING) == expected
    assert asking.said() == expected


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
    stats = asking.ask(server.url, "llama.cpp")
    assert Prefilling(70, 100, 40) in asking.events
    assert (stats.prompt_tokens, stats.reused_tokens) == (100, 40)
    assert stats.prefill_seconds == 0.5
    assert stats.speculation is not None
    assert (stats.speculation.draft_verified, stats.speculation.draft_accepted) == (20, 15)


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
    stats = asking.ask(server.url, sampling=Sampling(stop=(" there",)))
    assert asking.said() == "Once upon a time"
    assert stats.finish is FinishReason.STOP_STRING


FLAG = PromptImage("Image flag.png (4 × 3)", "image/png", png(4, 3))


def test_images_go_to_the_server_before_the_text(server: ScriptedServer, asking: Asking) -> None:
    asking.ask(server.url, images=(FLAG,))
    content = server.asked[0].body["messages"][-1]["content"]
    assert [part["type"] for part in content] == ["image_url", "text"]
    head, _, data = content[0]["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(data) == FLAG.data
    assert content[1]["text"] == "Tell me a story."
    assert asking.notices == []


@pytest.mark.logs("a request failed")
@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("500 Internal Server Error", "image input is not supported: provide the mmproj"),
        ("400 Bad Request", "messages.1.content: Input should be a valid string"),
        ("404 Not Found", "No endpoints found that support image input"),
    ],
)
def test_a_server_that_sees_no_images_gets_their_names(
    server: ScriptedServer, asking: Asking, status: str, said: str
) -> None:
    async def blind(asked: Asked, answer: Answer) -> None:
        if isinstance(asked.body["messages"][-1]["content"], str):
            await answer.stream()
            await answer.words(WORDS)
            await answer.end()
        else:
            await answer.json({"error": {"message": said}}, status)

    server.handler = blind
    asking.ask(server.url, images=(FLAG,))
    assert asking.said() == STORY
    assert server.asked[-1].body["messages"][-1]["content"] == "Tell me a story."
    assert asking.notices == [
        "harbour-7b did not take the images: the reply was written without them."
    ]

    # without images it is the problem that it is
    async def broken(asked: Asked, answer: Answer) -> None:
        await answer.json({"error": {"message": said}}, status)

    server.handler = broken
    asking.fail(server.url, images=(FLAG,))
    assert len(server.asked) == 4


@pytest.mark.logs("a request failed")
@pytest.mark.parametrize("kind", ["", "llama-cpp-python"])
def test_an_answer_format_goes_to_the_server(
    server: ScriptedServer, asking: Asking, kind: ServerKind
) -> None:
    schema = {"type": "object", "required": ["city"]}
    asking.ask(server.url, kind, sampling=Sampling(schema=json.dumps(schema)))
    sent = server.asked[0].body["response_format"]
    if kind:
        assert sent == {"type": "json_object", "schema": schema}
    else:
        assert (sent["type"], sent["json_schema"]["schema"]) == ("json_schema", schema)
    asking.fail(server.url, kind=kind, sampling=Sampling(schema="{"))
    assert len(server.asked) == 1


def test_going_on_sends_what_was_written(server: ScriptedServer, asking: Asking) -> None:
    asking.ask(server.url, "vllm", so_far="Once upon", thought="Hm.")
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


@pytest.mark.logs("a request failed")
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
    ended = threading.Event()

    async def for_ever(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        try:
            while True:
                await answer.words(WORDS, pause=0.01)
        finally:
            ended.set()

    async def silence(asked: Asked, answer: Answer) -> None:
        await asyncio.sleep(10 * PATIENCE)

    for handler, first in ((for_ever, "Once"), (silence, "")):
        server.handler = handler
        cancel = StopSignal()
        timer = _after(0.4, cancel.stop)
        # it would be silent for longer than any test waits
        stats = asking.ask(server.url, cancel=cancel)
        timer.join()
        assert stats.finish is FinishReason.CANCELLED
        assert asking.said().startswith(first)
    assert ended.wait(PATIENCE)


def _after(seconds: float, act: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, act)
    timer.start()
    return timer


def test_a_list_of_models_tells_the_kind_of_server(server: ScriptedServer) -> None:
    server.models = [
        {"id": "org/Model-7B", "owned_by": "vllm", "max_model_len": 32768},
        {"id": "", "owned_by": "vllm"},
        {"id": 5},
        "what",  # type: ignore[list-item]
    ]
    offer = run(list_models(Connection("s", "S", server.url), "key"))
    assert offer.kind == "vllm"
    assert offer.models == (("org/Model-7B", 32768),)


def test_a_list_that_is_none_is_told(server: ScriptedServer) -> None:
    server.models = "nothing"  # type: ignore[assignment]
    with pytest.raises(EnvironmentProblem, match="OpenAI chat API"):
        run(list_models(Connection("s", "S", server.url), None))
    with pytest.raises(EnvironmentProblem, match="cannot be reached"):
        run(list_models(Connection("s", "S", "http://127.0.0.1:1/v1"), None))

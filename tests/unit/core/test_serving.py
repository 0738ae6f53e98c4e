"""Names of programs, models and sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.core.chats.values import Role
from headstart.core.errors import EnvironmentProblem
from headstart.core.models.installed import About, InstalledModel
from headstart.core.models.ref import ModelRef
from headstart.core.requests import PromptCall, PromptMessage
from headstart.core.serving.length import check_length
from headstart.core.serving.models import ServedModel, named, short_ids
from headstart.core.serving.programs import program_of, session_of
from headstart.core.serving.request import ServedRequest
from headstart.core.serving.session import is_session, session_id
from headstart.core.tools import Tools, ToolSpec

CALL = PromptCall("1", "t", "a" * 40_000)
JS = {"user-agent": "ls/JS 5.23.2", "x-stainless-lang": "js"}


@pytest.mark.parametrize(
    ("headers", "instructions", "name"),
    [
        ({"user-agent": "claude-cli/2.1.332 (external, cli)"}, "", "Claude Code"),
        ({"user-agent": "codex_exec/0.171.0 (Debian 12)"}, "", "Codex"),
        ({"user-agent": "opencode/1.18.34 ai-sdk/provider-utils"}, "", "OpenCode"),
        ({"user-agent": "Zed/0.214"}, "", "Zed"),
        ({"user-agent": "OpenAI/Python 3.52.0"}, "", "Python"),
        ({"user-agent": "AsyncOpenAI/Python 3.52.0"}, "", "Python"),
        (JS, "You are an agent in the Continue CLI. Given", "Continue"),
        (JS, "You are an expert coding assistant operating inside pi, a", "pi"),
        (JS, "You are helpful.", "JavaScript"),
        ({"user-agent": "curl/8.1"}, "", "curl"),
        ({"user-agent": "MyTool/3"}, "", "MyTool"),
        ({}, "", "another program"),
    ],
)
def test_programs(headers: dict[str, str], instructions: str, name: str) -> None:
    assert program_of(headers, instructions) == name


def test_sessions_by_headers() -> None:
    headers = {"x-claude-code-session-id": "s", "x-claude-code-agent-id": "a"}
    assert session_of(headers) == ("s", "a")
    assert session_of({"x-session-id": "t"}) == ("t", "")
    assert session_of({}) == ("", "")


def test_a_session_is_its_key_or_its_beginning() -> None:
    def request(*texts: str, session: str = "") -> ServedRequest:
        roles = (Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER)
        messages = tuple(
            PromptMessage(role, text) for role, text in zip(roles, texts, strict=False)
        )
        return ServedRequest(messages, session=session)

    first = session_id("Codex", request("Rules.", "Look."))
    assert is_session(first)
    # the talk goes on
    assert session_id("Codex", request("Rules.", "Look.", "I see.", "And?")) == first
    assert session_id("Codex", request("Rules.", "Read.")) != first
    assert session_id("pi", request("Rules.", "Look.")) != first
    keyed = session_id("Codex", request("Rules.", "Look.", session="k"))
    assert session_id("Codex", request("Other.", "Words.", session="k")) == keyed
    assert session_id("Codex", request("Other.", "Words.", session="k"), "agent") != keyed


def test_a_name_means_the_model_that_has_it_as_its_short_name_first() -> None:
    def served(short: str, path: str, name: str, *copies: str) -> ServedModel:
        return ServedModel(short, ModelRef(Path(path), name, 1), copies=copies)

    # the first one's file has the second one's short name, and so on
    models = [
        served("otter-2", "/a/otter.gguf", "Otter Two"),
        served("otter", "/b/Heron.gguf", "Otter", "/c/swift.gguf"),
        served("heron", "/d/parts-00001-of-00003.gguf", "/a/otter.gguf"),
    ]
    meant = {
        "otter-2": 0, "Otter Two": 0, "otter": 1, "OTTER": 1, "openai/otter": 1, "otter:latest": 1,
        "otter.gguf": 1, "/a/otter.gguf": 0, "heron": 2, "swift": 1, "/c/swift.gguf": 1, "parts": 2,
        "Heron.gguf": 2, "/b/heron.gguf": 1, str(Path("/b/heron.gguf")): 1, "C:\\x\\Heron.gguf": 2,
    }  # fmt: skip
    assert {name: named(models, name) for name in meant} == {
        name: models[at] for name, at in meant.items()
    }
    for name in ("", " ", "/", "gpt-5", "otter-3"):
        assert named(models, name) is None, name


def test_models_have_short_names() -> None:
    def model(name: str, quantization: str = "") -> InstalledModel:
        ref = ModelRef(Path(f"/models/{name}.gguf"), name, 1)
        return InstalledModel(ref, "folder", name, About(quantization=quantization))

    found = short_ids(
        [
            model("Qwen3.5-9B-Instruct-Q4_K_M", "Q4_K_M"),
            model("Qwen3.5-9B-Instruct-Q8_0", "Q8_0"),
            model("Qwen3.5-9B-it"),
        ]
    )
    assert list(found) == ["qwen3.5-9b", "qwen3.5-9b-q8_0", "qwen3.5-9b-2"]
    offered = [ServedModel(name, one.ref) for name, one in found.items()]
    for asked in (
        "qwen3.5-9b", "QWEN3.5-9B", "openai/qwen3.5-9b", "Qwen3.5-9B-Instruct-Q4_K_M.gguf",
        "/models/Qwen3.5-9B-Instruct-Q4_K_M.gguf", "qwen3.5-9b:latest",
    ):  # fmt: skip
        assert named(offered, asked) is offered[0], asked
    assert named(offered, "claude-opus") is None
    assert named(offered, "") is None


@pytest.mark.parametrize(
    "served",
    [
        ServedRequest((PromptMessage(Role.USER, "a" * 40_000),)),
        ServedRequest((PromptMessage(Role.USER, "漢" * 40_000),)),
        ServedRequest(plain="a" * 40_000),
        ServedRequest(tools=Tools((ToolSpec("t", "a" * 20_000, "b" * 20_000),))),
        ServedRequest((PromptMessage(Role.ASSISTANT, "", calls=(CALL,)),)),
    ],
)
def test_what_no_context_holds_is_refused_before_it_is_tokenized(served: ServedRequest) -> None:
    ref = ModelRef(Path("m.gguf"), "m", 1)
    check_length(served, ServedModel("m", ref, 1_300, loaded=True))
    with pytest.raises(EnvironmentProblem) as caught:
        check_length(served, ServedModel("m", ref, 1_000, loaded=True))
    assert caught.value.told.code == "chat-too-long"
    # a model that was not loaded may get a larger context than is known
    check_length(served, ServedModel("m", ref, 1_000))

"""Bodies of all dialects become the same kind of request."""

from __future__ import annotations

import copy
import itertools
import json
import math
import random
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

from headstart.core.chats.values import Role
from headstart.core.requests import PromptMessage, ToolRole
from headstart.core.serving.request import ServedRequest, ShownTool
from headstart.core.settings.schema import SamplingChoice, validated
from headstart.core.strange_json import JsonLimits, read_json
from headstart.core.tools import Choosing, ToolChoice
from headstart.server.dialects import chat, completions, embeddings, messages, responses
from headstart.server.dialects.declined import Declined
from tests.support.bodies import CHAT, COMPLETIONS, MESSAGES, RESPONSES, mutated

Read = Callable[[Any], ServedRequest]
DIALECTS: dict[str, tuple[Read, Any]] = {
    "chat": (chat.read, CHAT),
    "messages": (messages.read, MESSAGES),
    "responses": (responses.read, RESPONSES),
    "completions": (completions.read, COMPLETIONS),
}


def test_chat() -> None:
    found = chat.read(CHAT)
    system, user, step, first, second, last = found.messages
    assert (system.role, system.text) == (Role.SYSTEM, "Be brief.\n\nUse tools.")
    assert (user.role, user.text, len(user.images)) == (Role.USER, "Read it.", 1)
    assert (step.reasoning, [call.id for call in step.calls]) == ("I need two files.", ["a", "b"])
    # what does not parse stays as it was written
    assert step.calls[1].arguments == '{"x'
    assert (first.role, first.call_id, first.text) == (ToolRole.TOOL, "a", "first")
    # a later system text stays where it stands
    marked = "second\n\n<system-reminder>\n9,000 tokens left.\n</system-reminder>"
    assert (second.call_id, second.name, second.text) == ("b", "read", marked)
    assert last.text == "Go on."
    assert [spec.name for spec in found.tools.specs] == ["read"]
    assert found.sampling.stop == ("END",)
    assert found.sampling.schema
    assert (found.session, found.thinking, found.ignored) == ("k", "low", ("strange",))


def test_messages() -> None:
    found = messages.read(MESSAGES)
    system, user, step, first, second, last = found.messages
    # the line that changes with each request is left out
    assert system.text == "You are an agent.\n\nBe brief."
    assert user.text == "Read."
    assert (step.text, step.reasoning) == ("I read them.", "Two files.")
    assert step.calls[0].arguments == '{"path": "x", "lines": 3}'
    assert (first.call_id, first.text, len(first.images)) == ("a", "Error: no such file", 1)
    assert second.text.startswith('<tool>\n{"name": "Grep"')
    assert last.text.startswith("Go on.\n\n<system-reminder>")
    # deferred tools are not listed; the one that was found may be called
    assert [spec.name for spec in found.tools.specs] == ["Read"]
    assert [spec.name for spec in found.tools.unlisted] == ["Grep"]
    assert found.tools.several is False
    assert found.sampling.max_tokens == 32000
    assert found.session == "user_1_session_2"


def test_responses() -> None:
    found = responses.read(RESPONSES)
    system, user, step, first, second, third, last = found.messages
    assert system.text == "You are an agent.\n\nRules."
    assert user.text == "Look."
    assert (step.text, step.reasoning) == ("I look.", "Think.")
    assert [call.name for call in step.calls] == ["exec", "agents__wait", "patch"]
    assert step.calls[2].arguments == '{"input": "*** Begin"}'
    assert [one.call_id for one in (first, second, third)] == ["a", "b", "c"]
    assert len(second.images) == 1
    assert last.text == "Go on."
    assert found.names["agents__wait"] == ShownTool("wait", "agents")
    assert found.names["patch"].free
    assert "start:" in found.tools.specs[2].description


def test_a_text_and_a_list_with_that_text_are_the_same_prompt() -> None:
    body = copy.deepcopy(MESSAGES)
    body["messages"][0]["content"] = "Read."
    assert messages.read(body).messages == messages.read(MESSAGES).messages


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    body = copy.deepcopy(CHAT)
    del body["messages"][5]
    _, _, _, first, second, _ = chat.read(body).messages
    assert first.text.startswith("No result")
    assert second.text.startswith("second")


def test_a_result_without_a_call_is_a_text_of_the_user() -> None:
    body = {
        "messages": [
            {"role": "user", "content": "Hi."},
            {"role": "tool", "tool_call_id": "z", "content": "42", "name": "add"},
        ]
    }
    (only,) = chat.read(body).messages
    assert only == PromptMessage(Role.USER, "Hi.\n\n[Result of add]\n42")


def test_a_last_message_of_the_model_is_the_beginning_of_its_reply() -> None:
    body = {
        "max_tokens": 9,
        "messages": [
            {"role": "user", "content": "List."},
            {"role": "assistant", "content": "1."},
        ],
    }
    for read in (messages.read, chat.read):
        found = read(body)
        assert [one.text for one in found.messages] == ["List."]
        assert found.so_far.text == "1."


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (None, ToolChoice()),
        ("none", ToolChoice(Choosing.NONE)),
        ("required", ToolChoice(Choosing.REQUIRED)),
        ({"type": "any"}, ToolChoice(Choosing.REQUIRED)),
        ({"type": "function", "function": {"name": "read"}}, ToolChoice(Choosing.NAMED, "read")),
        ({"type": "tool", "name": "read"}, ToolChoice(Choosing.NAMED, "read")),
        ({"type": "function", "name": "read"}, ToolChoice(Choosing.NAMED, "read")),
    ],
)
def test_tool_choices(given: Any, wanted: ToolChoice) -> None:
    assert chat.read({**CHAT, "tool_choice": given}).tools.choice == wanted


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 2}, {"logprobs": True}, {"modalities": ["audio"]}, {"temperature": "hot"},
        {"messages": "x"}, {"messages": [1]}, {"messages": [{"role": "king", "content": "x"}]},
        {"tools": [{"type": "function", "function": {}}]}, {"tool_choice": "sometimes"},
        {"tool_choice": {"type": "function", "function": {"name": "gone"}}},
        {"response_format": {"type": "json_schema"}}, {"stop": 3},
        {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]},
        {"messages": [{"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "https://example.com/x.png"}}]}]},
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_declined_with_a_sentence(wrong: Any) -> None:
    with pytest.raises(Declined) as caught:
        chat.read({**CHAT, **wrong})
    assert caught.value.status == 400
    assert caught.value.message.endswith(".")


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize(
    "count", [300, pytest.param(20_000, marks=pytest.mark.proof)], ids=["some", "all"]
)
def test_odd_bodies_are_read_or_declined(name: str, count: int) -> None:
    read, body = DIALECTS[name]
    rng = random.Random(5)
    for _ in range(count):
        try:
            found = read(mutated(body, rng))
        except Declined:
            continue
        roles = [one.role for one in found.messages]
        assert Role.SYSTEM not in roles[1:]
        for before, after in itertools.pairwise(roles):
            # sides alternate; results follow their step
            assert before is not after or before is ToolRole.TOOL
        for message in found.messages:
            message.text.encode()


# as they are written in a body
NUMBERS = (
    "9" * 25, "9" * 400, "-" + "9" * 400, "9" * 5_000, "-" + "9" * 5_000, "1e999", "-1e999",
    "NaN", "Infinity", "-Infinity", "0." + "1" * 5_000, "-1", "0", "1.5",
)  # fmt: skip
NUMERIC = (
    "temperature", "top_p", "top_k", "min_p", "repeat_penalty", "presence_penalty", "seed", "n",
    "frequency_penalty", "max_tokens", "max_completion_tokens", "max_output_tokens", "best_of",
    "logprobs", "top_logprobs", "n_predict", "dimensions",
)  # fmt: skip


@pytest.mark.parametrize("name", [*DIALECTS, "embeddings"])
@pytest.mark.parametrize("field", NUMERIC)
def test_every_number_is_clipped_or_declined_by_its_name(name: str, field: str) -> None:
    for text in NUMBERS:
        if name == "embeddings":
            read, body = cast(Any, embeddings.read), {"input": "Hi."}
        else:
            read, body = DIALECTS[name]
        raw = json.dumps({**body, field: "HERE"}).replace('"HERE"', text).encode()
        try:
            found = read(read_json(raw, JsonLimits(1 << 20, 10_000)))
        except Declined as declined:
            wrong = (declined.status, declined.param)
            if wrong not in ((400, field), (400, "logprobs")):
                raise
            continue
        if name != "embeddings":
            values = msgspec.structs.asdict(found.sampling).values()
            numbers = [one for one in values if isinstance(one, int | float)]
            assert all(math.isfinite(one) and abs(one) < 1 << 32 for one in numbers)
            assert found.sampling == validated(SamplingChoice, found.sampling)


@pytest.mark.parametrize(("sign", "digits"), [(1, 400), (-1, 400), (1, 5_000)])
def test_integers_that_no_float_holds_are_clipped(sign: int, digits: int) -> None:
    size = sign * 10**digits
    found = chat.read({**CHAT, "temperature": size, "top_k": size, "max_tokens": size})
    assert found.sampling.temperature == (2 if size > 0 else 0)
    with pytest.raises(Declined):
        chat.read({**CHAT, "tools": [{"name": "t", "parameters": {"maximum": math.inf}}]})

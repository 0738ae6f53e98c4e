"""Numbers with a special meaning, as users of llama.cpp, LM Studio, Ollama and vLLM write them.

The table is fields by values; each line holds in every dialect that has the field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headstart.core.chats.values import FinishReason, TurnStats
from headstart.core.serving.request import ServedRequest
from headstart.core.settings.inheritance import effective
from headstart.core.settings.schema import ChatOptions, Sampling, SamplingChoice, Settings
from headstart.server.dialects import chat, completions, embeddings, messages, responses
from headstart.server.dialects.declined import Declined
from headstart.server.dialects.reply import Answered, Ended

HELLO = [{"role": "user", "content": "Hello."}]
Read = Callable[[dict[str, Any]], ServedRequest]
DIALECTS: dict[str, tuple[Read, dict[str, Any]]] = {
    "chat": (chat.read, {"messages": HELLO}),
    "responses": (responses.read, {"input": "Hello."}),
    "completions": (completions.read, {"prompt": "Hello"}),
    "messages": (messages.read, {"messages": HELLO, "max_tokens": 9}),
}
ALL = frozenset(DIALECTS)
LONGEST = {
    "max_tokens": {"chat", "completions", "messages"},
    "max_completion_tokens": {"chat"},
    "max_output_tokens": {"responses"},
    "n_predict": {"chat", "completions"},
}
DECLINED = "declined"
ANY = "another one each time"
NOTHING = "as in the settings"
NO_LIMIT, OFF = 0, 0
Values = list[tuple[Any, Any]]
# the values of a field, and what each means
TOKENS: Values = [
    (-1, NO_LIMIT), (-1.0, NO_LIMIT), (-2, NO_LIMIT), (-100, NO_LIMIT), (0, DECLINED), (1, 1),
    (7.0, 7), (1.5, DECLINED), ("-1", DECLINED), (True, DECLINED), (10**9, 1_000_000),
]  # fmt: skip
OTHERS: dict[str, Values] = {
    "seed": [
        (-1, ANY), (-1.0, ANY), (2**32 - 1, ANY), (0, 0), (42, 42), (42.0, 42), (None, NOTHING),
        (1.5, DECLINED), ("x", DECLINED), (True, DECLINED),
    ],
    # greedy, as llama.cpp has it
    "temperature": [(-1, 0.0), (0, 0.0), (1, 1.0), (None, NOTHING), ("hot", DECLINED)],
    "top_k": [(-1, OFF), (0, OFF), (1, 1), (40, 40), (None, NOTHING), ("x", DECLINED)],
    # the likeliest token alone; off; off
    "top_p": [(0, 0.0), (1, 1.0), (-1, 1.0), (0.5, 0.5), (None, NOTHING), ("x", DECLINED)],
    "min_p": [(-1, 0.0), (0, 0.0), (0.5, 0.5), (None, NOTHING), ("x", DECLINED)],
    "repeat_penalty": [
        (-1, 1.0), (0, 1.0), (1, 1.0), (1.1, 1.1), (None, NOTHING), ("x", DECLINED)
    ],
    # here -1 is a number
    "presence_penalty": [(-1, -1.0), (0, 0.0), (2, 2.0), (None, NOTHING), ("x", DECLINED)],
}  # fmt: skip
# what this server does not do is said, and its absence is fine
NOT_DONE: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "frequency_penalty": ((0, 0.0, None), (1.5, -1, -0.5)),
    "logit_bias": (({}, None), ({"19": -100}, [[19, -1]])),
    "n": ((1, None), (-1, 0, 2)),
    "logprobs": ((False, None), (True, -1, 5)),
    "top_logprobs": ((0, None), (-1, 5)),
}


def _cases() -> list[tuple[str, str, Any, Any]]:
    found = [
        (name, field, value, wanted)
        for field, dialects in LONGEST.items()
        for name in sorted(dialects)
        for value, wanted in TOKENS
    ]
    return found + [
        (name, field, value, wanted)
        for field, values in OTHERS.items()
        for name in DIALECTS
        for value, wanted in values
    ]


def _read(name: str, **more: Any) -> ServedRequest:
    read, body = DIALECTS[name]
    return read({**body, **more})


# settings with values of their own: a field that is given stands above them
SET = Settings(
    sampling=SamplingChoice(
        temperature=0.9, top_p=0.8, top_k=20, min_p=0.2, repeat_penalty=1.3, presence_penalty=0.5,
        seed=77, max_tokens=33,
    )
)  # fmt: skip


def _in_force(found: ServedRequest) -> Sampling:
    advice = SamplingChoice()
    return effective(SET, ChatOptions(sampling=found.sampling), "", advice).sampling


@pytest.mark.parametrize(("name", "field", "value", "wanted"), _cases())
def test_a_value_means_the_same_in_every_dialect(
    name: str, field: str, value: Any, wanted: Any
) -> None:
    if wanted == DECLINED:
        with pytest.raises(Declined) as caught:
            _read(name, **{field: value})
        assert (caught.value.status, caught.value.param) == (400, field)
        assert field in caught.value.message
        return
    seen = _in_force(_read(name, **{field: value}))
    told = "max_tokens" if field in LONGEST else field
    if wanted == ANY:
        others = {_in_force(_read(name, **{field: value})).seed for _ in range(5)}
        assert len(others | {seen.seed}) > 3
        assert 77 not in others
    elif wanted == NOTHING:
        assert getattr(seen, told) == getattr(SET.sampling, told)
    else:
        assert getattr(seen, told) == wanted


@pytest.mark.parametrize("name", ["chat", "completions"])
@pytest.mark.parametrize("field", NOT_DONE)
def test_what_is_not_done_is_said(name: str, field: str) -> None:
    right, wrong = NOT_DONE[field]
    for value in right:
        _read(name, **{field: value})
    for value in wrong:
        with pytest.raises(Declined) as caught:
            _read(name, **{field: value})
        assert caught.value.status == 400
        assert caught.value.param == ("logprobs" if "logprobs" in field else field)


def test_no_limit_is_no_number_of_the_answer() -> None:
    asked = _read("responses", max_output_tokens=-1)
    answered = Answered(asked, "r", "m", 0)
    stats = TurnStats(FinishReason.END, 20, 12, 0.5, 0.6, 9, 0.3)
    whole = responses.ResponsesWriter(answered).whole([], Ended(stats))
    assert whole["max_output_tokens"] is None


def test_vectors_of_all_numbers() -> None:
    for value in (-1, 0, None):
        assert embeddings.read({"input": "A", "dimensions": value}).dimensions == 0
    assert embeddings.read({"input": "A", "dimensions": 8}).dimensions == 8

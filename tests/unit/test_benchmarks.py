"""Benchmarks look at which model answers: three published figures were of another one."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from headstart.core.chats.values import FinishReason, Message, MessageStatus, Role, TurnStats
from tests.benchmarks import answering

BENCHMARKS = Path(answering.__file__).parent
# ways to ask the window's model, a served one, and llama.cpp's server
_ASKING = (
    "conversation.send(", "composer.button", "/v1/chat/completions", '"llama-server"',
    "reply_done(",
)  # fmt: skip
_CHECKED = ("stats_of(", "check_name(", "check_served(", "check_llama_server(")


def test_every_benchmark_that_asks_a_model_checks_which_one_answered() -> None:
    found = {}
    for path in sorted(BENCHMARKS.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name not in ("answering.py", "peers.py"):
            found[path.name] = (
                any(one in text for one in _ASKING), any(one in text for one in _CHECKED)
            )  # fmt: skip
    assert {name for name, (asks, checks) in found.items() if asks and not checks} == set()
    assert sum(asks for asks, _ in found.values()) >= 12


def test_another_model_is_no_figure() -> None:
    stats = TurnStats(FinishReason.END, 1, 0, 0.1, 0.1, 1, 0.1)
    reply = Message("m", "c", None, Role.ASSISTANT, MessageStatus.COMPLETE, (), 0, stats=stats)
    assert answering.stats_of(replace(reply, model_key="/a.gguf"), "/a.gguf") is stats
    for other in (None, "/b.gguf"):
        with pytest.raises(answering.WrongModel):
            answering.stats_of(replace(reply, model_key=other), "/a.gguf")
    with pytest.raises(answering.WrongModel):
        answering.stats_of(replace(reply, model_key="/a.gguf", stats=None), "/a.gguf")
    meant = answering.served_name(Path("/models/wide-1.2b-q8_0.gguf"))
    answering.check_name(meant, meant)
    with pytest.raises(answering.WrongModel):
        answering.check_name(meant, answering.served_name(Path(answering.starter_key())))

"""Whether the exact setting gives the same text whatever was reused: two engines, one of which
keeps and restores."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from headstart.core.chats.values import Role
from headstart.core.models.ref import ModelRef
from headstart.core.requests import PromptMessage
from headstart.core.settings.schema import EngineSettings
from tests.support.prefix_engine import BANK, PrefixEngine

FAMILIES = (
    "llama", "qwen3moe", "gemma3", "gemma2", "mamba2", "rwkv7", "granitehybrid", "lfm2",
)  # fmt: skip
MODES = ("again", "second", "restarted", "edited", "ahead")
TOKENS = 24


def words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(BANK.split()) for _ in range(count))


def _message(role: Role, text: str, key: str) -> PromptMessage:
    return PromptMessage(role, text, key)


class Pair:
    """An engine that keeps and restores, and one that is asked each prompt as the first."""

    def __init__(self, folder: Path, model: ModelRef) -> None:
        for name in ("kept", "plain"):
            (folder / name).mkdir()
        self.kept = PrefixEngine(folder / "kept", model)
        self.kept.settings = EngineSettings(context_length=2048, exact=True)
        self.plain = PrefixEngine(folder / "plain", model)
        self.plain.settings = self.kept.settings

    def fresh(self, messages: Sequence[PromptMessage]) -> str:
        generator = self.plain.generator
        if generator.all_loaded:
            # nothing is resident, and nothing was kept
            resident = generator.loaded.resident
            generator.loaded.decoder.truncate(0)
            resident.tokens.clear()
            resident.unsaved = resident.tail_unsaved = False
        chat_id = f"plain-{random.random()}"
        return self.plain.ask(chat_id, messages, TOKENS).text

    def close(self) -> None:
        self.kept.stop()
        self.plain.stop()


def run(pair: Pair, rng: random.Random, number: int, counts: dict[str, list[int]]) -> int:
    """One chat in all modes; `counts` has, by mode, how many replies were the same, of how many.
    Returns the tokens that were reused."""
    kept, reused = pair.kept, 0
    chat_id = kept.chat(f"chat-{number}")
    first = [
        _message(Role.SYSTEM, words(rng, rng.randint(3, 40)), "s"),
        _message(Role.USER, words(rng, rng.randint(5, 500)), "q1"),
    ]

    def compare(mode: str, messages: Sequence[PromptMessage]) -> None:
        nonlocal reused
        answer = kept.ask(chat_id, messages, TOKENS)
        reused += answer.reused
        counts[mode][0] += answer.text == pair.fresh(messages)
        counts[mode][1] += 1

    answer = kept.ask(chat_id, first, TOKENS).text
    other = kept.chat(f"other-{number}")
    kept.ask(other, [*first[:1], _message(Role.USER, words(rng, 30), "o")], TOKENS)
    compare("again", first)
    second = [
        *first,
        _message(Role.ASSISTANT, answer, "a1"),
        _message(Role.USER, words(rng, rng.randint(3, 120)), "q2"),
    ]
    compare("second", second)
    edited = [*second[:-1], _message(Role.USER, words(rng, rng.randint(3, 120)), "q3")]
    compare("edited", edited)
    if number % 4 == 0:
        kept.leave()
        kept.restart()
    else:
        kept.ask(other, [_message(Role.USER, words(rng, 20), "p")], TOKENS)
    compare("restarted", second)
    typed = words(rng, rng.randint(3, 60))
    kept.ahead(chat_id, second, typed)
    more = [
        *second,
        _message(Role.ASSISTANT, answer, "a2"),
        _message(Role.USER, typed, "q4"),
    ]
    compare("ahead", more)
    return reused

"""With the exact setting the same question gives the same text, whatever was reused for it.

Tiny random models of eight families, whose near-ties show every bit that differs; in five modes:
asked again, a second turn, a second turn after a restart, an edited question, and a question that
was prefilled ahead. Each is compared with the same prompt in an engine that keeps nothing.

    .venv/bin/python -m tests.benchmarks.exact_replies --json FILE [--replies 400] [--only llama]
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from headstart.core.model_ref import ModelRef
from headstart.core.requests import PromptMessage
from headstart.core.settings import EngineSettings
from headstart.core.values import Role
from headstart.engine.prefix import speeds
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.hub.library import starter_model
from tests.benchmarks.report import Report
from tests.models.tiny import make_tiny
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


def run(pair: Pair, rng: random.Random, number: int, counts: dict[str, list[int]]) -> None:
    kept = pair.kept
    chat_id = kept.chat(f"chat-{number}")
    first = [
        _message(Role.SYSTEM, words(rng, rng.randint(3, 40)), "s"),
        _message(Role.USER, words(rng, rng.randint(5, 500)), "q1"),
    ]

    def compare(mode: str, messages: Sequence[PromptMessage], text: str) -> None:
        counts[mode][0] += text == pair.fresh(messages)
        counts[mode][1] += 1

    answer = kept.ask(chat_id, first, TOKENS).text
    other = kept.chat(f"other-{number}")
    kept.ask(other, [*first[:1], _message(Role.USER, words(rng, 30), "o")], TOKENS)
    compare("again", first, kept.ask(chat_id, first, TOKENS).text)
    second = [
        *first,
        _message(Role.ASSISTANT, answer, "a1"),
        _message(Role.USER, words(rng, rng.randint(3, 120)), "q2"),
    ]
    compare("second", second, kept.ask(chat_id, second, TOKENS).text)
    edited = [*second[:-1], _message(Role.USER, words(rng, rng.randint(3, 120)), "q3")]
    compare("edited", edited, kept.ask(chat_id, edited, TOKENS).text)
    if number % 4 == 0:
        kept.leave()
        kept.restart()
    else:
        kept.ask(other, [_message(Role.USER, words(rng, 20), "p")], TOKENS)
    compare("restarted", second, kept.ask(chat_id, second, TOKENS).text)
    typed = words(rng, rng.randint(3, 60))
    kept.ahead(chat_id, second, typed)
    more = [
        *second,
        _message(Role.ASSISTANT, answer, "a2"),
        _message(Role.USER, typed, "q4"),
    ]
    compare("ahead", more, kept.ask(chat_id, more, TOKENS).text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--replies", type=int, default=400)
    parser.add_argument("--only", default=",".join(FAMILIES))
    options = parser.parse_args()
    starter = starter_model()
    assert starter is not None
    # tiny models prefill faster than a file is opened; here everything that was kept comes back
    speeds.load = lambda *_: PrefixSpeeds(token_seconds=10.0)
    PrefixSpeeds.observe_prefill = lambda *_: None  # type: ignore[method-assign]
    report = Report("exact replies (share of those that are the same)")
    all_equal, all_count = 0, 0
    for family in options.only.split(","):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = make_tiny(family, starter.path, folder / "model.gguf")
            pair = Pair(folder, ModelRef(path, "model", path.stat().st_size))
            counts = {mode: [0, 0] for mode in MODES}
            rng = random.Random(family)
            for number in range(options.replies // len(MODES)):
                run(pair, rng, number, counts)
            pair.close()
        notes = ", ".join(f"{mode} {equal} of {count}" for mode, (equal, count) in counts.items())
        equal, count = (sum(one[at] for one in counts.values()) for at in (0, 1))
        report.add(f"exact_equal_{family}", equal / count, "1.0", notes)
        print(f"  {family}: {notes}", flush=True)
        all_equal, all_count = all_equal + equal, all_count + count
    report.add("exact_equal", all_equal / all_count, "1.0")
    report.write(options.json)


if __name__ == "__main__":
    main()

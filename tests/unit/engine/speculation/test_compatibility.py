"""Verdicts before loading, each with its reason; vocabularies compared by what tokens stand for."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from headstart.core.models.described import ModelCard, Vocabulary, spelled
from headstart.core.models.draft_choice import Works
from headstart.core.models.fit import Memory, ModelShape, need
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings
from headstart.engine.speculation.compatibility import compare, judge

ENGINE = EngineSettings()
WORDS = tuple(f"w{number}".encode() for number in range(2000))
GB = 1_000_000_000


def vocabulary(*texts: bytes) -> Vocabulary:
    return Vocabulary("bpe", texts)


def card(name: str, size: int, words: tuple[bytes, ...] = WORDS) -> ModelCard:
    ref = ModelRef(Path(f"/models/{name}.gguf"), name, size)
    shape = ModelShape(size, 8192, keys=5_000, values=5_000)
    return ModelCard(ref, "llama", "full", 8192, shape, len(words), vocabulary(*words))


TARGET = card("target", 8 * GB)


@pytest.mark.parametrize(
    ("draft", "works", "reason"),
    [
        (TARGET, "no", "the same model"),
        (card("big", 9 * GB), "no", "not smaller than the target"),
        (card("small", GB // 2), "yes", "same vocabulary (2,000 tokens)"),
        (card("padded", GB // 2, (*WORDS, b"pad1", b"pad2")), "yes", "same vocabulary"),
        (
            card("near", GB // 2, (*WORDS[:100], b"other", *WORDS[101:])),
            "yes",
            "same vocabulary but for 1 token",
        ),
        (card("mixed", GB // 2, WORDS[::-1]), "yes", "another vocabulary, 100%"),
        (card("text", GB // 2, WORDS[::5]), "by text", "drafts go by text"),
        (card("alien", GB // 2, (b"x", b"y")), "no", "no tokens in common"),
        (replace(card("short", GB // 2), context_length=512), "yes", "the last 512 tokens"),
        (replace(card("state", GB // 2), cache="hybrid"), "yes", "cannot take drafts back"),
        (card("half", 5 * GB), "yes", "little to win"),
    ],
)
def test_every_draft_gets_a_verdict_with_its_reason(
    draft: ModelCard, works: str, reason: str
) -> None:
    verdict = judge(TARGET, draft, 8192, ENGINE, Memory(32 * GB, 16 * GB))
    assert verdict.works == works
    assert reason in verdict.reason


def test_memory_counts_weights_keys_values_and_context() -> None:
    draft = card("small", GB)
    more, less = (need(draft.shape, context, ENGINE) for context in (8192, 4096))
    assert more.kv - less.kv == 4096 * 20_000
    verdict = judge(TARGET, draft, 8192, ENGINE, Memory(GB, GB))
    assert verdict.works is Works.NO
    assert "memory" in verdict.reason
    assert "is free" in verdict.reason


def test_control_tokens_may_differ() -> None:
    other = (b"<a>", b"<b>", *WORDS[2:])
    assert compare(vocabulary(*WORDS), vocabulary(*other)).tier == "same"


def test_tokens_are_compared_by_their_bytes() -> None:
    assert spelled("bpe", "Ġthe".encode()) == b" the"
    assert spelled("bpe", "Ċ".encode()) == b"\n"
    assert spelled("spm", "▁the".encode()) == b" the"
    assert spelled("spm", b"<0x0A>") == b"\n"
    assert spelled("bpe", b"<|im_end|>") == b"<|im_end|>"

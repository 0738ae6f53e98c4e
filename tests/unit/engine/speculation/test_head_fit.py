"""Verdicts on heads before loading, each with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from headstart.core.models.described import ModelCard, Vocabulary
from headstart.core.models.draft_choice import Works
from headstart.core.models.fit import Memory, ModelShape
from headstart.core.models.heads import HeadFacts, HeadKind
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings
from headstart.engine.speculation.head_fit import judge_head, why_no_own_layers

GB = 1_000_000_000
SHAPE = ModelShape(8 * GB, 8192, keys=5_000, values=5_000, width=4096, layers=32)
TARGET = ModelCard(
    ModelRef(Path("/models/t.gguf"), "t", 8 * GB), "llama", "full", 8192, SHAPE, 128_256,
    Vocabulary("bpe", ()),
)  # fmt: skip
HEAD = ModelShape(GB // 2, 8192, keys=1024, values=1024, width=4096, layers=1)
EAGLE = HeadFacts(HeadKind.EAGLE3, 4096, 128_256, "", (2, 16, 29))
BLOCK = HeadFacts(HeadKind.DFLASH, 4096, 128_256, "", (2, 16, 29), 15)
QWEN = replace(TARGET, architecture="qwen35")
MEDUSA = HeadFacts(HeadKind.MEDUSA, 4096, depth=3, form="mlx")
GEMMA = HeadFacts(HeadKind.ASSISTANT, 4096, 128_256, "gemma4")
LAYERS = HeadFacts(HeadKind.LAYERS, 4096, 128_256, "qwen35")


@pytest.mark.parametrize(
    ("target", "head", "works", "reason"),
    [
        (TARGET, EAGLE, "yes", "made for models like this one"),
        (QWEN, LAYERS, "yes", "made for models like this one"),
        (QWEN, HeadFacts(HeadKind.OWN, 0), "yes", "in the model's own file"),
        (TARGET, replace(EAGLE, width=2048), "no", "2,048 numbers, not 4,096"),
        (TARGET, replace(EAGLE, vocabulary=32_000), "no", "32,000 tokens"),
        (TARGET, replace(EAGLE, taps=(2, 30, 60)), "no", "layer 60; this one has 32"),
        (TARGET, LAYERS, "no", "another kind of model (qwen35, not llama)"),
        (replace(TARGET, architecture="qwen2"), EAGLE, "no", "hidden states of qwen2 models"),
        (TARGET, HeadFacts(HeadKind.OWN, 0), "no", "hidden states of llama models"),
        (TARGET, replace(EAGLE, form="mlx"), "no", "not run here"),
        (TARGET, BLOCK, "yes", "made for models like this one"),
        (TARGET, replace(BLOCK, kind=HeadKind.DSPARK), "yes", "made for models like this one"),
        (TARGET, replace(BLOCK, taps=(2, 32)), "no", "layer 32; this one has 32"),
        (replace(TARGET, architecture="mimo2"), replace(BLOCK, taps=(2, 32)), "yes", "made for"),
        (replace(TARGET, architecture="gemma3"), BLOCK, "no", "hidden states of gemma3 models"),
        (TARGET, replace(MEDUSA, width=2048), "no", "2,048 numbers, not 4,096"),
        (TARGET, MEDUSA, "yes", "made for models like this one"),
        (replace(TARGET, architecture="gemma4"), GEMMA, "yes", "made for models like this one"),
        (TARGET, GEMMA, "no", "another kind of model (gemma4, not llama)"),
    ],
)
def test_a_verdict_says_why(target: ModelCard, head: HeadFacts, works: str, reason: str) -> None:
    memory = Memory(32 * GB, 16 * GB)
    verdict = judge_head(target, head, HEAD, 8192, EngineSettings(), memory)
    assert verdict.works == works
    assert reason in verdict.reason


def test_a_head_without_memory_is_named_with_what_it_takes() -> None:
    verdict = judge_head(TARGET, EAGLE, HEAD, 8192, EngineSettings(), Memory(GB // 4, GB // 4))
    assert verdict.works is Works.NO
    assert "memory" in verdict.reason


def test_layers_that_are_announced_and_missing_are_told_apart() -> None:
    assert why_no_own_layers(0, 0) is None
    missing, other = why_no_own_layers(0, 1), why_no_own_layers(2, 2)
    assert missing is not None
    assert "announces 1 layer for drafting, but does not have them" in missing.reason
    assert other is not None
    assert "2 layers for drafting, which llama.cpp cannot run" in other.reason

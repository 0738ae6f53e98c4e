"""Models of every cache family, tiny and random: never a wrong word, never a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, Speculation
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from headstart.engine.speculation.token_mapping import make_mapping
from headstart.hub.cards import read_card
from tests.models.tiny import FAMILIES, make_tiny
from tests.support.decoding import plain, speculated

TOKENS = 60
# f16 weights leave small differences between forwards of one and of several tokens
NEAR_TIE = 0.15


def _decoder(path: Path) -> LlamaCppDecoder:
    return LlamaCppDecoder(path, EngineSettings(context_length=512, kv_type="bf16"))


# targets that cost otherwise than dense ones, with a dense draft
MIXED = [("qwen3moe", "llama"), ("granitehybrid", "llama"), ("qwen35", "llama")]


@pytest.mark.parametrize(("family", "drafts"), [*((name, name) for name in FAMILIES), *MIXED])
def test_speculation_changes_no_word(
    family: str, drafts: str, starter: ModelRef, tmp_path: Path
) -> None:
    path = make_tiny(family, starter.path, tmp_path / "target.gguf")
    draft_path = make_tiny(drafts, starter.path, tmp_path / "draft.gguf", layers=_fewer(drafts))
    prompt = list(range(300, 330)) * 2
    alone = _decoder(path)
    wanted_tokens, gaps = plain(alone, prompt, TOKENS)
    alone.close()
    target, draft = _decoder(path), _decoder(draft_path)
    mapping, match = make_mapping(target, draft)
    assert mapping is not None
    assert match.tier == "same"
    model = DraftModel(draft, mapping)
    pair, profile = PairProfile(), TargetProfile()
    for wanted in (
        Speculation(draft="d", depth_mode="fixed", depth=3, prompt_lookup=False),
        Speculation(draft="d", depth_mode="fixed", depth=6, tree_branches="always"),
        Speculation(draft="d"),
        Speculation(),
    ):
        written, _ = speculated(target, model, (profile, pair), wanted, prompt, TOKENS)
        for place, (token, own) in enumerate(zip(written, wanted_tokens, strict=False)):
            if token != own:
                assert gaps[place] < NEAR_TIE, f"{wanted} differs at {place}"
                break
    model.close()
    target.close()


def _fewer(family: str) -> int:
    return 5 if family == "nemotron_h" else 3


@pytest.mark.parametrize("family", FAMILIES)
def test_a_card_says_what_kind_of_cache_a_model_has(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    card = read_card(ModelRef(path, "tiny", path.stat().st_size))
    kinds = {"attention": "full"}
    memory = FAMILIES[family].memory
    assert card.cache == kinds.get(memory, memory)
    assert card.vocabulary_size == 4096
    assert (card.kv_bytes_per_token > 0) == (memory != "recurrent")

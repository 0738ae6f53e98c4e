"""Heads that draft blocks on MLX, run on a processor: what their weights say, and the words of
plain decoding."""

from __future__ import annotations

from tests.support import needs_mlx  # noqa: F401

# isort: split
import json
import math
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from headstart.core.chats.values import Role
from headstart.core.models.heads import HeadKind
from headstart.core.models.ref import ModelRef
from headstart.core.requests import PromptMessage
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation
from headstart.engine.backends.heads.mlx_block import MlxBlock
from headstart.engine.backends.mlx.decoder import MlxDecoder
from headstart.engine.backends.mlx.states import inner_of, output_of
from headstart.engine.speculation.block_draft import BlockDraft
from headstart.hub import about
from headstart.hub.heads import read_head
from headstart.hub.library import open_model
from tests.models.mlx_heads import make_block
from tests.models.tiny_mlx import make_tiny_mlx
from tests.support.block_network import block_states
from tests.support.prefix_engine import PrefixEngine
from tests.support.sampled import sampled

TOKENS = 40
SETTINGS = EngineSettings(context_length=1024)
STORY = [PromptMessage(Role.USER, "Tell a story about a river.", "a")]
OFF = Speculation(enabled=False)
FIXED = Speculation(draft="d", depth_mode="fixed", depth=3, prompt_lookup=False)
KINDS = {"dflash": HeadKind.DFLASH, "dspark": HeadKind.DSPARK}
# as llama.cpp calls them
NAMES = {
    "hidden_norm": "enc.output_norm", "norm": "output_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip


@pytest.fixture(scope="module")
def target(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_mlx("llama", starter.path, tmp_path_factory.mktemp("mlx") / "tiny")


def _text(count: int) -> list[int]:
    return [int(token) for token in np.random.default_rng(3).integers(300, 4000, count)]


def _opened(target: Path, folder: Path, kind: str) -> tuple[MlxDecoder, MlxBlock]:
    decoder = MlxDecoder(target, SETTINGS)
    head = MlxBlock(folder, KINDS[kind], SETTINGS, decoder)
    decoder.states.keep(head.facts.wants)
    return decoder, head


def _named(name: str) -> str:
    parts = name.removesuffix(".weight").split(".", 2)
    if parts[0] == "layers":
        return f"blk.{parts[1]}.{NAMES[parts[2]]}.weight"
    short = name.removesuffix(".weight")
    return f"{NAMES.get(short, short)}.weight"


def test_a_block_is_what_its_weights_say(target: Path, tmp_path: Path) -> None:
    folder = make_block(target, tmp_path / "head")
    decoder, head = _opened(target, folder, "dflash")
    assert (head.facts.wants, head.facts.at_once) == ((1, 3), 5)
    text, count = _text(20), 4
    decoder.forward(text, [19])
    rows = decoder.states.rows(0, 20)
    # in pieces, with a block in between that leaves nothing
    head.forward(text[1:8], (), hidden=rows[:7])
    head.forward([text[7]], range(2))
    head.forward([*text[8:], 9], (), hidden=rows[7:])
    assert head.n_past() == 20
    head.forward([9], range(count))
    found = [head.row(row) for row in range(count)]
    assert head.n_past() == 20
    loaded: Any = mx.load(str(folder / "model.safetensors"))
    weights = {_named(name): np.array(array) for name, array in loaded.items()}
    whole = decoder.loaded.model
    embedded = inner_of(whole).embed_tokens(mx.array([9, *[7] * count]))
    states = block_states(weights, rows, np.array(embedded.astype(mx.float32)), 10_000.0)
    for place, logits in enumerate(found, 1):
        made = output_of(whole)(mx.array(states[place : place + 1][None]))[0, 0]
        expected = np.array(made.astype(mx.float32))[: len(logits)]
        assert np.abs(logits - expected).max() < 0.02 * np.abs(expected).max()
    head.close()
    decoder.states.keep(())
    decoder.close()


def test_dspark_goes_by_the_token_before_and_says_how_sure_it_is(
    target: Path, tmp_path: Path
) -> None:
    folder = make_block(target, tmp_path / "head", "dspark")
    decoder, head = _opened(target, folder, "dspark")
    assert head.facts.at_once == 6
    text, count = _text(12), 4
    decoder.forward(text, [11])
    rows = decoder.states.rows(0, 12)
    head.forward([*text[1:], 9], (), hidden=rows)
    head.forward([9], range(count))
    sure = [head.sureness(row) for row in range(count)]
    assert all(map(math.isfinite, sure))
    assert len(set(sure)) > 1
    loaded: Any = mx.load(str(folder / "model.safetensors"))
    weights = {
        _named(name): np.array(array) for name, array in loaded.items() if "head" not in name
    }
    first, second = (np.array(loaded[f"markov_head.markov_w{one}.weight"]) for one in (1, 2))
    whole, before = decoder.loaded.model, 9
    embedded = inner_of(whole).embed_tokens(mx.array([9, *[7] * (count - 1)]))
    states = block_states(weights, rows, np.array(embedded.astype(mx.float32)), 10_000.0)
    for place in range(count):
        made = output_of(whole)(mx.array(states[place : place + 1][None]))[0, 0]
        logits = head.row(place)
        expected = np.array(made.astype(mx.float32))[: len(logits)]
        expected = expected + (second @ first[before])[: len(logits)]
        assert np.abs(logits - expected).max() < 0.02 * np.abs(expected).max()
        before = int(logits.argmax())
    head.close()
    decoder.states.keep(())
    decoder.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("temperature", sampled([0.0, 0.8], 0.8))
def test_words_are_those_of_plain_decoding(
    kind: str, temperature: float, target: Path, tmp_path: Path
) -> None:
    engine = PrefixEngine(tmp_path / "home", open_model(target))
    engine.settings = EngineSettings(context_length=1024, backend="mlx")
    engine.chat("c")
    folder = make_block(target, tmp_path / "head", kind)
    head = ModelRef(folder, "head", 1000, "mlx")
    sampling = Sampling(temperature=temperature, seed=5, max_tokens=TOKENS)
    plain = engine.ask("c", STORY, TOKENS, speculation=OFF, sampling=sampling)
    for wanted in (FIXED, Speculation(draft="d")):
        written = engine.ask("c", STORY, TOKENS, speculation=wanted, draft=head, sampling=sampling)
        assert written.text == plain.text
    speculation = engine.generator.loaded.speculation
    assert isinstance(speculation.draft, BlockDraft)
    assert speculation.pair is not None
    assert speculation.pair.margins.all_verified > 5
    engine.stop()


def test_their_folders_are_heads_and_say_what_they_want(target: Path, tmp_path: Path) -> None:
    for kind, wanted in KINDS.items():
        folder = make_block(target, tmp_path / kind, kind)
        facts = read_head(ModelRef(folder, kind, 1000, "mlx"))
        assert facts is not None
        assert (facts.kind, facts.taps, facts.depth) == (wanted, (1, 3), 5)
        assert about.of_folder(folder).no_chat == "file-is-head"
    config = json.loads((folder / "config.json").read_text())
    # a kind with convolutions is not run here
    config["dflash_config"]["selector_rank"] = 16
    (folder / "config.json").write_text(json.dumps(config))
    assert read_head(ModelRef(folder, "other", 1000, "mlx")) is None

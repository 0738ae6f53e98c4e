"""Heads on MLX, run on a processor: states that are the layers' own, and words that are plain
decoding's."""

from __future__ import annotations

from tests.support import needs_mlx  # noqa: F401

# isort: split
from pathlib import Path

import numpy as np
import pytest

from headstart.core.chats.values import Role
from headstart.core.events import GenerationEvent, Notice
from headstart.core.models.heads import HeadKind
from headstart.core.models.ref import ModelRef
from headstart.core.requests import PromptMessage
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation
from headstart.engine.backends.heads.mlx_head import MlxHead
from headstart.engine.backends.heads.numpy_medusa import MedusaHead
from headstart.engine.backends.mlx.decoder import MlxDecoder
from headstart.engine.speculation.hidden_draft import HiddenStateDraft
from headstart.engine.stop import StopSignal
from headstart.hub import about
from headstart.hub.heads import read_head
from headstart.hub.library import open_model
from tests.models.mlx_heads import make_eagle3, make_medusa, make_mtp
from tests.models.tiny_mlx import make_tiny_mlx
from tests.support.prefix_engine import PrefixEngine
from tests.support.sampled import sampled

TOKENS = 40
SETTINGS = EngineSettings(context_length=1024)
STORY = [PromptMessage(Role.USER, "Tell a story about a river.", "a")]
OFF = Speculation(enabled=False)
FIXED = Speculation(draft="d", depth_mode="fixed", depth=3, prompt_lookup=False)


@pytest.fixture(scope="module")
def target(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_mlx("llama", starter.path, tmp_path_factory.mktemp("mlx") / "tiny")


def _head(kind: str, target: Path, folder: Path) -> ModelRef:
    path = {
        "eagle3": lambda: make_eagle3(target, folder),
        "some tokens": lambda: make_eagle3(target, folder, drafted=1000),
        "medusa": lambda: make_medusa(target, folder),
    }[kind]()
    size = sum(file.stat().st_size for file in path.glob("*.safetensors"))
    # smaller than the tiny model in any case
    return ModelRef(path, path.name, min(size, 1000), "mlx")


KINDS = ("eagle3", "some tokens", "medusa")


def _text(count: int) -> list[int]:
    return [int(token) for token in np.random.default_rng(3).integers(300, 4000, count)]


def test_states_are_the_same_however_the_text_is_decoded(target: Path) -> None:
    decoder = MlxDecoder(target, SETTINGS)
    text = _text(40)
    decoder.forward(text, [39])
    plain = decoder.row(0)
    decoder.truncate(0)
    decoder.states.keep((1, "last"))
    decoder.forward(text, [39])
    assert np.array_equal(decoder.row(0), plain)
    whole = decoder.states.rows(0, 40)
    assert whole.shape == (40, 2 * decoder.facts.width)
    decoder.truncate(0)
    one_by_one = []
    sampler = decoder.sampler(Sampling(temperature=0), 0)
    for token in text:
        # which lets it begin with the next forward
        sampler.look_ahead(0)
        decoder.forward([token], [0])
        one_by_one.append(decoder.states.rows(0, 1)[0])
    assert np.abs(np.array(one_by_one) - whole).max() < 1e-3
    decoder.states.keep(())
    decoder.close()


def test_a_head_over_some_tokens_drafts_those_by_the_targets_ids(
    target: Path, tmp_path: Path
) -> None:
    decoder = MlxDecoder(target, SETTINGS)
    head = MlxHead(
        make_eagle3(target, tmp_path / "head", drafted=1000), HeadKind.EAGLE3, SETTINGS, decoder
    )
    decoder.states.keep(head.facts.wants)
    text = _text(20)
    decoder.forward(text, [19])
    rows = decoder.states.rows(0, 20)
    head.forward([*text[1:], 7], [19], hidden=rows)
    logits = head.row(0)
    # the offsets of the file: every other token
    assert np.isfinite(logits[:2000:2]).all()
    assert np.isneginf(logits[1:2000:2]).all()
    whole, own = logits[:2000:2], head.states.rows(19, 20)
    head.forward([9], [0], hidden=own)
    # taken back, and in pieces: the same
    assert head.truncate(10) == 10
    head.forward([*text[11:], 7], [9], hidden=rows[10:])
    assert np.abs(head.row(0)[:2000:2] - whole).max() < 1e-3
    head.close()
    decoder.close()


def test_medusa_heads_are_the_same_in_numpy(target: Path, tmp_path: Path) -> None:
    decoder = MlxDecoder(target, SETTINGS)
    folder = make_medusa(target, tmp_path / "head")
    on_mlx = MlxHead(folder, HeadKind.MEDUSA, SETTINGS, decoder)
    in_numpy = MedusaHead(folder, decoder)
    assert (on_mlx.facts.wants, on_mlx.facts.depth) == (("last",), in_numpy.facts.depth)
    rows = np.random.default_rng(2).standard_normal((5, decoder.facts.width), np.float32)
    tokens = _text(5)
    for _ in range(4):
        found = []
        for head in (on_mlx, in_numpy):
            head.forward(tokens, [len(tokens) - 1], hidden=rows)
            found.append((head.row(0), head.states.rows(len(tokens) - 1, len(tokens))))
        (logits, own), (other_logits, other_own) = found
        assert np.abs(logits - other_logits).max() < 1e-3
        assert np.allclose(own, other_own)
        # the head after that one
        rows, tokens = own, [9]
    on_mlx.close()
    in_numpy.close()
    decoder.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("temperature", sampled([0.0, 0.8], 0.8))
def test_words_are_those_of_plain_decoding(
    kind: str, temperature: float, target: Path, tmp_path: Path
) -> None:
    engine = PrefixEngine(tmp_path / "home", open_model(target))
    engine.settings = EngineSettings(context_length=1024, backend="mlx")
    engine.chat("c")
    head = _head(kind, target, tmp_path / "head")
    sampling = Sampling(temperature=temperature, seed=5, max_tokens=TOKENS)
    plain = engine.ask("c", STORY, TOKENS, speculation=OFF, sampling=sampling)
    for wanted in (FIXED, Speculation(draft="d")):
        written = engine.ask("c", STORY, TOKENS, speculation=wanted, draft=head, sampling=sampling)
        assert written.text == plain.text
    speculation = engine.generator.loaded.speculation
    assert isinstance(speculation.draft, HiddenStateDraft)
    assert speculation.pair is not None
    assert speculation.pair.margins.all_verified > 5
    engine.stop()


def test_layers_of_a_sidecar_folder_draft_for_a_hybrid(starter: ModelRef, tmp_path: Path) -> None:
    target = make_tiny_mlx("qwen3_5", starter.path, tmp_path / "tiny")
    folder = make_mtp(target, tmp_path / "mtp")
    facts = read_head(ModelRef(folder, "mtp", 1000, "mlx"))
    assert facts is not None
    assert (facts.kind, facts.architecture) == (HeadKind.LAYERS, "qwen3_5")
    engine = PrefixEngine(tmp_path / "home", open_model(target))
    engine.settings = EngineSettings(context_length=1024, backend="mlx")
    engine.chat("c")
    head = ModelRef(folder, "mtp", 1000, "mlx")
    plain = engine.ask("c", STORY, TOKENS, speculation=OFF)
    assert engine.ask("c", STORY, TOKENS, speculation=FIXED, draft=head).text == plain.text
    speculation = engine.generator.loaded.speculation
    assert speculation.pair is not None
    assert speculation.pair.margins.all_verified > 5
    engine.stop()


def test_folders_of_heads_are_told_from_models(target: Path, tmp_path: Path) -> None:
    for kind, wanted in zip(
        KINDS, (HeadKind.EAGLE3, HeadKind.EAGLE3, HeadKind.MEDUSA), strict=True
    ):
        head = _head(kind, target, tmp_path / kind)
        facts = read_head(head)
        assert facts is not None
        assert (facts.kind, facts.form) == (wanted, "mlx")
        assert about.of_folder(head.path).no_chat == "file-is-head"
    assert about.of_folder(target).no_chat == ""


@pytest.mark.logs("the draft")
@pytest.mark.parametrize("left_out", ["fc.weight", "midlayer.mlp.up_proj.weight"])
def test_half_a_head_is_named_and_the_reply_comes(
    left_out: str, target: Path, tmp_path: Path
) -> None:
    import mlx.core as mx

    folder = make_eagle3(target, tmp_path / "head")
    file = folder / "model.safetensors"
    weights = mx.load(str(file))
    assert isinstance(weights, dict)
    del weights[left_out]
    mx.save_safetensors(str(file), weights)
    engine = PrefixEngine(tmp_path / "home", open_model(target))
    engine.settings = EngineSettings(context_length=1024, backend="mlx")
    engine.chat("c")
    events: list[GenerationEvent] = []
    request = engine.request(
        "c", STORY, 8, speculation=FIXED, draft=ModelRef(folder, "half", 1000, "mlx")
    )
    engine.generator.generate(request, events.append, StopSignal())
    said = [event.told.text for event in events if isinstance(event, Notice)]
    assert len(said) == 1
    assert left_out.removeprefix("midlayer.") in said[0]
    engine.stop()

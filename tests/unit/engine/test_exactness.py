"""Exact where it says so: tried on the loaded model, remembered, and obeyed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import llama_cpp as lib
import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from headstart.core.chats.values import Role
from headstart.core.events import Finished, GenerationEvent, Notice
from headstart.core.models.profiles import ProfileKey
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage
from headstart.core.settings.schema import EngineSettings, KvType, Sampling, Speculation
from headstart.engine import exactness
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.decoder import DecodeAborted
from headstart.engine.exactness import Exactness
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile
from tests.models.drafts import Field, drop_layers, read_gguf, write_gguf
from tests.models.requantized import requantized
from tests.models.tiny import make_tiny
from tests.support.fake_decoder import FakeDecoder, table
from tests.support.processor import has_tiles

EXACT = EngineSettings(context_length=1024, exact=True)


class Profiles:
    def __init__(self) -> None:
        self.kept: dict[ProfileKey, bytes] = {}

    def load(self, key: ProfileKey) -> bytes | None:
        return self.kept.get(key)

    def save(self, key: ProfileKey, data: bytes) -> None:
        self.kept[key] = data


class Uneven(FakeDecoder):
    """Several rows at once come out a little different."""

    def row(self, row: int) -> npt.NDArray[np.float32]:
        return super().row(row) + np.float32(0.25 if len(self._rows) > 2 else 0)


def test_a_difference_between_one_row_and_several_is_found() -> None:
    logits = table(8, 3)
    for kind, gap in ((FakeDecoder, 0.0), (Uneven, 0.25)):
        decoder = kind(logits)
        decoder.forward([1, 2, 3], [])
        assert exactness.check(decoder).gap == pytest.approx(gap, abs=1e-6)
        assert decoder.tokens == [1, 2, 3]
    with pytest.raises(DecodeAborted):
        exactness.check(FakeDecoder(logits), StopSignal(-1))


def test_the_starter_model_is_exact_with_bf16(starter: ModelRef) -> None:
    decoder = LlamaCppDecoder(starter.path, EXACT.as_run)
    assert exactness.check(decoder).exact
    decoder.close()


@pytest.mark.skipif(not has_tiles(), reason="kernels for x86 with AVX2")
@pytest.mark.parametrize(
    ("kind", "kv"),
    [
        ("starter", "bf16"),
        ("Q4_K", "f16"),
        ("F16", "q8_0"),
        *(
            pytest.param(*both, marks=pytest.mark.proof)
            for both in (
                ("starter", "f16"), ("starter", "q8_0"), ("Q4_K", "bf16"), ("Q4_K", "q8_0"),
                ("F16", "f16"), ("F16", "bf16"),
            )
        ),
    ],
)  # fmt: skip
def test_every_model_is_exact_with_kernels_for_avx2(
    starter: ModelRef, tmp_path: Path, kind: str, kv: KvType
) -> None:
    path = starter.path
    if kind == "Q4_K":
        path = requantized(starter.path, tmp_path / "q4_k.gguf", lib.LLAMA_FTYPE_MOSTLY_Q4_K_M)
    elif kind == "F16":
        path = make_tiny("gemma2", starter.path, tmp_path / "f16.gguf")
    decoder = LlamaCppDecoder(path, EngineSettings(context_length=1024, kv_type=kv))
    assert exactness.check(decoder).gap == 0
    decoder.close()


def _reply(
    generator: LocalGenerator, model: ModelRef, draft: ModelRef | None, wanted: Speculation
) -> tuple[Finished, list[str]]:
    events: list[GenerationEvent] = []
    generator.generate(
        GenerationRequest(
            LoadRequest(model, EXACT, draft),
            (PromptMessage(Role.USER, "Name three rivers.", "q"),),
            Sampling(temperature=0, max_tokens=24),
            speculation=wanted,
        ),
        events.append,
        StopSignal(),
    )
    last = events[-1]
    assert isinstance(last, Finished)
    return last, [event.told.text for event in events if isinstance(event, Notice)]


def test_nothing_is_drafted_for_a_model_that_is_not_exact(
    starter: ModelRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = drop_layers(starter.path, tmp_path / "draft.gguf", [12, 18])
    draft = ModelRef(path, path.stem, path.stat().st_size)
    checked = CheckedModelsFile(tmp_path / "checked.json")
    for settings in (EngineSettings(), EngineSettings(exact=True)):
        checked.add(draft, settings)
    wanted = Speculation(draft=draft.key, depth_mode="fixed", depth=3, prompt_lookup=False)
    profiles, tried = Profiles(), []
    for gap in (0.0, 0.03):
        profiles.kept.clear()

        def measure(decoder: object, cancelled: object, gap: float = gap) -> Exactness:
            tried.append(gap)
            return Exactness(gap)

        monkeypatch.setattr(exactness, "check", measure)
        for _ in range(2):
            generator = LocalGenerator(Resources(checked, profiles))
            last, notices = _reply(generator, starter, draft, wanted)
            assert last.stats.speculation is not None
            assert (last.stats.speculation.draft_verified > 0) == (gap == 0)
            assert any("0.03" in text for text in notices) == (gap > 0)
            generator.close()
    # once for each, and then remembered
    assert tried == [0.0, 0.03]


def test_exact_decides_key_and_value_types() -> None:
    wanted = {"kv_type": "bf16", "flash_attention": "on", "window_cache": "whole"}
    assert EXACT.as_run == msgspec.structs.replace(EXACT, **wanted)
    assert EngineSettings(kv_type="q8_0").as_run.kv_type == "q8_0"


def _states(path: Path, lengths: Sequence[int]) -> list[str]:
    states = []
    for length in lengths:
        decoder = LlamaCppDecoder(path, EngineSettings(context_length=length))
        states.append(decoder.facts.state)
        decoder.close()
    return states


def test_prefixes_of_long_and_short_rope_are_kept_apart(starter: ModelRef, tmp_path: Path) -> None:
    short, also_short, long = _states(starter.path, (512, 2048, 16384))
    assert short == also_short != long
    found = read_gguf(starter.path)
    key = "llama.rope.scaling.original_context_length"
    kind = found.fields["llama.context_length"].kind
    fields = {**found.fields, key: Field(1024, kind)}
    path = write_gguf(tmp_path / "long.gguf", found.architecture, fields, found.tensors)
    short, long, also_long = _states(path, (1024, 1280, 2048))
    assert short != long == also_long
    assert dataclasses.replace(found, fields=fields).fields[key].value == 1024

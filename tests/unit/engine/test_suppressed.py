"""Tokens that a model's makers do not want to see in any reply."""

from __future__ import annotations

from tests.support import needs_mlx  # noqa: F401

# isort: split
import json
from pathlib import Path

import gguf
import numpy as np
import pytest

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, Sampling
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.backends.mlx.decoder import MlxDecoder
from headstart.engine.decoder import Decoder
from tests.models.drafts import Field, read_gguf, write_gguf
from tests.models.tiny import make_tiny
from tests.models.tiny_mlx import make_tiny_mlx

KEY = "tokenizer.ggml.suppress_tokens"
PROMPT = list(range(300, 340))
SETTINGS = EngineSettings(context_length=512)
SAMPLINGS = (
    Sampling(temperature=0),
    Sampling(temperature=0, repeat_penalty=1.1),
    Sampling(temperature=0.8),
)


def _likeliest(decoder: Decoder) -> list[int]:
    decoder.truncate(0)
    decoder.forward(PROMPT, [len(PROMPT) - 1])
    return [int(token) for token in np.argsort(-decoder.row(0))[:6]]


def _avoids(decoder: Decoder, banned: list[int]) -> None:
    assert decoder.facts.suppressed == tuple(banned)
    # the likeliest ones still are: nothing but drawing changes
    assert _likeliest(decoder)[:5] == banned
    for sampling in SAMPLINGS:
        for names in (None, list(range(decoder.facts.vocabulary_size))):
            sampler = decoder.sampler(sampling, 1, names)
            for position in range(20):
                assert sampler.draw(0, position) not in banned
                assert sampler.predict(0, position).token not in banned
            sampler.close()


def test_a_gguf_file_names_them(starter: ModelRef, tmp_path: Path) -> None:
    plain = make_tiny("llama", starter.path, tmp_path / "plain.gguf")
    decoder = LlamaCppDecoder(plain, SETTINGS)
    assert decoder.facts.suppressed == ()
    banned = _likeliest(decoder)[:5]
    decoder.close()
    model = read_gguf(plain)
    kinds = gguf.GGUFValueType
    fields = {**model.fields, KEY: Field([*banned, 999_999], kinds.ARRAY, kinds.INT32)}
    path = write_gguf(tmp_path / "some.gguf", model.architecture, fields, model.tensors)
    decoder = LlamaCppDecoder(path, SETTINGS)
    _avoids(decoder, banned)
    decoder.close()


def test_a_folder_names_them(starter: ModelRef, tmp_path: Path) -> None:
    folder = make_tiny_mlx("llama", starter.path, tmp_path / "model")
    decoder = MlxDecoder(folder, SETTINGS)
    banned = _likeliest(decoder)[:5]
    decoder.close()
    said = {"suppress_tokens": [*banned, 999_999, "a", None]}
    (folder / "generation_config.json").write_text(json.dumps(said))
    decoder = MlxDecoder(folder, SETTINGS)
    _avoids(decoder, banned)
    decoder.close()


@pytest.mark.parametrize("said", ['{"suppress_tokens": 7}', '{"suppress_tokens": null}'])
def test_what_is_no_list_suppresses_nothing(said: str, starter: ModelRef, tmp_path: Path) -> None:
    folder = make_tiny_mlx("llama", starter.path, tmp_path / "model")
    (folder / "generation_config.json").write_text(said)
    decoder = MlxDecoder(folder, SETTINGS)
    assert decoder.facts.suppressed == ()
    decoder.close()

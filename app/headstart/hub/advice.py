"""Sampling advice from a model's makers, in its file or folder. Worker threads."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Mapping
from pathlib import Path

import msgspec

from headstart.core.errors import ModelProblem
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import SamplingChoice
from headstart.core.strange_json import decoded
from headstart.hub.gguf import read_header

# our name -> the key in GGUF files and in `generation_config.json`
_GGUF = {
    "temperature": "general.sampling.temp",
    "top_p": "general.sampling.top_p",
    "top_k": "general.sampling.top_k",
    "min_p": "general.sampling.min_p",
    "repeat_penalty": "general.sampling.penalty_repeat",
}
_FOLDER = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "repeat_penalty": "repetition_penalty",
}
_LARGEST = 1 << 20


def read_advice(model: ModelRef) -> SamplingChoice:
    """The valid advice; none from an unreadable file."""
    try:
        changed = (model.path / "config.json" if model.format == "mlx" else model.path).stat()
    except OSError:
        return SamplingChoice()
    return _read(model, changed.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _read(model: ModelRef, _changed: int) -> SamplingChoice:
    if model.format == "mlx":
        said = _json(model.path / "generation_config.json")
        # greedy sampling overrides any stated temperature
        greedy = said.get("do_sample") is False
        return _choice(said, _FOLDER, {"temperature": 0.0} if greedy else {})
    try:
        return _choice(read_header(model.path).metadata, _GGUF, {})
    except ModelProblem:
        return SamplingChoice()


def _choice(
    said: Mapping[str, object], names: Mapping[str, str], fixed: dict[str, float]
) -> SamplingChoice:
    found: dict[str, float] = {}
    for name, key in names.items():
        value = said.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            # single precision reads as 0.6000000238
            whole = name == "top_k"
            found[name] = max(0, int(value)) if whole else round(float(value), 4)
    found |= fixed
    choice = SamplingChoice()
    for name, number in found.items():
        # skip a value out of bounds, keep the others
        with contextlib.suppress(msgspec.ValidationError):
            choice = msgspec.convert({**msgspec.to_builtins(choice), name: number}, SamplingChoice)
    return choice


def _json(path: Path) -> dict[str, object]:
    with contextlib.suppress(OSError, ValueError):
        if path.stat().st_size <= _LARGEST:
            found = decoded(path.read_bytes())
            if isinstance(found, dict):
                return found
    return {}

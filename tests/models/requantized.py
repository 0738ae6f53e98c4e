"""A model's weights in another type, made by llama.cpp."""

from __future__ import annotations

import os
from pathlib import Path

import llama_cpp as lib


def requantized(source: Path, target: Path, file_type: int, *, pure: bool = False) -> Path:
    """`target`, made unless it is there; `pure`: every matrix in the same type where it can be.

    `file_type` is a number of `llama_ftype`. Raises RuntimeError where llama.cpp does not make it.
    """
    if target.exists():
        return target
    partial = target.with_suffix(".partial")
    parameters = lib.llama_model_quantize_default_params()
    parameters.ftype = file_type
    parameters.allow_requantize = True
    parameters.pure = pure
    parameters.nthread = os.cpu_count() or 1
    if lib.llama_model_quantize(os.fsencode(source), os.fsencode(partial), parameters) != 0:
        raise RuntimeError(f"llama.cpp does not make type {file_type} of {source.name}")
    partial.replace(target)
    return target

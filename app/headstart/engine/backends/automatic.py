"""Describes the values of automatic engine settings on this computer. On a worker thread: asking
llama.cpp for its build features imports it."""

from __future__ import annotations

from headstart.core.models.fit import MOST_AUTOMATIC
from headstart.core.text.locale import locale
from headstart.core.told import Told, told
from headstart.engine.backends import select


def explain() -> dict[str, Told]:
    """The automatic value, or the cost of a choice, by the name of a field of `EngineSettings`."""
    import llama_cpp as lib

    from headstart.engine.backends.cores import automatic_threads
    from headstart.engine.backends.llama_cpp.context import CHUNK
    from headstart.engine.backends.llama_cpp.devices import cards

    found = cards()
    if found:
        layers = told("automatic-layers", cards=locale().listed([card.name for card in found]))
    elif lib.llama_supports_gpu_offload():
        layers = told("automatic-no-card")
    else:
        layers = told("automatic-no-gpu-build")
    if not select.has_mlx():
        backend = "automatic-without-mlx"
    else:
        backend = "automatic-mlx" if select.on_apple_silicon() else "automatic-mlx-elsewhere"
    return {
        "backend": told(backend),
        "context_length": told("automatic-context", most=MOST_AUTOMATIC),
        "threads": told("automatic-threads", threads=automatic_threads()),
        "kv_type": told("automatic-kv-type"),
        "exact": told("automatic-exact"),
        "gpu_layers": layers,
        "flash_attention": told("automatic-attention-tried" if found else "automatic-attention"),
        "window_cache": told("automatic-window-cache"),
        "batch": told("automatic-batch", chunk=CHUNK),
    }

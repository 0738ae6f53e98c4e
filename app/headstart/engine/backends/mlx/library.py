"""MLX's global state: its import, its device, and its limit of wired memory.

Imported by the MLX backend only, on the engine thread: MLX must load and generate on one thread.
"""

from __future__ import annotations

import sys
from importlib import metadata
from unittest import mock

if sys.platform != "win32":
    import resource

    # mlx-lm lowers this process's limit of open files, which the database, the window and downloads
    # need; a hard limit cannot be raised again
    with mock.patch.object(resource, "setrlimit", return_value=None):
        import mlx_lm.utils as mlx_utils
else:
    import mlx_lm.utils as mlx_utils

import mlx.core as mx
from mlx_lm.models import cache as mlx_cache

__all__ = ["clear_memory", "mlx_cache", "mlx_utils", "mx", "on_gpu", "prepare", "versions"]


def versions() -> str:
    return ", ".join(f"{name} {metadata.version(name)}" for name in ("mlx", "mlx-lm"))


def on_gpu() -> bool:
    return bool(mx.default_device() == mx.Device(mx.gpu, 0))


def prepare() -> None:
    """Let Metal keep the weights of a large model in memory."""
    if mx.metal.is_available():
        most = mx.device_info().get("max_recommended_working_set_size")
        if isinstance(most, int):
            mx.set_wired_limit(most)


def clear_memory() -> None:
    """Free buffers that no array uses."""
    mx.clear_cache()

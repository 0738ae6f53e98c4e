"""MLX's global side: importing it, what it runs on, and how much memory it may wire.

Imported by the MLX backend only, on the engine thread: MLX wants load and generate on one.
"""

from __future__ import annotations

import sys
from importlib import metadata
from unittest import mock

if sys.platform != "win32":
    import resource

    # mlx-lm lowers the number of files that this process may open; a database, a window and
    # downloads need theirs, and a hard limit cannot be raised again
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
    """Give buffers back that no array uses any more."""
    mx.clear_cache()

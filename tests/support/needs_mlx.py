"""Imported before MLX: a module of tests that does so is skipped on a system that has none."""

from __future__ import annotations

import importlib.util

import pytest

if importlib.util.find_spec("mlx") is None:
    pytest.skip("MLX is not made for this system", allow_module_level=True)

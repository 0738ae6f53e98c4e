"""What was computed by other kernels is not gone on with: their number is part of the name."""

from __future__ import annotations

import re

import pytest

from headstart.engine.backends.llama_cpp.exports import exported
from headstart.engine.backends.llama_cpp.library import build_name
from tests.support.native_library import NATIVE


def test_the_name_of_the_build_has_the_number_of_its_kernels() -> None:
    if exported("headstart_watch_mappings") is None:
        pytest.skip("the library was not compiled by the set-up")
    text = (NATIVE / "fixes.h").read_text(encoding="utf-8")
    found = re.search(r"#define HEADSTART_KERNELS (\d+)", text)
    assert found is not None
    assert f"with kernels {found[1]}" in build_name()

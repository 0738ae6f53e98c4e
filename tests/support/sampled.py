"""Values of which a few stand for all in `make test`, and the others have their turn in the
proof."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sampled(every: Iterable[Any], *kept: Any) -> list[Any]:
    """Parameters, of which all but `kept` are marked `proof`."""
    found = list(every)
    missing = [one for one in kept if one not in found]
    assert not missing, f"not among them: {missing}"
    return [one if one in kept else pytest.param(one, marks=pytest.mark.proof) for one in found]

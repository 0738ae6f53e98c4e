"""Instruction sets of this processor, as Linux names them."""

from __future__ import annotations

import platform
import sys
from pathlib import Path


def flags() -> frozenset[str]:
    """Empty where the system does not say."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return frozenset()
    known = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return frozenset(known.partition(":")[2].split())


def has_tiles() -> bool:
    """Whether the set-up's own products and attention are compiled for this processor."""
    here = flags()
    return (
        sys.platform == "linux"
        and platform.machine() == "x86_64"
        and {"avx2", "fma", "f16c"} <= here
    )

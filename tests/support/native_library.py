"""Compiles the C files of the native tests, as the set-up compiles llama.cpp."""

from __future__ import annotations

import ctypes
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processor import flags

NATIVE = Path(__file__).resolve().parents[2] / "packaging" / "native"
COMPILER = shlex.split(os.environ.get("CC", "cc"))
# as Linux names them, and GCC without the underscores
AVX2 = ("avx2", "fma", "f16c")
AVX512 = (*AVX2, "avx512f", "avx512bw", "avx512dq", "avx512vl")
# the kernels are others with each
SETS = {
    "AVX2": AVX2,
    "AVX2 with dots": (*AVX2, "avx_vnni"),
    "AVX-512": AVX512,
    "AVX-512 with dots": (*AVX512, "avx512_vnni"),
}
# the least and the most; a compiler takes seconds for each
SAMPLED = [
    name if name in ("AVX2", "AVX-512 with dots") else pytest.param(name, marks=pytest.mark.proof)
    for name in SETS
]


def can_compile() -> bool:
    """True with GCC or Clang on Linux for x86, where objects are linked as the tests do."""
    return (
        platform.machine() in ("x86_64", "AMD64")
        and sys.platform == "linux"
        and shutil.which(COMPILER[0]) is not None
    )


def can_run(needs: tuple[str, ...]) -> bool:
    return {*needs} <= flags()


def flags_for(needs: tuple[str, ...]) -> list[str]:
    return ["-O2", *(f"-m{name.replace('_', '')}" for name in needs)]


def native_library(
    source: Path, temporary: pytest.TempPathFactory, instructions: str
) -> ctypes.CDLL:
    """A library for one of `SETS`, compiled as much as llama.cpp is, once for all workers; skips
    the test on a processor that has less."""
    needs = SETS[instructions]
    if not can_compile() or not can_run(needs):
        pytest.skip(f"needs a compiler and {instructions}")
    base = temporary.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    ready = shared / f"{source.stem}-{instructions.replace(' ', '-')}.so"
    if ready.exists():
        return ctypes.CDLL(str(ready))
    made = temporary.mktemp("library") / ready.name
    options = [*flags_for(needs), "-O3", "-w", "-shared", "-fPIC", f"-I{NATIVE}"]
    subprocess.run([*COMPILER, *options, str(source), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made.replace(ready)))

"""The kernels that the set-up puts into llama.cpp make the same bits for one row and for many."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[3] / "packaging" / "native"
COMPILER = shlex.split(os.environ.get("CC", "cc"))

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64") or shutil.which(COMPILER[0]) is None,
    reason="kernels for x86, compiled by GCC or Clang",
)


def _can_run(flags: set[str]) -> bool:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    known = next((line for line in lines if line.startswith("flags")), "")
    return flags <= set(known.split())


@pytest.mark.parametrize(
    ("target", "needs"),
    [
        pytest.param("haswell", {"avx2", "fma", "f16c"}, id="AVX2"),
        pytest.param("alderlake", {"avx2", "avx_vnni"}, id="AVX-VNNI"),
        pytest.param("icelake-client", {"avx512_vnni", "avx512bw"}, id="AVX-512"),
    ],
)
def test_products_are_those_of_single_rows(tmp_path: Path, target: str, needs: set[str]) -> None:
    if not _can_run(needs):
        pytest.skip("not on this processor")
    program = tmp_path / "x86_rows"
    source = Path(__file__).with_name("x86_rows.c")
    subprocess.run(
        [*COMPILER, "-O2", f"-march={target}", f"-I{NATIVE}", str(source), "-o", str(program)],
        check=True,
    )
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("0 of "), done.stdout

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


# as Linux names them, and GCC without the underscores
AVX2 = ("avx2", "fma", "f16c")
AVX512 = ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni")


@pytest.mark.parametrize(
    "needs",
    [
        pytest.param(AVX2, id="AVX2"),
        pytest.param((*AVX2, "avx_vnni"), id="AVX-VNNI"),
        pytest.param((*AVX2, *AVX512), id="AVX-512"),
    ],
)
def test_products_are_those_of_single_rows(tmp_path: Path, needs: tuple[str, ...]) -> None:
    if not _can_run(set(needs)):
        pytest.skip("not on this processor")
    program = tmp_path / "x86_rows"
    flags = [f"-m{name.replace('_', '')}" for name in needs]
    source = Path(__file__).with_name("x86_rows.c")
    subprocess.run(
        [*COMPILER, "-O2", *flags, f"-I{NATIVE}", str(source), "-o", str(program)],
        check=True,
    )
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("0 of "), done.stdout

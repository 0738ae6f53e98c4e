"""The kernels that the set-up puts into llama.cpp make the bits of llama.cpp's own for one row."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.models.llama_source import llama_source
from tests.support.native_library import AVX2, COMPILER, NATIVE, can_compile, can_run, flags_for

pytestmark = pytest.mark.skipif(
    not can_compile(), reason="kernels for x86, compiled by GCC or Clang, linked as on Linux"
)

AVX512 = ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni")


@pytest.fixture(scope="module")
def llama_products(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """llama.cpp's own products of one row with another, compiled for AVX2."""
    ggml = llama_source() / "ggml"
    made = tmp_path_factory.mktemp("products") / "quants.o"
    folders = [f"-I{ggml / folder}" for folder in ("include", "src", "src/ggml-cpu")]
    source = ggml / "src/ggml-cpu/arch/x86/quants.c"
    flags = [*flags_for(AVX2), "-w", "-ffunction-sections", *folders]
    subprocess.run([*COMPILER, *flags, "-c", str(source), "-o", str(made)], check=True)
    return made


@pytest.mark.parametrize(
    ("needs", "emulation", "left"),
    [
        pytest.param((), (), 0, id="AVX2"),
        pytest.param(("avx_vnni",), ("-DHEADSTART_EMULATE",), 0, id="AVX-VNNI"),
        # three shapes of one row, and the shortest one, of Q8_0 and Q5_0
        pytest.param(AVX512, ("-DHEADSTART_EMULATE", "-DHEADSTART_EMULATE_512"), 8, id="AVX-512"),
    ],
)
def test_products_are_those_of_single_rows(
    tmp_path: Path,
    llama_products: Path,
    needs: tuple[str, ...],
    emulation: tuple[str, ...],
    left: int,
) -> None:
    """On a processor without these instructions they are emulated: what is compared is the order
    of sums."""
    if not can_run(AVX2):
        pytest.skip("not on this processor")
    program, here = tmp_path / "x86_rows", Path(__file__).parent
    extra = flags_for((*AVX2, *needs)) if can_run(needs) else [*flags_for(AVX2), *emulation]
    sources = [str(here / "x86_rows.c"), str(llama_products), "-lm"]
    command = [*COMPILER, *extra, f"-I{NATIVE}", f"-I{here}", *sources]
    subprocess.run([*command, "-Wl,--gc-sections", "-w", "-o", str(program)], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("0 of "), done.stdout
    assert done.stdout.endswith(f", {left} left\n"), done.stdout

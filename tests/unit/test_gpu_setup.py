"""What the set-up compiles llama.cpp for, by what it finds."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def gpu() -> ModuleType:
    path = Path(__file__).parents[2] / "packaging" / "gpu.py"
    spec = importlib.util.spec_from_file_location("setup_gpu", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["setup_gpu"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        ({}, "none"),
        ({"apple": True}, "metal"),
        ({"nvidia": True}, "none"),
        ({"nvidia": True, "nvcc": "/usr/local/cuda/bin/nvcc", "cublas": True}, "cuda"),
        # a part of the toolkit compiles nothing
        ({"nvidia": True, "nvcc": "/usr/local/cuda/bin/nvcc"}, "none"),
        ({"nvidia": True, "vulkan_lacks": ()}, "vulkan"),
        ({"other": True, "vulkan_lacks": ()}, "vulkan"),
        ({"other": True, "vulkan_lacks": ("glslc",)}, "none"),
        # the tools alone are no card
        ({"vulkan_lacks": (), "nvcc": "/usr/bin/nvcc"}, "none"),
    ],
)
def test_the_fastest_that_the_computer_is_ready_for(
    gpu: ModuleType, found: dict[str, object], kind: str
) -> None:
    computer = gpu.Computer(**found)
    assert gpu.choose(computer, "") == gpu.choose(computer, "auto") == kind
    assert gpu.missing(computer, kind) == ()
    for asked in gpu.KINDS:
        assert gpu.choose(computer, asked) == asked


def test_a_word_that_means_nothing_is_refused(gpu: ModuleType) -> None:
    with pytest.raises(ValueError, match="GPU=opencl is none of cuda, vulkan"):
        gpu.choose(gpu.Computer(), "opencl")


def test_what_is_missing_is_offered_by_its_name(gpu: ModuleType) -> None:
    computer = gpu.Computer(other=True, vulkan_lacks=("glslc", "SPIR-V's headers"))
    said = gpu.hint(computer, "none")
    assert "apt-get install glslc spirv-headers" in said
    assert "make setup GPU=vulkan" in said
    assert "CUDA" not in said
    assert "GPU=cuda" in gpu.hint(gpu.Computer(nvidia=True), "none")
    # nothing to say without a card, or with one that is used
    assert gpu.hint(gpu.Computer(), "none") == ""
    assert gpu.hint(computer, "vulkan") == ""
    assert gpu.missing(gpu.Computer(), "cuda") != ()


def test_each_kind_is_another_build(gpu: ModuleType) -> None:
    computer = gpu.Computer(nvcc="/opt/cuda/bin/nvcc")
    told = {kind: " ".join(gpu.cmake_arguments(computer, kind)) for kind in gpu.KINDS}
    assert len(set(told.values())) == len(gpu.KINDS)
    assert told["none"] == ""
    assert "GGML_VULKAN=ON" in told["vulkan"]
    # Macs have Metal unless it is switched off
    assert gpu.cmake_arguments(gpu.Computer(apple=True), "none") == ["-DGGML_METAL=OFF"]


def test_a_compiler_without_its_library_is_told_before_compiling(
    gpu: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = tmp_path / "toolkit" / "bin" / "nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.touch()
    link = tmp_path / "bin" / "nvcc"
    link.parent.mkdir()
    link.symlink_to(nvcc)
    monkeypatch.setattr(gpu.shutil, "which", lambda name: str(link) if name == "nvcc" else None)
    monkeypatch.setattr(gpu, "_folders", list)
    assert any("cuBLAS" in name for name in gpu.missing(gpu.look(), "cuda"))
    header = tmp_path / "toolkit" / "targets" / "x86_64-linux" / "include" / "cublas_v2.h"
    header.parent.mkdir(parents=True)
    header.touch()
    assert gpu.missing(gpu.look(), "cuda") == ()


def test_a_choice_is_remembered(gpu: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "chosen"
    assert gpu.remembered(file) == ""
    file.write_text("vulkan\n")
    assert gpu.remembered(file) == "vulkan"
    file.write_text("nonsense")
    assert gpu.remembered(file) == ""


def test_headers_that_are_too_old_are_told_before_compiling(
    gpu: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = tmp_path / "include" / "vulkan" / "vulkan_core.h"
    header.parent.mkdir(parents=True)
    monkeypatch.setenv("VULKAN_SDK", str(tmp_path))
    header.write_text("#define VK_HEADER_VERSION 239\n")
    old = gpu.look()
    (said,) = [name for name in gpu.missing(old, "vulkan") if "1.3.272" in name]
    assert said not in gpu.packages(old)
    header.write_text("#define VK_EXT_layer_settings 1\n")
    assert not any("1.3.272" in name for name in gpu.missing(gpu.look(), "vulkan"))

"""Which graphics card llama.cpp is compiled for; a part of the set-up.

Standard library only. What is there decides, unless `make setup GPU=cuda|vulkan|metal|none` does;
a choice is kept in the virtual environment until another one is made.
"""

from __future__ import annotations

import ctypes.util
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

KINDS = ("cuda", "vulkan", "metal", "none")
_HEADERS = "Vulkan's headers"
# what compiling for Vulkan needs, and the Debian package that has it
_VULKAN = {
    "the Vulkan loader": "libvulkan1",
    _HEADERS: "libvulkan-dev",
    "glslc": "glslc",
    "SPIR-V's headers": "spirv-headers",
}
# llama.cpp uses this part of Vulkan 1.3.272; Debian 12 has 1.3.239
_PART = b"VK_EXT_layer_settings"
_RECENT = "Vulkan's headers of 1.3.272 or later (in Debian 13, or in Vulkan's SDK from lunarg.com)"
_NVCC = "nvcc, of NVIDIA's CUDA toolkit"
_CUBLAS = "cuBLAS with its headers, of NVIDIA's CUDA toolkit"
_CMAKE = {
    "cuda": "-DGGML_CUDA=ON",
    "vulkan": "-DGGML_VULKAN=ON",
    "metal": "-DGGML_METAL=ON",
    # it is llama.cpp's default on Macs
    "none": "-DGGML_METAL=OFF",
}


@dataclass(frozen=True)
class Computer:
    """What was found: graphics cards by the names of their makers' devices, and tools."""

    nvidia: bool = False
    # any card that Vulkan may know
    other: bool = False
    apple: bool = False
    nvcc: str | None = None
    # the library of matrix products that belongs to it, with its headers
    cublas: bool = False
    # what Vulkan still needs
    vulkan_lacks: tuple[str, ...] = tuple(_VULKAN)


def look() -> Computer:
    apple = sys.platform == "darwin" and platform.machine() == "arm64"
    nvcc = shutil.which("nvcc") or _first("/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc")
    headers = _first(*(f"{folder}/include/vulkan/vulkan_core.h" for folder in _folders()))
    spirv = ("/usr/include/spirv/unified1/spirv.hpp", "/usr/local/include/spirv/unified1/spirv.hpp")
    there = {
        "the Vulkan loader": ctypes.util.find_library("vulkan") is not None,
        _HEADERS: headers is not None,
        _RECENT: headers is None or _PART in Path(headers).read_bytes(),
        "glslc": shutil.which("glslc") is not None,
        "SPIR-V's headers": _first(*spirv) is not None or "VULKAN_SDK" in os.environ,
    }
    return Computer(
        nvidia=Path("/dev/nvidia0").exists() or Path("/dev/dxg").exists(),
        other=any(Path("/dev/dri").glob("renderD*")) if Path("/dev/dri").is_dir() else False,
        apple=apple,
        nvcc=nvcc,
        cublas=nvcc is not None and _has_cublas(Path(nvcc)),
        vulkan_lacks=tuple(name for name, found in there.items() if not found),
    )


def choose(computer: Computer, asked: str) -> str:
    """One of `KINDS`: what was asked for, else the fastest that this computer is ready for.

    Raises ValueError for a word that means nothing here.
    """
    if asked in KINDS:
        return asked
    if asked not in ("", "auto"):
        raise ValueError(f"GPU={asked} is none of {', '.join((*KINDS, 'auto'))}")
    if computer.apple:
        return "metal"
    if computer.nvidia and not missing(computer, "cuda"):
        return "cuda"
    if (computer.nvidia or computer.other) and not missing(computer, "vulkan"):
        return "vulkan"
    return "none"


def missing(computer: Computer, kind: str, platform: str = sys.platform) -> tuple[str, ...]:
    """What compiling for this kind needs and is not there."""
    if platform == "win32" and kind != "none":
        # the compiler that the set-up brings there has no kit for cards
        return ("Linux or macOS",)
    if kind == "cuda":
        if computer.nvcc is None:
            return (_NVCC,)
        return () if computer.cublas else (_CUBLAS,)
    if kind == "metal" and not computer.apple:
        return ("a Mac with Apple Silicon",)
    return computer.vulkan_lacks if kind == "vulkan" else ()


def packages(computer: Computer) -> list[str]:
    """Debian's names of what Vulkan still needs; of what is too old it has nothing newer."""
    return [_VULKAN[name] for name in computer.vulkan_lacks if name in _VULKAN]


def hint(computer: Computer, kind: str) -> str:
    """What could be had besides; empty where nothing could."""
    if kind != "none" or not (computer.nvidia or computer.other):
        return ""
    lines = ["There is a graphics card, and llama.cpp is compiled without it. For Vulkan:"]
    lines.append("  make setup GPU=vulkan")
    if computer.vulkan_lacks:
        lines[0] = lines[0].replace(
            "For Vulkan:", f"Vulkan lacks {', '.join(computer.vulkan_lacks)} here."
        )
        wanted = packages(computer)
        if wanted:
            lines.insert(1, f"On Debian or Ubuntu: apt-get install {' '.join(wanted)}")
    if computer.nvidia:
        lines.append("or, with NVIDIA's CUDA toolkit installed: make setup GPU=cuda")
    return "\n".join(lines)


def cmake_arguments(computer: Computer, kind: str) -> list[str]:
    """What llama.cpp's build is told."""
    if kind == "none" and not computer.apple:
        return []
    found = [_CMAKE[kind]]
    if kind == "cuda" and shutil.which("nvcc") is None and computer.nvcc is not None:
        found.append(f"-DCMAKE_CUDA_COMPILER={computer.nvcc}")
    return found


def remembered(file: Path) -> str:
    """What was chosen the last time, "" for nothing."""
    try:
        kept = file.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
    return kept if kept in KINDS else ""


def _folders() -> list[str]:
    """Where CMake looks for headers, in its order."""
    sdk = os.environ.get("VULKAN_SDK")
    return [*([sdk] if sdk else []), "/usr/local", "/usr"]


def _has_cublas(nvcc: Path) -> bool:
    """Beside nvcc, which may be a link, or where distributions put it."""
    usual = ("/usr/local/cuda", "/opt/cuda", *_folders())
    roots = {nvcc.parent.parent, nvcc.resolve().parent.parent, *map(Path, usual)}
    roots |= {Path(os.environ[name]) for name in ("CUDA_PATH", "CUDA_HOME") if name in os.environ}
    return any(
        found
        for root in roots
        for pattern in ("include/cublas_v2.h", "targets/*/include/cublas_v2.h")
        for found in root.glob(pattern)
    )


def _first(*paths: str) -> str | None:
    return next((path for path in paths if Path(path).exists()), None)

"""Builds the peers that benchmarks compare with: llama.cpp's own programs, as they come.

The source is the copy vendored in the llama-cpp-python sdist of the pinned version, compiled for
this processor without anything of ours: what a user gets who installs that version. `stock` starts
a program like that. `peer` starts the same program with the libraries that Headstart runs with, so
that both sides have the same kernels and what is compared is everything else. Built once into the
user's cache folder; `make peers` calls this.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path

from tests.support.processor import flags

_WITHOUT_AMX = ("-DCMAKE_C_FLAGS=-mno-amx-int8", "-DCMAKE_CXX_FLAGS=-mno-amx-int8")
PROGRAMS = ("llama-server", "llama-bench", "llama-speculative-simple", "ggml-rpc-server")


def bench_cache() -> Path:
    """The folder, outside the clone, that benchmarks keep peers and made models in."""
    path = user_cache_path("headstart-bench", appauthor=False)
    path.mkdir(parents=True, exist_ok=True)
    return path


def peers_dir() -> Path:
    """Compiled for one kind of processor: a cache may be carried to another computer."""
    cpu = hashlib.sha256("".join(sorted(flags())).encode()).hexdigest()[:8]
    return bench_cache() / f"llama.cpp-{version('llama-cpp-python')}-{cpu}-stock"


def peer(name: str) -> Path:
    """The path of a script that starts a program of llama.cpp with Headstart's libraries; all of
    them are built when it is missing."""
    import llama_cpp

    return _script(name, "ours", Path(llama_cpp.__file__).parent / "lib")


def stock(name: str) -> Path:
    """The same with llama.cpp's own libraries."""
    return _script(name, "stock", peers_dir() / "bin")


def _script(name: str, kind: str, libraries: Path) -> Path:
    """Libraries in `libraries` come first; what is not there was built with the programs."""
    built = peers_dir() / "bin"
    if not (built / name).exists():
        build()
    variable = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
    text = f'#!/bin/sh\n{variable}="{libraries}:{built}" exec "{built / name}" "$@"\n'
    script = peers_dir() / f"{name}-{kind}"
    if not script.exists() or script.read_text() != text:
        script.write_text(text)
        script.chmod(0o755)
    return script


def build() -> None:
    """Fetch the sdist through pip, configure with CMake and build the programs."""
    target = peers_dir()
    if all((target / "bin" / name).exists() for name in PROGRAMS):
        print(f"peers: already built in {target / 'bin'}")
        return
    release = f"llama-cpp-python=={version('llama-cpp-python')}"
    print(f"peers: building {', '.join(PROGRAMS)} from {release}; about 6 minutes on 2 cores")
    with tempfile.TemporaryDirectory(dir=bench_cache()) as work:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        # of this one only: with `:all:` pip compiles what builds it, too
        only = ["--no-deps", "--no-binary", "llama-cpp-python"]
        _run([*pip, "download", "-q", *only, "-d", work, release])
        (sdist,) = Path(work).glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            archive.extractall(work, filter="data")
        (root,) = (path for path in Path(work).iterdir() if path.is_dir())
        cmake = shutil.which("cmake")
        if cmake is None:
            _run([*pip, "install", "-q", "--target", f"{work}/cmake", "cmake"])
            cmake = str(next(Path(work, "cmake").rglob("bin/cmake")))
        mac = sys.platform == "darwin"
        # the UI is downloaded and curl and OpenSSL are searched for unless switched off
        _run(
            [
                cmake,
                "-S",
                str(root / "vendor/llama.cpp"),
                "-B",
                f"{work}/build",
                "-DCMAKE_BUILD_TYPE=Release",
                "-DBUILD_SHARED_LIBS=ON",
                # started without the script, they find the libraries beside them
                "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
                f"-DCMAKE_INSTALL_RPATH={'@loader_path' if mac else '$ORIGIN'}",
                *(() if mac else ("-DCMAKE_EXE_LINKER_FLAGS=-Wl,--enable-new-dtags",)),
                # llama.cpp's kernels for AMX crash where GCC 12 compiled them
                *(_WITHOUT_AMX if "amx_int8" in flags() else ()),
                "-DLLAMA_BUILD_UI=OFF",
                "-DLLAMA_OPENSSL=OFF",
                "-DLLAMA_CURL=OFF",
                # so that a model can be spread over computers; see docs/scaling.md
                "-DGGML_RPC=ON",
                "-DLLAMA_BUILD_TESTS=OFF",
            ]
        )
        # without a number make starts a compiler for every file at once
        cores = str(os.cpu_count() or 1)
        _run([cmake, "--build", f"{work}/build", "--parallel", cores, "--target", *PROGRAMS])
        (target / "bin").mkdir(parents=True, exist_ok=True)
        built = Path(work, "build/bin")
        libraries = [
            path for path in built.iterdir() if ".so" in path.name or ".dylib" in path.name
        ]
        # the programs last: they say that all is there
        for path in [*libraries, *(built / name for name in PROGRAMS)]:
            shutil.copy2(path, target / "bin" / path.name)
    print(f"peers: built in {target / 'bin'}")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-30:])
        raise SystemExit(f"peers: {' '.join(command[:6])} ... failed:\n{tail}")


if __name__ == "__main__":
    build()

"""Functions of llama.cpp's libraries that the package does not bind. Any thread.

Each is asked of the library that exports it. On Linux and macOS a library also answers for those
that it needs, on Windows only for itself.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from pathlib import Path
from typing import Any

import llama_cpp as lib
import llama_cpp.llama_cpp as bindings

# behind the one that the package opened, and opened only if that one does not answer: on Linux a
# second file of the same library would be a second library, with a registry of its own
_OTHERS = ("ggml", "ggml-base")
_SUFFIXES = (".so", ".dylib", ".dll")


def folder() -> Path:
    """The folder of the libraries."""
    # llama_cpp looks in the same one
    elsewhere = os.environ.get("LLAMA_CPP_LIB_PATH")
    return Path(elsewhere).absolute() if elsewhere else Path(lib.__file__).parent / "lib"


def exported(name: str, result: Any = ctypes.c_int, *arguments: Any) -> Any | None:
    """A function of C, or of C++ by its mangled name, with these types; None if no library exports
    it."""
    for one in (None, *_OTHERS):
        library = bindings._lib if one is None else _opened(one)
        if library is None:
            continue
        try:
            # not as an attribute, which the package may have given other types
            found = library[name]
        except AttributeError:
            continue
        found.restype, found.argtypes = result, arguments
        return found
    return None


@functools.cache
def _opened(name: str) -> Any | None:
    for path in sorted(folder().glob(f"*{name}.*")):
        if path.name.partition(".")[0] in (name, f"lib{name}"):
            try:
                return ctypes.CDLL(str(path))
            except OSError:
                # an import library of the compiler
                continue
    return None


def modules() -> list[Path]:
    """Backends that are loaded at run time: for generations of processors, and graphics cards."""
    known = ("ggml-base", "ggml-cpu")
    return [
        path
        for path in sorted(folder().glob("*ggml-*"))
        if path.suffix in _SUFFIXES and path.stem.removeprefix("lib") not in known
    ]


def path_bytes(path: Path) -> bytes:
    """A path as llama.cpp takes it: UTF-8 on Windows, whatever its code page is, elsewhere the
    bytes of the file system."""
    if sys.platform == "win32":
        return str(path).encode("utf-8", "surrogatepass")
    return os.fsencode(path)

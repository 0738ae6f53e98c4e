"""ctypes as Windows has it, in a process of its own: a library answers only for functions that it
exports itself, not for those of the libraries that it needs, and there is no library of all. The
dynamic symbols of the real files say what each exports; Linux only.

    python -m tests.support.as_on_windows exports NAME...
    python -m tests.support.as_on_windows reply MODEL
    python -m tests.support.as_on_windows program ARGUMENT...
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_DYNAMIC, _STRINGS_OF_SONAME = 6, 14
_SYMBOLS = 11


@functools.cache
def exports(path: Path) -> tuple[frozenset[str], str]:
    """The functions that an ELF file defines, and the name by which others need it."""
    data = path.read_bytes()
    assert data[:6] == b"\x7fELF\x02\x01", path
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", data, table + size * number) for number in range(count)
    ]

    def text(strings: tuple[int, ...], offset: int) -> str:
        start = strings[4] + offset
        return data[start : data.index(b"\0", start)].decode()

    defined, soname = set(), ""
    for section in sections:
        start, length, strings = section[4], section[5], sections[section[6]]
        if section[1] == _SYMBOLS:
            for at in range(start, start + length, 24):
                name, _, _, place, _, _ = struct.unpack_from("<IBBHQQ", data, at)
                if place:
                    defined.add(text(strings, name))
        elif section[1] == _DYNAMIC:
            for at in range(start, start + length, 16):
                tag, value = struct.unpack_from("<qQ", data, at)
                if tag == _STRINGS_OF_SONAME:
                    soname = text(strings, value)
    return frozenset(defined), soname


class WindowsLibrary(ctypes.CDLL):
    """A library that answers as one of Windows does."""

    def __init__(self, name: Any, *more: Any, **named: Any) -> None:
        if name is None:
            raise TypeError("LoadLibrary() argument 1 must be str, not None")
        self.own: frozenset[str] | None = None
        path = Path(name)
        if "llama_cpp" not in path.parts:
            super().__init__(None if name == "ucrtbase.dll" else name, *more, **named)
            return
        self.own, soname = exports(path)
        try:
            # the copy that is open already, under whatever file's name: a second one would have a
            # registry of its own
            super().__init__(soname, os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            super().__init__(name, *more, **named)

    def __getitem__(self, name: Any) -> Any:
        if self.own is not None and name not in self.own:
            raise AttributeError(f"function '{name}' not found")
        return super().__getitem__(name)


def install() -> None:
    """Before anything else is imported."""
    ctypes.CDLL = WindowsLibrary  # type: ignore[misc]
    from headstart.core import c_library

    # only there: the package itself takes another way on Windows
    vars(c_library)["sys"] = SimpleNamespace(platform="win32")


def _found(names: list[str]) -> dict[str, bool]:
    from headstart.engine.backends.llama_cpp import hidden
    from headstart.engine.backends.llama_cpp.exports import exported

    for name in hidden.FUNCTIONS:
        hidden.function(name)
    return {name: exported(name) is not None for name in names}


def reply(model: Path) -> dict[str, Any]:
    """What a loaded model computes, and what is known of its library."""
    from headstart.core.settings.schema import EngineSettings
    from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
    from headstart.engine.backends.llama_cpp.devices import cards
    from headstart.engine.backends.llama_cpp.images import MOST_TOKENS
    from headstart.engine.backends.llama_cpp.library import build_name, lost_mappings

    # the library for images is bound with its module
    assert MOST_TOKENS
    decoder = LlamaCppDecoder(model, EngineSettings(context_length=512))
    tokens = decoder.encode("The capital of France is")
    new = tokens
    for _ in range(4):
        decoder.forward(new, [len(new) - 1])
        new = [decoder.argmax(0)]
        tokens = [*tokens, *new]
    decoder.close()
    name, count = build_name(), len(cards())
    return {"tokens": tokens, "build": name, "cards": count, "lost": lost_mappings()}


def main(arguments: list[str]) -> int:
    install()
    match arguments:
        case ["exports", *names]:
            print(json.dumps(_found(names)))
        case ["reply", model]:
            print(json.dumps(reply(Path(model))))
        case ["program", *rest]:
            from headstart.__main__ import main as program

            sys.argv[1:] = rest
            return int(program())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

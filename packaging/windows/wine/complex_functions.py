"""Makes the library of `complex.c`, and renames an import in numpy's files to it.

`python complex_functions.py ZIG SITE_PACKAGES OUT`; needs pefile. Files that are renamed already
are left alone.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pefile

SOURCE = Path(__file__).with_name("complex.c")
OLD, NEW = b"api-ms-win-crt-math-l1-1-0.dll", b"xpi-ms-win-crt-math-l1-1-0.dll"
_NAMES = (
    "cacos", "cacosh", "casin", "casinh", "catan", "catanh", "ccos", "ccosh", "csin", "csinh",
    "ctan", "ctanh", "cexp", "clog", "csqrt", "cpow", "cabs", "carg", "creal", "cimag",
)  # fmt: skip
# one for each width of numbers
OURS = {f"{name}{width}" for name in _NAMES for width in ("", "f", "l")}


def imports(paths: Iterable[Path]) -> dict[Path, set[str]]:
    """The names that each of these libraries imports from the C runtime's mathematics."""
    found: dict[Path, set[str]] = {}
    for path in paths:
        with pefile.PE(str(path), fast_load=True) as library:
            library.parse_data_directories(directories=[1])
            for entry in getattr(library, "DIRECTORY_ENTRY_IMPORT", ()):
                if entry.dll.lower() in (OLD, NEW):
                    found[path] = {one.name.decode() for one in entry.imports}
    return found


def main(zig: str, libraries: Path, out: Path) -> None:
    found = imports(libraries.glob("numpy/**/*.pyd"))
    # a function that is not ours is Windows' own still
    exported = [
        f"  {name} = hs_{name}" if name in OURS else f"  {name} = ucrtbase.{name}"
        for name in sorted(set().union(*found.values()))
    ]
    out.mkdir(parents=True, exist_ok=True)
    definitions, library = out / "complex.def", out / NEW.decode()
    definitions.write_text("\n".join([f"LIBRARY {NEW.decode()}", "EXPORTS", *exported]) + "\n")
    compiler = [zig, "cc", "-target", "x86_64-windows-gnu", "-O2", "-shared", "-fno-builtin"]
    subprocess.run([*compiler, "-o", str(library), str(SOURCE), str(definitions)], check=True)
    for path, names in found.items():
        data = path.read_bytes()
        if names & OURS and OLD in data:
            path.write_bytes(data.replace(OLD, NEW))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))

"""Imports whatever the program's source imports from other projects."""

from __future__ import annotations

import ast
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import headstart

# of other systems, and imported there only
ELSEWHERE = {"mlx", "mlx_lm", "jeepney", "transformers"}


def imported(folder: Path) -> Iterator[str]:
    """The modules that files below a folder import, with repetitions."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from (one.name for one in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module


def wanted() -> list[str]:
    found = set(imported(Path(headstart.__file__).parent))
    return sorted(
        name
        for name in found
        if name.partition(".")[0] not in sys.stdlib_module_names | ELSEWHERE | {"headstart"}
    )


def main() -> int:
    names, bad = wanted(), []
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException as error:
            # whatever a library does when it is imported
            bad.append(f"{name}: {type(error).__name__}: {error}")
    said = f"{len(names) - len(bad)} of {len(names)} modules" + "".join(f"; {one}" for one in bad)
    print(json.dumps([not bad, said]))
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())

"""Write the documents that are made from the code: `make papers`. A test compares them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import settings_paper

ROOT = Path(__file__).resolve().parents[1]
APP = ROOT / "app" / "headstart"
_HEAD = """# Modules

Every module with the first sentence of its docstring; `make papers` makes it, a test compares it.
[architecture.md](architecture.md) has the rooms and their walls.
"""


def modules() -> str:
    """The text of docs/modules.md: a section for each folder, a line for each module."""
    lines = [_HEAD]
    for folder in [APP, *sorted(one for one in APP.rglob("*") if one.is_dir())]:
        files = sorted(one for one in folder.glob("*.py") if one.name != "__init__.py")
        package = folder / "__init__.py"
        if not package.exists() or not files or folder.name == "versions":
            continue
        name = folder.relative_to(APP.parent).as_posix()
        lines += [f"## {name}", "", _sentence(package), ""]
        lines += [f"- `{one.name}`: {_sentence(one)}" for one in files]
        lines.append("")
    return "\n".join(lines)


def _sentence(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = " ".join(text.split("\n\n")[0].split())
    # a full stop inside a name or a number has no space behind it
    end = first.find(". ")
    return first if end < 0 else first[: end + 1]


_SETTINGS = ROOT / "docs" / "settings.md"
DOCUMENTS = {
    ROOT / "docs" / "modules.md": modules,
    _SETTINGS: lambda: settings_paper.settings(_SETTINGS),
}


def main() -> int:
    for path, made in DOCUMENTS.items():
        path.write_text(made(), encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

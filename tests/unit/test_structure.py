"""The budget of the code: small files, small constructors, small classes, no circles.

The exceptions only shrink: a number that is too large by now fails as well.
"""

from __future__ import annotations

import ast
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

APP = Path(__file__).parents[2] / "app" / "headstart"
TESTS = Path(__file__).parents[1]
LINES, PARAMETERS, METHODS, MEDIAN = 400, 5, 25, 120
# methods of classes that still do too much
LARGE_CLASSES: dict[str, int] = {
    "engine/backends/mlx/decoder.py:MlxDecoder": 30,
    "ui/inspector/speculation_panel.py:SpeculationPanel": 28,
}


def _files() -> list[Path]:
    return sorted(APP.rglob("*.py"))


def _name(path: Path) -> str:
    return path.relative_to(APP).as_posix()


def _classes() -> Iterator[tuple[str, ast.ClassDef]]:
    for path in _files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield f"{_name(path)}:{node.name}", node


def test_no_file_is_longer_than_one_can_keep_in_mind() -> None:
    lengths = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in _files()}
    assert {name: lines for name, lines in lengths.items() if lines > LINES} == {}
    # packages are often one line: they would make the median mean nothing
    real = [lines for name, lines in lengths.items() if not name.endswith("__init__.py")]
    assert statistics.median(real) < MEDIAN
    long = [path.name for path in TESTS.rglob("*.py") if len(path.read_text().splitlines()) > LINES]
    assert long == []


def test_no_constructor_takes_more_than_it_should() -> None:
    found = {}
    for name, node in _classes():
        for item in node.body:
            if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                count = len(item.args.posonlyargs + item.args.args + item.args.kwonlyargs) - 1
                if count > PARAMETERS:
                    found[name] = count
    assert found == {}


def test_no_class_does_everything() -> None:
    found = {}
    for name, node in _classes():
        count = sum(isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) for item in node.body)
        if count > METHODS:
            found[name] = count
    assert found == LARGE_CLASSES


def _imports(path: Path) -> set[str]:
    """Modules of the program that are imported when this one is: not for types only, nor later."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headstart"):
            assert node.module is not None
            for name in node.names:
                inside = APP.parent / Path(*node.module.split("."), f"{name.name}.py")
                found.add(f"{node.module}.{name.name}" if inside.exists() else node.module)
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {
        ".".join(("headstart", *path.relative_to(APP).with_suffix("").parts)): _imports(path)
        for path in _files()
    }
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join((*way[way.index(name) :], name))
        if name in done:
            return
        for other in graph.get(name, ()):
            visit(other, (*way, name))
        done.add(name)

    for name in graph:
        visit(name, ())


def _reaches_inside(node: ast.AST) -> bool:
    if not isinstance(node, ast.Attribute) or not node.attr.startswith("_"):
        return False
    own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    # a named tuple's methods are public in spite of their names
    return not own and not node.attr.startswith("__") and node.attr not in ("_replace", "_asdict")


def test_records_are_made_without_compiling_code() -> None:
    """A dataclass compiles six functions when its module is imported, half a millisecond each time:
    200 of them were a tenth of the start. A `msgspec.Struct` takes 13 microseconds."""
    makers = ("dataclass", "dataclasses", "namedtuple")
    for path in _files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                found = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                assert not found & {*makers}, f"{_name(path)} imports one of {makers}"


def test_tests_use_what_everyone_may_use() -> None:
    found = [
        f"{path.relative_to(TESTS).as_posix()}:{node.lineno} {ast.unparse(node)}"
        for path in sorted(TESTS.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and _reaches_inside(node)
    ]
    assert found == []


def test_nothing_else_lies_beside_the_readme() -> None:
    """A folder that a program named by a mistaken option was committed once."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=TESTS.parent, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("no checkout of git")
    top = {name.split("/", 1)[0] for name in listed.stdout.split("\0") if name}
    assert top <= {
        ".ci", ".github", ".gitignore", "CHANGELOG.md", "LICENSE", "Makefile", "README.md", "app",
        "constraints.txt", "docs", "packaging", "pyproject.toml", "resources", "tests",
    }  # fmt: skip

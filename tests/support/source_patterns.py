"""Every pattern of `re` in the program's source, with the ways in which it is used.

Found in the syntax trees, so that none is forgotten; evaluated in the names of its module.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, field

import headstart

APP = Path(headstart.__file__).parent
# functions of `re`, and methods of a pattern, that try every place of a text
_EVERYWHERE = ("finditer", "findall", "sub", "subn", "split")
_ONE_PLACE = ("search", "match", "fullmatch")
METHODS = (*_EVERYWHERE, *_ONE_PLACE)


class SourcePattern(Struct, frozen=True):
    """`name`: the constant that holds it, "" for none; `methods`: "match", "fullmatch", "search" or
    "finditer", which stands for all that go on to the text's end."""

    module: str
    line: int
    name: str
    pattern: str | bytes
    flags: int
    methods: tuple[str, ...]


@functools.cache
def trees() -> dict[str, ast.Module]:
    """The syntax tree of each module of the program, by its dotted name."""
    found: dict[str, ast.Module] = {}
    for path in sorted(APP.rglob("*.py")):
        parts = path.relative_to(APP.parent).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def source_patterns() -> tuple[SourcePattern, ...]:
    """All patterns whose text is in the source."""
    return _all_patterns()[0]


def made_patterns() -> frozenset[str]:
    """Modules with patterns that are made of values known at run time only."""
    return _all_patterns()[1]


@functools.cache
def _all_patterns() -> tuple[tuple[SourcePattern, ...], frozenset[str]]:
    found: list[SourcePattern] = []
    made: set[str] = set()
    for name, tree in trees().items():
        module = name.removeprefix("headstart.")
        for node, function in _calls(tree, _compilers(tree)):
            argument = node.args[0] if node.args else node.keywords[0].value
            try:
                patterns = list(_evaluated(name, tree, node, argument))
            except NameError:
                made.add(module)
                continue
            target = _target(_statement(tree, node))
            methods = _uses(name, tree, node, function)
            found += (
                SourcePattern(module, node.lineno, target, pattern, flags, methods)
                for pattern, flags in patterns
            )
    return tuple(found), frozenset(made)


def _compilers(tree: ast.Module) -> set[str]:
    """Names that stand for `re.compile`."""
    found = set()
    for node in ast.walk(tree):
        made = node.value if isinstance(node, ast.Assign) else None
        if isinstance(made, ast.Call) and any(_is_re(one) == "compile" for one in made.args):
            assert isinstance(node, ast.Assign)
            found |= {one.id for one in node.targets if isinstance(one, ast.Name)}
    return found


def _is_re(node: ast.AST) -> str:
    """The function's name where this is `re.function`."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "re" else ""
    return ""


def _calls(tree: ast.Module, compilers: set[str]) -> Iterator[tuple[ast.Call, str]]:
    """Calls that take a pattern, with the name of the function."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = _is_re(node.func)
        if name in ("compile", *METHODS):
            yield node, name
        elif isinstance(node.func, ast.Name) and node.func.id in compilers:
            yield node, "compile"
        elif isinstance(node.func, ast.Name) and node.func.id == "Meta":
            yield from (
                (ast.Call(node.func, [one.value], [], lineno=node.lineno), "search")
                for one in node.keywords
                if one.arg == "pattern"
            )


def _evaluated(
    module: str, tree: ast.Module, node: ast.Call, argument: ast.expr
) -> Iterator[tuple[str | bytes, int]]:
    names = vars(importlib.import_module(module))
    try:
        pattern = _value(argument, names)
    except NameError:
        # made in a loop at the module's top: the compiled patterns are there
        target = _target(_statement(tree, node))
        if not target:
            raise
        yield from ((one.pattern, one.flags) for one in _flat(names[target]))
        return
    flags = 0
    for one in [*node.args[1:], *(it.value for it in node.keywords if it.arg == "flags")]:
        value = _value(one, {**names, "re": re}) if "re." in ast.unparse(one) else 0
        flags |= int(value)
    yield pattern, flags


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<pattern>", "eval"), dict(names))  # noqa: S307


def _statement(tree: ast.Module, node: ast.Call) -> ast.stmt | None:
    """The statement of the module that the call is in."""
    return next(
        (one for one in tree.body if one.lineno <= node.lineno <= (one.end_lineno or 0)), None
    )


def _target(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""


def _flat(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from _flat(tuple(value.values()))
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _flat(one)


def _uses(module: str, tree: ast.Module, node: ast.Call, name: str) -> tuple[str, ...]:
    """The methods by which a pattern meets a text; all places of it where that is not known."""
    if name != "compile":
        return (name if name in ("match", "fullmatch", "search") else "finditer",)
    statement = _statement(tree, node)
    target = _target(statement)
    if not target or not isinstance(getattr(statement, "value", None), ast.Call):
        return ("finditer",)
    found: set[str] = set()
    for other, names in _names().items():
        if other == module or (module, target) in names.imported:
            found |= names.methods.get(target, set())
    return tuple(sorted(found)) or ("finditer",)


class _Names(Struct):
    """Names that a module imports, and the methods that it calls on its names."""

    imported: set[tuple[str, str]] = field(default_factory=set)
    methods: dict[str, set[str]] = field(default_factory=dict)


@functools.cache
def _names() -> dict[str, _Names]:
    return {module: _names_of(tree) for module, tree in trees().items()}


def _names_of(tree: ast.Module) -> _Names:
    found = _Names()
    called: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found.imported |= {(node.module or "", one.name) for one in node.names}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if isinstance(owner, ast.Name) and node.func.attr in METHODS:
                called.add(id(owner))
                method = node.func.attr if node.func.attr in _ONE_PLACE else "finditer"
                if method in ("match", "fullmatch") and len(node.args) > 1:
                    # with a place it is tried at many
                    method = "finditer"
                found.methods.setdefault(owner.id, set()).add(method)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            called |= set() if node.attr in METHODS else {id(node.value)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if id(node) not in called:
            # handed on
            found.methods.setdefault(node.id, set()).add("finditer")
    return found

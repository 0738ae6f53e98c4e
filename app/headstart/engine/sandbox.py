"""The sandbox for chat templates: strangers' programs, in time and memory that are limited.

Jinja's immutable sandbox has no attributes that begin with an underscore, no changes to what it
is given, no files, no imports. Here it also counts steps of loops and calls of macros, and refuses
to make huge values.
"""

from __future__ import annotations

import datetime
import functools
import json
import threading
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import jinja2
import jinja2.ext
import jinja2.meta
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox
import jinja2.visitor
from jinja2.runtime import Context

LARGEST_PRODUCT = 100_000
# steps of loops in one rendering; a long chat takes some ten thousand
MOST_STEPS = 3_000_000
# what a call of a macro counts
_CALL = 10
# characters and items that one rendering may put together
MOST_JOINED = 500_000_000
_STEP = "_headstart_step"
_SIZED = "_headstart_sized"
_COUNTED = "_headstart_counted"


class TooMuch(jinja2.TemplateError):
    """The template loops for too long, or makes too much."""


class _Budget(threading.local):
    left = 0
    joined = 0


_budget = _Budget()


@functools.lru_cache(maxsize=8)
def compiled(source: str) -> jinja2.Template:
    return environment().from_string(source)


def render(source: str, values: dict[str, Any]) -> str:
    """Raises whatever the template raises."""
    template = compiled(source)
    _budget.left, _budget.joined = MOST_STEPS, MOST_JOINED
    return template.render(values)


@functools.lru_cache(maxsize=8)
def variables(source: str) -> frozenset[str]:
    """The names that the template reads and does not set before; raises TemplateSyntaxError."""
    return frozenset(jinja2.meta.find_undeclared_variables(environment().parse(source)))


class _Generation(jinja2.ext.Extension):
    """`{% generation %}` marks what a model is trained on; here its body counts, nothing else."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Limits(jinja2.visitor.NodeTransformer):
    """Puts the counting into a parsed template."""

    def visit_For(self, node: jinja2.nodes.For) -> jinja2.nodes.Node:
        self.generic_visit(node)
        assert isinstance(node.iter, jinja2.nodes.Expr)
        node.iter = _call(_COUNTED, node.iter)
        return node

    def visit_Macro(self, node: jinja2.nodes.Macro) -> jinja2.nodes.Node:
        self.generic_visit(node)
        node.body.insert(0, jinja2.nodes.ExprStmt(_call(_STEP)))
        return node

    def visit_Add(self, node: jinja2.nodes.Add) -> jinja2.nodes.Node:
        self.generic_visit(node)
        return _call(_SIZED, node)

    def visit_Concat(self, node: jinja2.nodes.Concat) -> jinja2.nodes.Node:
        self.generic_visit(node)
        return _call(_SIZED, node)


class _Sandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"*", "**"})

    def _parse(self, source: str, name: str | None, filename: str | None) -> jinja2.nodes.Template:
        tree = _Limits().visit(super()._parse(source, name, filename))
        assert isinstance(tree, jinja2.nodes.Template)
        tree.set_environment(self)
        return tree

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "**":
            if not all(isinstance(value, int | float) for value in (left, right)) or right > 64:
                raise jinja2.TemplateError("the power is too large")
        else:
            for value, times in ((left, right), (right, left)):
                sized = isinstance(value, str | bytes | list | tuple)
                if sized and isinstance(times, int) and len(value) * times > LARGEST_PRODUCT:
                    raise jinja2.TemplateError("the repeated text is too long")
        return super().call_binop(context, operator, left, right)


@functools.cache
def environment() -> jinja2.sandbox.ImmutableSandboxedEnvironment:
    made = _Sandbox(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, _Generation]
    )
    made.filters["tojson"] = _tojson
    made.globals["raise_exception"] = _raise
    made.globals["strftime_now"] = _strftime_now
    made.globals[_STEP] = _step
    made.globals[_SIZED] = _sized
    made.globals[_COUNTED] = _counted
    return made


def _call(name: str, *arguments: jinja2.nodes.Expr) -> jinja2.nodes.Call:
    called = jinja2.nodes.Name(name, "load")
    return jinja2.nodes.Call(called, list(arguments), [], None, None)


def _step(count: int = _CALL) -> str:
    _budget.left -= count
    if _budget.left < 0:
        raise TooMuch("it loops for too long")
    return ""


def _counted(values: Any) -> Any:
    """What can be measured keeps its length: templates ask for `loop.last`."""
    if isinstance(values, jinja2.Undefined):
        return values
    if not hasattr(values, "__len__"):
        return _counting(values)
    _budget.left -= len(values)
    if _budget.left < 0:
        raise TooMuch("it loops for too long")
    return values


def _counting(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        _step(1)
        yield value


def _sized(value: Any) -> Any:
    if isinstance(value, str | list | tuple):
        _budget.joined -= len(value)
        if _budget.joined < 0:
            raise TooMuch("it makes too long a text")
    return value


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _strftime_now(form: str) -> str:
    return datetime.datetime.now().astimezone().strftime(form)


def _tojson(value: Any, indent: int | None = None, **_: Any) -> str:
    # Jinja's own escapes for HTML, which no model has seen in training
    return json.dumps(value, ensure_ascii=False, indent=indent)

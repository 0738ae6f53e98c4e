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
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import jinja2
import jinja2.ext
import jinja2.meta
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox
import jinja2.visitor
from jinja2.runtime import Context

from headstart.engine.sandbox_sizes import (
    CHECKS,
    TooMuch,
    check_call,
    check_format,
    check_power,
    check_product,
    check_source,
    guard,
    weighed,
)

# steps of loops in one rendering; a long chat takes some ten thousand
MOST_STEPS = 3_000_000
# what a call of a macro counts
_CALL = 10
# characters and items that one rendering may put together
MOST_JOINED = 500_000_000
# characters
_LONGEST_TIME = 200
_STEP = "_headstart_step"
_SIZED = "_headstart_sized"
_COUNTED = "_headstart_counted"
_WEIGHED = "_headstart_weighed"


class _Budget(threading.local):
    left = 0
    joined = 0


_budget = _Budget()


@functools.lru_cache(maxsize=8)
def compiled(source: str) -> jinja2.Template:
    """Raises TooMuch where it is longer than any template of a model needs to be."""
    check_source(source)
    return environment().from_string(source)


def render(source: str, values: dict[str, Any]) -> str:
    """Raises whatever the template raises."""
    template = compiled(source)
    _budget.left, _budget.joined = MOST_STEPS, MOST_JOINED
    return template.render(values)


@functools.lru_cache(maxsize=8)
def variables(source: str) -> frozenset[str]:
    """The names that the template reads and does not set before; raises TemplateSyntaxError."""
    check_source(source)
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

    def visit_List(self, node: jinja2.nodes.List) -> jinja2.nodes.Node:
        return self._weighed(node)

    def visit_Dict(self, node: jinja2.nodes.Dict) -> jinja2.nodes.Node:
        return self._weighed(node)

    def visit_Tuple(self, node: jinja2.nodes.Tuple) -> jinja2.nodes.Node:
        # on the left of a `set` or a `for` it is no value
        return self._weighed(node) if node.ctx == "load" else node

    def _weighed(self, node: jinja2.nodes.Literal) -> jinja2.nodes.Node:
        self.generic_visit(node)
        # most literals hold nothing that could grow
        held = node.iter_child_nodes()
        if all(isinstance(one, jinja2.nodes.Const | jinja2.nodes.Pair) for one in held):
            pairs = [one for one in node.iter_child_nodes() if isinstance(one, jinja2.nodes.Pair)]
            if all(isinstance(pair.value, jinja2.nodes.Const) for pair in pairs):
                return node
        return _call(_WEIGHED, node)

    def visit_Concat(self, node: jinja2.nodes.Concat) -> jinja2.nodes.Node:
        self.generic_visit(node)
        return _call(_SIZED, node)


class _Sandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"*", "**", "%"})

    def _parse(self, source: str, name: str | None, filename: str | None) -> jinja2.nodes.Template:
        tree = _Limits().visit(super()._parse(source, name, filename))
        assert isinstance(tree, jinja2.nodes.Template)
        tree.set_environment(self)
        return tree

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "**":
            check_power(left, right)
        elif operator == "%":
            check_format(left, right if isinstance(right, tuple) else (right,))
        else:
            check_product(left, right)
        return weighed(super().call_binop(context, operator, left, right))

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        wrapped = super().wrap_str_format(value)
        if wrapped is None:
            return None

        def checked(*given: Any, **named: Any) -> str:
            check_call(value, given, named)
            return wrapped(*given, **named)

        return checked

    # no name of the template's may stand for a parameter
    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        check_call(__obj, args, kwargs)
        return weighed(_sized_text(super().call(__context, __obj, *args, **kwargs)))


@functools.cache
def environment() -> jinja2.sandbox.ImmutableSandboxedEnvironment:
    made = _Sandbox(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, _Generation]
    )
    made.filters["tojson"] = _tojson
    made.globals["raise_exception"] = _raise
    made.globals["strftime_now"] = _strftime_now
    for name in CHECKS:
        made.filters[name] = guard(name, made.filters[name])
    made.globals[_WEIGHED] = weighed
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


def _sized_text(value: Any) -> Any:
    return _sized(value) if isinstance(value, str) else value


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _strftime_now(form: str) -> str:
    check_format(form)
    if len(form) > _LONGEST_TIME:
        raise TooMuch("the form of the date is too long")
    return datetime.datetime.now().astimezone().strftime(form)


def _tojson(value: Any, indent: int | None = None, **_: Any) -> str:
    # Jinja's own escapes for HTML, which no model has seen in training
    return json.dumps(value, ensure_ascii=False, indent=indent)

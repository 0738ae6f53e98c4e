"""The sandbox for chat templates: untrusted programs, with limited time and memory.

Jinja's immutable sandbox allows no attributes that begin with an underscore, no changes to its
input, no files, no imports. This one also makes every loop, call, filter, test, comparison and
concatenation ask `budget` for time and memory; no constants are computed while a template is
compiled, and compiling has the same limits.
"""

from __future__ import annotations

import datetime
import functools
import re
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import jinja2
import jinja2.compiler
import jinja2.ext
import jinja2.meta
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox
import jinja2.visitor
from jinja2.runtime import Context, LoopContext, Undefined
from jinja2.utils import Namespace

from headstart.engine.foreign import Foreign, fenced, joined, made_of
from headstart.engine.sandbox.budget import TooMuch, charge, counting, step, tick
from headstart.engine.sandbox.costs import check_call, cost_of, holds, is_free
from headstart.engine.sandbox.sizes import (
    check_format,
    check_power,
    check_product,
    check_source,
    check_sum,
    check_written,
    counted,
    kept,
    stored,
)
from headstart.engine.sandbox.texts import (
    FORMS,
    as_string,
    called,
    concatenated,
    join,
    text_of,
    to_json,
)

# steps that a macro call costs
_CALL = 10
# characters
_LONGEST_TIME = 200
# characters of the Python code compiled from a template: Python's compiler cannot be stopped
_LONGEST_PYTHON = 400_000
_STEP = "_headstart_step"
_KEPT = "_headstart_kept"
_COUNTED = "_headstart_counted"
_JOINED = "_headstart_joined"
_OF_DICT = frozenset(dir(dict))
_MISSING = object()


@functools.lru_cache(maxsize=8)
def compiled(source: str) -> jinja2.Template:
    """Raises TooMuch for a template longer or deeper than any model needs."""
    check_source(source)
    with counting():
        try:
            return environment().from_string(source)
        except RecursionError as error:
            raise TooMuch("it is nested too deeply") from error


def render(source: str, values: dict[str, Any]) -> str:
    """Raises whatever the template raises."""
    template = compiled(source)
    with counting(len(values.get("messages", ()))):
        return template.render(values)


@functools.lru_cache(maxsize=8)
def variables(source: str) -> frozenset[str]:
    """The names that the template reads without setting them first; raises TemplateSyntaxError."""
    check_source(source)
    with counting():
        try:
            tracker = _Tracker(environment())
            tracker.visit(environment().parse(source))
            return frozenset(tracker.undeclared_identifiers)
        except RecursionError as error:
            raise TooMuch("it is nested too deeply") from error


class _Generation(jinja2.ext.Extension):
    """`{% generation %}` marks training text; rendering uses its body and ignores the tag."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Limits(jinja2.visitor.NodeTransformer):
    """Inserts the counting into a parsed template."""

    def visit_For(self, node: jinja2.nodes.For) -> jinja2.nodes.Node:
        self.generic_visit(node)
        assert isinstance(node.iter, jinja2.nodes.Expr)
        node.iter = _call(_COUNTED, node.iter)
        return node

    def visit_Macro(self, node: jinja2.nodes.Macro) -> jinja2.nodes.Node:
        self.generic_visit(node)
        node.body.insert(0, jinja2.nodes.ExprStmt(_call(_STEP)))
        return node

    def visit_Concat(self, node: jinja2.nodes.Concat) -> jinja2.nodes.Node:
        self.generic_visit(node)
        return _call(_JOINED, *node.nodes)

    def visit_Getitem(self, node: jinja2.nodes.Getitem) -> jinja2.nodes.Node:
        self.generic_visit(node)
        # slicing bypasses the environment's hooks
        return _call(_KEPT, node) if isinstance(node.arg, jinja2.nodes.Slice) else node

    def visit_List(self, node: jinja2.nodes.List) -> jinja2.nodes.Node:
        return self._kept(node)

    def visit_Dict(self, node: jinja2.nodes.Dict) -> jinja2.nodes.Node:
        return self._kept(node)

    def visit_Tuple(self, node: jinja2.nodes.Tuple) -> jinja2.nodes.Node:
        # on the left of a `set` or a `for` it is not a value
        return self._kept(node) if node.ctx == "load" else node

    def _kept(self, node: jinja2.nodes.Literal) -> jinja2.nodes.Node:
        self.generic_visit(node)
        # most literals hold nothing that could grow
        held = list(node.iter_child_nodes())
        if all(isinstance(one, jinja2.nodes.Const | jinja2.nodes.Pair) for one in held):
            pairs = [one for one in held if isinstance(one, jinja2.nodes.Pair)]
            if all(isinstance(pair.value, jinja2.nodes.Const) for pair in pairs):
                return node
        return _call(_KEPT, node)


class _Timed(jinja2.compiler.CodeGenerator):
    """Checks the clock at each node."""

    def visit(self, node: jinja2.nodes.Node, *given: Any, **named: Any) -> Any:
        tick()
        return super().visit(node, *given, **named)


class _Tracker(_Timed, jinja2.meta.TrackingCodeGenerator):
    """Finds the variables that a template reads."""


class _Generator(_Timed):
    """Generates a clock check before each comparison."""

    def visit_Compare(self, node: jinja2.nodes.Compare, frame: jinja2.compiler.Frame) -> None:
        # `tick` returns None
        self.write("(environment.tick() or ")
        super().visit_Compare(node, frame)
        self.write(")")


class _Sandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset({"+", "*", "**", "%"})
    code_generator_class = _Generator
    tick = staticmethod(tick)

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """Join the output of a template, a macro or a block, charged as it arrives."""
        texts: list[str] = []
        waiting = 0
        for part in parts:
            texts.append(part)
            waiting += len(part) + 64
            if waiting > 100_000:
                charge(waiting)
                waiting = 0
        charge(sum(map(len, texts)))
        return joined(texts)

    def _parse(self, source: str, name: str | None, filename: str | None) -> jinja2.nodes.Template:
        tree = _Limits().visit(super()._parse(source, name, filename))
        assert isinstance(tree, jinja2.nodes.Template)
        tree.set_environment(self)
        return tree

    def _compile(self, source: str, filename: str) -> types.CodeType:
        if len(source) > _LONGEST_PYTHON:
            raise TooMuch("the template is too long")
        return super()._compile(source, filename)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Jinja's `getattr`, with a fast path for dict keys and namespaces, neither of which can be
        unsafe."""
        if type(obj) is dict and attribute not in _OF_DICT:
            found = obj.get(attribute, _MISSING)
            return self.undefined(obj=obj, name=attribute) if found is _MISSING else found
        if type(obj) is Namespace and attribute[:1] != "_":
            held = object.__getattribute__(obj, "_Namespace__attrs")
            return held[attribute] if attribute in held else self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Lists may grow and shrink: the values that a template is given are its own."""
        if type(obj) is list and attr in ("append", "pop"):
            return True
        return super().is_safe_attribute(obj, attr, value)

    def getitem(self, obj: Any, argument: Any) -> Any:
        tick()
        return super().getitem(obj, argument)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+":
            check_sum(left, right)
        elif operator == "**":
            check_power(left, right)
        elif operator == "%":
            check_format(left, right if isinstance(right, tuple) else (right,))
        else:
            check_product(left, right)
        if operator == "+" and isinstance(left, str) and isinstance(right, str):
            return kept(joined((left, right)))
        if operator == "%" and not isinstance(left, Foreign):
            right = tuple(map(fenced, right)) if isinstance(right, tuple) else fenced(right)
        return kept(made_of(left, operator, (), super().call_binop(context, operator, left, right)))

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        wrapped = super().wrap_str_format(value)
        if wrapped is None:
            return None

        def checked(*given: Any, **named: Any) -> str:
            check_call(value, given, named)
            return called(wrapped, value, given, named)  # type: ignore[no-any-return]

        return checked

    # the parameter names must not collide with names in the template
    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        check_call(__obj, args, kwargs)
        if isinstance(__obj, LoopContext) and args:
            args = (_counted(args[0]), *args[1:])
        call = functools.partial(super().call, __context, __obj)
        return kept(called(call, __obj, args, kwargs))


@functools.cache
def environment() -> jinja2.sandbox.ImmutableSandboxedEnvironment:
    made = _Sandbox(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[jinja2.ext.loopcontrols, _Generation],
        # neither the optimizer nor `finalize`, which takes the context, computes constants
        optimized=False,
        finalize=_shown,
    )
    made.filters["tojson"] = to_json
    made.filters["join"] = join
    made.filters["string"] = as_string
    for name, used in made.filters.items():
        made.filters[name] = _guarded(name, used)
    for name, test in made.tests.items():
        made.tests[name] = _timed(test)
    # it makes any amount of text
    del made.globals["lipsum"]
    made.globals["raise_exception"] = _raise
    made.globals["strftime_now"] = _strftime_now
    made.globals[_KEPT] = kept
    made.globals[_STEP] = _step
    made.globals[_COUNTED] = _counted
    made.globals[_JOINED] = concatenated
    return made


def _call(name: str, *arguments: jinja2.nodes.Expr) -> jinja2.nodes.Call:
    called = jinja2.nodes.Name(name, "load")
    return jinja2.nodes.Call(called, list(arguments), [], None, None)


def _step() -> str:
    step(_CALL)
    return ""


class _Counted:
    """An iterable that counts steps and keeps its length, which `loop.last` needs."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return counted(self._values)


def _counted(values: Any) -> Any:
    if isinstance(values, Undefined):
        return values
    return _Counted(values) if hasattr(type(values), "__len__") else counted(values)


@jinja2.pass_context
def _shown(_context: Context, value: Any) -> Any:
    """Check a value on its way into the output."""
    if isinstance(value, str):
        return value
    check_written(value)
    return text_of(value) if isinstance(value, list | tuple | dict) else value


def _guarded(name: str, used: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that charges its cost before it runs."""
    cost, holding, free = cost_of(name), holds(name), is_free(name)
    # filters that want a context get it before the value
    before = 1 if hasattr(used, "jinja_pass_arg") else 0

    @functools.wraps(used)
    def guarded(*given: Any, **named: Any) -> Any:
        tick()
        first, value, rest = given[:before], given[before], given[before + 1 :]
        if holding and isinstance(value, Iterator):
            value = list(stored(value))
        cost(value, [*rest], named)
        if not isinstance(value, Foreign) and name in FORMS:
            rest = tuple(map(fenced, rest))
        made = made_of(value, name, (*rest, *named.values()), used(*first, value, *rest, **named))
        return made if free and type(made) is not int else kept(made)

    return guarded


def _timed(used: Any) -> Callable[..., Any]:
    @functools.wraps(used)
    def timed(*given: Any) -> Any:
        tick()
        return used(*given)

    return timed


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


# a directive of a time; Windows writes the sign for “without zeros” as #
_DIRECTIVE = re.compile(r"%(?P<sign>[-#]?)(?P<letter>[A-Za-z%])")


def _strftime_now(form: str) -> str:
    check_format(form)
    if len(form) > _LONGEST_TIME:
        raise TooMuch("the form of the date is too long")
    return portable_time(datetime.datetime.now().astimezone(), form)


def portable_time(moment: datetime.datetime, form: str) -> str:
    """The moment in the form that a template asks for: the directives that not every system knows,
    such as `%-d`, mean what they mean on Linux."""

    def of_own(found: re.Match[str]) -> str:
        sign, letter = found["sign"], found["letter"]
        if letter == "%":
            return "%%"
        if sign:
            # a number without the zeros, or blanks, before it
            return moment.strftime(f"%{letter}").lstrip("0 ") or "0"
        own = {
            "e": f"{moment.day:2d}",
            "k": f"{moment.hour:2d}",
            "l": f"{moment.hour % 12 or 12:2d}",
            "P": moment.strftime("%p").lower(),
            "s": f"{int(moment.timestamp())}",
        }
        return own.get(letter, found[0])

    return moment.strftime(_DIRECTIVE.sub(of_own, form))

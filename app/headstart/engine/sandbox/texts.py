"""Texts that templates make of values: with a stranger's text in it, a text is a stranger's.

See `engine.foreign`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import jinja2
import jinja2.filters

from headstart.engine.foreign import Foreign, as_text, fenced, joined, made_of
from headstart.engine.sandbox.budget import charge
from headstart.engine.sandbox.sizes import check_written, kept

# functions that put their arguments into a text
FORMS = frozenset({"format", "format_map", "replace"})


def as_string(value: Any) -> str:
    return value if isinstance(value, str) else text_of(value)


def text_of(value: Any) -> str:
    return as_text(value, str(value))


def concatenated(*values: Any) -> str:
    """The `~` operator for any number of values."""
    for value in values:
        check_written(value)
    texts = [text_of(value) for value in values]
    charge(max(map(_widest, texts)) * sum(map(len, texts)))
    return kept(joined(texts))  # type: ignore[no-any-return]


def _widest(text: str) -> int:
    return 1 if text.isascii() else 4


def called(
    call: Callable[..., Any], function: Any, given: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    """The result of `call`, a call of a function. Methods of texts that put their arguments into
    one get these safe."""
    owner = getattr(function, "__self__", None)
    if not isinstance(owner, str):
        return call(*given, **named)
    name = function.__name__
    if name == "join" and len(given) == 1:
        given = (list(given[0]),)
        if all(isinstance(one, str) for one in given[0]):
            return _joined(given[0], owner)
    if not isinstance(owner, Foreign) and name in FORMS:
        given = tuple(map(fenced, given))
        named = {key: fenced(one) for key, one in named.items()}
    return made_of(owner, name, (*given, *named.values()), call(*given, **named))


@jinja2.pass_environment
def join(
    environment: jinja2.Environment,
    value: Any,
    between: str = "",
    attribute: str | int | None = None,
) -> str:
    """Jinja's filter of this name."""
    if attribute is not None:
        value = map(jinja2.filters.make_attrgetter(environment, attribute), value)
    return _joined(value, between)


def _joined(values: Iterable[Any], between: str) -> str:
    texts: list[str] = []
    for one in values:
        texts += (str(between), text_of(one)) if texts else (text_of(one),)
    return joined(texts)


def to_json(value: Any, indent: int | None = None, **_: Any) -> str:
    # Jinja's own filter escapes HTML, a form that no model was trained on
    return as_text(value, json.dumps(value, ensure_ascii=False, indent=indent))

"""The JSON Schema that an answer is held to, read before anything is made of it. Pure."""

from __future__ import annotations

import json
from typing import Any

from headstart.core.errors import EnvironmentProblem
from headstart.core.schema_bounds import (
    MOST_CHARACTERS,
    MOST_LEVELS,
    MOST_VALUES,
    excess_in,
)

# of a whole number; Python reads no more
_MOST_DIGITS = 4_000


def parsed_format(schema: str) -> dict[str, Any]:
    """The schema as a value; raises EnvironmentProblem for one that is none, or too large."""
    if excess_in(schema) is not None:
        raise EnvironmentProblem(
            "format-too-large",
            levels=MOST_LEVELS,
            values=MOST_VALUES,
            characters=MOST_CHARACTERS,
        )
    try:
        parsed = json.loads(schema, parse_int=_whole_number, parse_constant=_no_constant)
    except ValueError as error:
        raise EnvironmentProblem("format-is-no-json", reason=error) from error
    if not isinstance(parsed, dict):
        raise EnvironmentProblem("format-is-no-schema")
    return parsed


def _whole_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has more than {_MOST_DIGITS:,} digits")
    return int(digits)


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")

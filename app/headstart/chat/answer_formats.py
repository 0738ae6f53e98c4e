"""Formats of answers, checked before a model is held to them. On the event loop's thread."""

from __future__ import annotations

import asyncio
import json

from msgspec import Struct

from headstart.core.errors import EnvironmentProblem
from headstart.core.told import Told


class CheckedFormat(Struct, frozen=True):
    """A schema as it was typed; why it cannot be used, or an answer that it could get."""

    schema: str
    problem: Told | None = None
    sample: str = ""


async def check(schema: str) -> CheckedFormat:
    return await asyncio.to_thread(_check, schema)


def _check(schema: str) -> CheckedFormat:
    # the library of grammars is imported when one is asked for
    from headstart.core.text.json_sample import sample
    from headstart.engine.constraints.answer_format import check_schema, fits

    try:
        check_schema(schema)
    except EnvironmentProblem as problem:
        return CheckedFormat(schema, problem.told)
    shown = sample(json.loads(schema))
    return CheckedFormat(schema, sample=shown if fits(schema, shown) else "")

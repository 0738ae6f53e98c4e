"""Checks an answer format before a model is held to it. On the event loop's thread."""

from __future__ import annotations

import asyncio
import json

from msgspec import Struct

from headstart.core.errors import EnvironmentProblem
from headstart.core.told import Told


class CheckedFormat(Struct, frozen=True):
    """The typed schema, with the reason why it is unusable or a sample answer."""

    schema: str
    problem: Told | None = None
    sample: str = ""


async def check(schema: str) -> CheckedFormat:
    return await asyncio.to_thread(_check, schema)


def _check(schema: str) -> CheckedFormat:
    # the grammar library is imported on first use
    from headstart.core.text.json_sample import sample
    from headstart.engine.constraints.answer_format import check_schema, fits

    try:
        check_schema(schema)
    except EnvironmentProblem as problem:
        return CheckedFormat(schema, problem.told)
    shown = sample(json.loads(schema))
    return CheckedFormat(schema, sample=shown if fits(schema, shown) else "")

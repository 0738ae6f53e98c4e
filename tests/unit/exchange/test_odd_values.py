"""Each value of each program's file as something else: a report, never a crash."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headstart.exchange import own_format
from tests.support import conversation_files as files
from tests.support.conversations import read_bytes
from tests.support.odd_numbers import assert_bounded
from tests.support.program_files import PROGRAMS

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    1 << 31,
    10**20,
    1e300,
    float("nan"),
    float("inf"),
    "",
    "x",
    [],
    [[]],
    [None],
    [1, "a"],
    {},
    {"a": [1]},
)
FILES = {**files.FILES, **{name: make for name, (_, make) in PROGRAMS.items()}}
Place = tuple[str | int, ...]


def documents(data: bytes) -> list[Any]:
    """The JSON of a file, one document or one on each line; none where it is something else."""
    for pieces in ([data], data.splitlines()):
        try:
            return [json.loads(piece) for piece in pieces]
        except ValueError:
            continue
    return []


def places(value: Any, above: Place = ()) -> Iterator[Place]:
    """The places of all values in another, of lists those of the first three."""
    if above:
        yield above
    inside: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    for key, one in enumerate(value[:3]) if isinstance(value, list) else inside:
        yield from places(one, (*above, key))


def with_value(value: Any, place: Place, other: object) -> Any:
    if not place:
        return other
    changed = copy.copy(value)
    changed[place[0]] = with_value(value[place[0]], place[1:], other)
    return changed


JSON = {name: found for name, make in FILES.items() if (found := documents(make()))}


@pytest.mark.parametrize("count", [1, pytest.param(len(ODD), marks=pytest.mark.proof)])
@pytest.mark.parametrize("name", list(JSON))
def test_a_value_of_another_kind_loses_no_more_than_itself(
    name: str, count: int, tmp_path: Path
) -> None:
    rng, whole = random.Random(name), JSON[name]
    for number, document in enumerate(whole[:6]):
        for place in places(document):
            for other in rng.sample(ODD, count):
                changed = with_value(whole, (number, *place), other)
                data = b"\n".join(files.dumps(one) for one in changed)
                found, report = read_bytes(data, tmp_path, "a.json")
                assert found or report.counts, (place, other)
                for chat in found:
                    assert chat.branch(), (place, other)
                    assert_bounded(chat)
                    own_format.from_json(own_format.to_json(chat))

"""Bounds of the numbers in messages, whatever file, row, server or tool they come from. Pure.

Qt counts in 32 bits and SQLite in 64, while JSON has numbers of any length. A number beyond its
bounds says nothing: it counts as unknown, where it is read.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

# the largest integer of Qt
MOST = (1 << 31) - 1
# the last moment of a calendar with four digits for the year, a day short of it for time zones
LAST_MOMENT = 253_402_214_400_000

Count = Annotated[int, Meta(ge=0, le=MOST)]
# of a side of an image; formats that are shown have 16 bits for it, or their decoders do
Pixels = Annotated[int, Meta(ge=0, le=65_535)]
# or parts, of a file; a set of this many numbers takes 50 MB
Pages = Annotated[int, Meta(ge=0, le=1_000_000)]
Size = Annotated[int, Meta(ge=0, le=1 << 50)]
# thirty years
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Seed = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]

_K = TypeVar("_K")


class _Number(NamedTuple):
    """A field of a struct that is a number, or holds a struct with numbers (`inner`)."""

    name: str
    kind: Any
    required: bool
    inner: Any


def moment_of(value: object) -> int:
    """Milliseconds since 1970; 0, an unknown time, for what is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LAST_MOMENT:
        return int(value)
    return 0


def converted(values: Mapping[str, Any], kind: type[_K]) -> tuple[_K, int]:
    """A struct of plain values, and how many of its numbers were left out as out of bounds. Raises
    msgspec.ValidationError for values of other kinds."""
    try:
        return msgspec.convert(values, kind), 0
    except msgspec.ValidationError:
        sound, left_out = _within(values, kind)
        return msgspec.convert(sound, kind), left_out


def _within(values: Mapping[str, Any], kind: Any) -> tuple[dict[str, Any], int]:
    """The values without the numbers that are out of bounds; and their count."""
    found, left_out = dict(values), 0
    for number in _numbers(kind):
        value = found.get(number.name)
        if number.inner is not None:
            if isinstance(value, Mapping):
                found[number.name], more = _within(value, number.inner)
                left_out += more
        elif number.name in found and not _fits(value, number.kind):
            whole = int(value) if isinstance(value, float) and value.is_integer() else None
            if whole is not None and _fits(whole, number.kind):
                # a program without integers wrote it
                found[number.name] = whole
                continue
            left_out += 1
            if number.required:
                found[number.name] = None if _fits(None, number.kind) else 0
            else:
                del found[number.name]
    return found, left_out


def _fits(value: object, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


@functools.cache
def _numbers(kind: Any) -> tuple[_Number, ...]:
    # only files and rows with odd numbers need it
    from msgspec import inspect

    found = []
    for field in msgspec.structs.fields(kind):
        info = inspect.type_info(field.type)
        kinds = info.types if isinstance(info, inspect.UnionType) else (info,)
        inner = next((one.cls for one in kinds if isinstance(one, inspect.StructType)), None)
        if inner is not None or any(
            isinstance(one, inspect.IntType | inspect.FloatType) for one in kinds
        ):
            found.append(_Number(field.encode_name, field.type, field.required, inner))
    return tuple(found)

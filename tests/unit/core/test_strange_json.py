"""JSON is counted right, however it is cut into pieces, and what is refused was never built."""

from __future__ import annotations

import json
import math
import random
import string
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from headstart.core.strange_json import (
    DEEPEST,
    JsonCount,
    JsonLimits,
    JsonTooLarge,
    decoded,
    read_json,
)

WIDE = JsonLimits(1 << 30, 1 << 30)
_SIGNS = string.printable + '"\\[]{}:,é漢😀\ud83d'


def _value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.random()
    if depth < 4 and kind < 0.3:
        return [_value(rng, depth + 1) for _ in range(rng.randint(0, 4))]
    if depth < 4 and kind < 0.6:
        return {_text(rng): _value(rng, depth + 1) for _ in range(rng.randint(0, 4))}
    return rng.choice([_text(rng), rng.randint(-9, 10**30), rng.random(), True, None, ""])


def _text(rng: random.Random) -> str:
    return "".join(rng.choices(_SIGNS, k=rng.randint(0, 9)))


def _structure(value: Any) -> int:
    """Objects, lists and keys of a value."""
    if isinstance(value, dict):
        return 1 + len(value) + sum(map(_structure, value.values()))
    return 1 + sum(map(_structure, value)) if isinstance(value, list) else 0


def _depth(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, inside), default=0) if isinstance(value, dict | list) else 0


def _fits(data: bytes, limits: JsonLimits, rng: random.Random) -> bool:
    count = JsonCount(limits)
    try:
        while data:
            size = rng.choice([1, 2, 3, 7, 100_000])
            count.take(data[:size])
            data = data[size:]
    except JsonTooLarge:
        return False
    return True


def test_structure_is_counted_outside_of_texts_wherever_the_data_is_cut() -> None:
    rng = random.Random(4)
    for _ in range(600):
        value = _value(rng)
        ascii_only = rng.random() < 0.5
        data = json.dumps(value, ensure_ascii=ascii_only, indent=rng.choice([None, 1]))
        raw = data.encode("utf-8", "replace")
        exact = _structure(value)
        assert _fits(raw, JsonLimits(len(raw), exact), rng), data
        if exact:
            assert not _fits(raw, JsonLimits(len(raw), exact - 1), rng), data
        assert not _fits(raw, JsonLimits(len(raw) - 1, exact), rng), data
        assert read_json(raw, WIDE) == json.loads(raw)


@pytest.mark.parametrize("cut", [1, 5, 70_000])
def test_depth_is_bounded(cut: int) -> None:
    rng = random.Random(5)
    for _ in range(50):
        levels = rng.randint(DEEPEST - 3, DEEPEST + 3)
        opened = [rng.choice("[{") for _ in range(levels)]
        head = "[" + "[[]]," * 500 + "".join('{"a":' if one == "{" else one for one in opened[1:])
        tail = "".join("}" if one == "{" else "]" for one in reversed(opened[1:])) + "]"
        data = f"{head}1{tail}".encode()
        count = JsonCount(WIDE)
        refused = False
        try:
            for at in range(0, len(data), cut):
                count.take(data[at : at + cut])
        except JsonTooLarge as error:
            refused = error.bound == "depth"
        assert refused == (_depth(json.loads(data)) > DEEPEST)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "lists": lambda: b"[" + b"[]," * 19_000_000 + b"[]]",
    "objects": lambda: b"[" + b"{}," * 19_000_000 + b"{}]",
    "keys": lambda: b"{" + b'"":1,' * 12_000_000 + b'"a":1}',
    "numbers": lambda: b"[" + b"1," * 28_000_000 + b"1]",
    "texts": lambda: b"[" + b'"",' * 19_000_000 + b'""]',
    "texts without an end": lambda: b'"' * 57_000_000,
    "deep": lambda: b"[" * 57_000_000,
    "long number": lambda: b"9" * 57_000_000,
    "long fraction": lambda: b"[0." + b"1" * 57_000_000,
    "emoji": lambda: '"{}😀"'.format("a" * 57_000_000).encode(),
    "escaped emoji": lambda: b'"' + b"a" * 57_000_000 + b'\\ud83d\\ude00"',
    "emoji at once": lambda: '["{}"]'.format("😀" * 14_000_000).encode(),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_would_become_gigabytes_is_refused_before_anything_is_built(name: str) -> None:
    data = HOSTILE[name]()
    tracemalloc.start()
    try:
        with pytest.raises(JsonTooLarge):
            read_json(data, JsonLimits(64 << 20, 200_000))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("digits", [1, 20, 300, 301, 400, 4_300, 4_301, 5_000, 9_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_fit_a_float_or_are_infinite(digits: int, sign: str) -> None:
    found = read_json(f'{{"a": [{sign}{"9" * digits}]}}'.encode(), WIDE)["a"][0]
    text = sign + "9" * digits
    assert found == (int(text) if digits <= 300 else float(text))
    # nobody meets an OverflowError later
    float(found)
    assert decoded(text.encode()) == decoded(text) == found


def test_what_python_writes_is_read() -> None:
    found = read_json(b'{"a": NaN, "b": -Infinity, "c": "\\ud83d", "d": 1e999}', WIDE)
    assert math.isnan(found["a"])
    assert (found["b"], found["c"], found["d"]) == (-math.inf, "\ud83d", math.inf)


@pytest.mark.parametrize("data", [b"", b"{", b"[1,]", b"\xff", b'"\x01"', b"{}x", b"nope"])
def test_anything_else_is_no_json(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(data, WIDE)
    with pytest.raises(ValueError, match=r"."):
        decoded(b"[" * 100_000)

"""Answers are counted right, however they are cut into pieces."""

from __future__ import annotations

import gzip
import random

import pytest

from headstart.core.answers import AnswerLimits, AnswerTooLong, EventSize, Unpacker, is_packed

SMALL = AnswerLimits(40, 5)


def _is_refused(data: bytes, sizes: random.Random) -> bool:
    counted = EventSize(SMALL)
    try:
        while data:
            size = sizes.randint(1, 30)
            counted.take(data[:size])
            data = data[size:]
    except AnswerTooLong:
        return True
    return False


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
def test_each_event_is_counted_alone(end: bytes) -> None:
    rng = random.Random(3)
    for _ in range(300):
        events = [b"x" * rng.randint(0, 36) for _ in range(rng.randint(1, 9))]
        assert not _is_refused(end.join(events), rng), events
        events.insert(rng.randint(0, len(events)), b"x" * 60)
        assert _is_refused(end.join(events), rng), events


def test_structure_counts_beside_bytes() -> None:
    assert not _is_refused(b"{[{[\n\n{[{[", random.Random(1))
    assert _is_refused(b'{"a":[{"b":[', random.Random(1))


def test_a_few_bytes_that_unpack_to_many_come_a_little_at_a_time() -> None:
    packed = gzip.compress(b"a" * 10_000_000)
    sizes = [len(part) for part in Unpacker().take(packed)]
    assert sum(sizes) == 10_000_000
    assert max(sizes) <= 65_536


@pytest.mark.parametrize("name", ["br", "gzip, gzip", "zstd", "aes128gcm"])
def test_what_nobody_asked_for_is_refused(name: str) -> None:
    with pytest.raises(AnswerTooLong):
        is_packed(name)


def test_what_was_asked_for_is_taken() -> None:
    assert is_packed("GZIP")
    assert is_packed("deflate, identity")
    assert not is_packed("")
    assert not is_packed("identity")

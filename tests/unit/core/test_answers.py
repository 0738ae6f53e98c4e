"""Answers are counted right, however they are cut into pieces."""

from __future__ import annotations

import gzip
import random

import pytest

from headstart.core.answers import (
    BODY,
    HUB,
    Answer,
    AnswerLimits,
    AnswerTooLong,
    EventSize,
    is_packed,
)
from tests.support.endless_server import EMPTY, GZIP

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


def _take_all(answer: Answer, pieces: list[bytes]) -> None:
    for piece in pieces:
        list(answer.parts(piece))


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
    sizes = [len(part) for part in Answer(HUB, packed=True).parts(packed)]
    assert sum(sizes) == 10_000_000
    assert max(sizes) <= 65_536


def test_what_follows_packed_bytes_is_not_kept() -> None:
    answer = Answer(HUB, packed=True)
    assert b"".join(answer.parts(gzip.compress(b"[]"))) == b"[]"
    with pytest.raises(AnswerTooLong):
        list(answer.parts(b"x" * 1_000))


def test_packed_bytes_that_unpack_to_nothing_count() -> None:
    answer = Answer(BODY, packed=True)
    assert b"".join(answer.parts(GZIP + EMPTY * 100_000)) == b""
    with pytest.raises(AnswerTooLong):
        list(answer.parts(EMPTY * 400_000))


def test_of_an_error_the_beginning_is_read() -> None:
    answer = Answer(None, failed=True)
    assert list(answer.parts(b"x" * 60_000))
    assert not answer.full
    assert list(answer.parts(b"x" * 60_000)) == []
    assert answer.full


def test_many_lines_in_one_event_count_wherever_they_are_cut() -> None:
    for size in (7, 1_000, 100_000):
        data = b"data: {}\n\n" + b"a\n" * 5_000 + b"\ndata: {}\n\n"
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        with pytest.raises(AnswerTooLong):
            _take_all(Answer(None), pieces)


@pytest.mark.parametrize("name", ["br", "gzip, gzip", "zstd", "aes128gcm"])
def test_what_nobody_asked_for_is_refused(name: str) -> None:
    with pytest.raises(AnswerTooLong):
        is_packed(name)


def test_what_was_asked_for_is_taken() -> None:
    assert is_packed("GZIP")
    assert is_packed("deflate, identity")
    assert not is_packed("")
    assert not is_packed("identity")

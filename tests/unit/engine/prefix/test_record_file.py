"""Record files: what was written comes back; anything else is refused, however it came about."""

from __future__ import annotations

import os
import random
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from headstart.core.prefixes import RecordInfo, RecordKind
from headstart.engine.prefix import record_file
from headstart.engine.prefix.keys import pack, record_key, root
from headstart.engine.prefix.record_file import Payload, RecordDamaged, WriteAbandoned
from headstart.engine.prefix.store import make_info
from headstart.engine.stop import StopSignal

FAMILY = bytes(range(32))
DAMAGES = 4_000


def _record(parts: int = 3, tokens: int = 24) -> tuple[RecordInfo, Payload]:
    rng = np.random.default_rng(parts)
    blobs = tuple(rng.integers(0, 256, 200 + index, np.uint8) for index in range(parts))
    payload = Payload(blobs, tokens // parts)
    info = make_info(
        FAMILY, root(FAMILY), RecordKind.RANGE, 0, pack(range(1000, 1000 + tokens)), payload
    )
    return info, payload


@pytest.fixture(params=["own memory", "mapped at once", "mapped after reading"])
def keep(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """The ways to read a file; the third is that of systems older than Linux 5.14."""
    if request.param == "mapped after reading":
        monkeypatch.setattr(record_file, "_madvise", lambda: lambda *_range: -1)
    return bool(request.param == "own memory")


def test_a_record_comes_back_as_it_was(tmp_path: Path, keep: bool) -> None:
    info, payload = _record()
    path = tmp_path / "a.kv"
    record_file.write(path, info, payload)
    assert path.stat().st_size == info.size
    back = record_file.read(path, info, keep)
    assert back.tokens_each == payload.tokens_each
    assert [part.tobytes() for part in back.parts] == [part.tobytes() for part in payload.parts]
    assert list(tmp_path.iterdir()) == [path]


def test_truncated_and_altered_files_are_refused(tmp_path: Path, keep: bool) -> None:
    info, payload = _record()
    path = tmp_path / "a.kv"
    record_file.write(path, info, payload)
    whole = path.read_bytes()
    random_ = random.Random(4)
    for number in range(DAMAGES):
        damaged = bytearray(whole)
        kind = number % 4
        if kind == 0:
            del damaged[random_.randrange(len(whole)) :]
        elif kind == 1:
            damaged[random_.randrange(len(whole))] ^= 1 << random_.randrange(8)
        elif kind == 2:
            at = random_.randrange(len(whole))
            damaged[at : at + 16] = random_.randbytes(len(damaged[at : at + 16]))
        else:
            damaged += random_.randbytes(1 + random_.randrange(64))
        if bytes(damaged) == whole:
            continue
        path.write_bytes(damaged)
        with pytest.raises(RecordDamaged):
            record_file.read(path, info, keep)
        if kind != 1:
            # also where the index believes the wrong size
            with pytest.raises(RecordDamaged):
                record_file.read(path, replace(info, size=len(damaged)), keep)


@pytest.mark.parametrize(
    "change",
    [
        {"namespace": bytes(32)},
        {"parent": bytes(32)},
        {"start": 256},
        {"kind": RecordKind.SNAPSHOT},
        {"tokens": pack(range(24))},
    ],
)
def test_a_sound_file_of_another_record_is_refused(
    tmp_path: Path, change: dict[str, object]
) -> None:
    info, payload = _record()
    path = tmp_path / "a.kv"
    record_file.write(path, info, payload)
    with pytest.raises(RecordDamaged):
        record_file.read(path, replace(info, **change))


def test_a_file_whose_key_is_not_that_of_its_tokens_is_refused(tmp_path: Path) -> None:
    info, payload = _record()
    lying = replace(info, key=record_key(RecordKind.RANGE, info.parent, pack([1])))
    record_file.write(tmp_path / "a.kv", lying, payload)
    with pytest.raises(RecordDamaged):
        record_file.read(tmp_path / "a.kv", lying)


def test_an_abandoned_write_leaves_nothing(tmp_path: Path) -> None:
    info, payload = _record()
    with pytest.raises(WriteAbandoned):
        record_file.write(tmp_path / "a.kv", info, payload, StopSignal(-1))
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    info, payload = _record()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        record_file.write(tmp_path / "a.kv", info, payload)
    assert list(tmp_path.iterdir()) == []

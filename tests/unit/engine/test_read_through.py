"""Files are read in pieces, with progress, and a stop is heard between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.engine.backends.trial.read_through import PIECE, read_through
from headstart.engine.decoder import DecodeAborted


def _files(folder: Path) -> list[Path]:
    files = [folder / "one", folder / "two"]
    for file, pieces in zip(files, (2.5, 1), strict=True):
        with file.open("wb") as target:
            target.truncate(int(pieces * PIECE))
    return files


def test_progress_goes_over_all_files(tmp_path: Path) -> None:
    seen: list[float] = []

    def progress(fraction: float) -> bool:
        seen.append(fraction)
        return True

    read_through(_files(tmp_path), progress)
    assert len(seen) == 4
    assert seen == sorted(seen)
    assert seen[0] == 0
    assert 0.7 < seen[-1] < 0.72


def test_a_stop_is_heard_between_two_pieces(tmp_path: Path) -> None:
    calls = 0

    def progress(_fraction: float) -> bool:
        nonlocal calls
        calls += 1
        return calls < 2

    with pytest.raises(DecodeAborted):
        read_through(_files(tmp_path), progress)
    assert calls == 2


def test_a_file_that_is_gone_is_for_others_to_tell(tmp_path: Path) -> None:
    read_through([tmp_path / "gone"], lambda _fraction: True)

"""What native code leaves when it ends the process is found by the next start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from headstart.storage.adapters.crash_log import KEPT, CrashLog, details

_CRASH = """
import ctypes, sys
from pathlib import Path
from headstart.storage.adapters.crash_log import CrashLog
log = CrashLog(Path(sys.argv[1]))
assert log.begin() is None
def in_the_middle_of_something():
    # Python makes an exception of a bad address on Windows
    ctypes.CDLL("ucrtbase").abort() if sys.platform == "win32" else ctypes.string_at(0)
in_the_middle_of_something()
"""


def test_a_crash_of_native_code_is_found_with_the_place(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _CRASH, str(tmp_path)], capture_output=True, check=False
    )
    assert ended.returncode not in (0, 1), ended.stderr
    log = CrashLog(tmp_path)
    kept = log.begin()
    log.end()
    assert kept is not None
    assert "in_the_middle_of_something" in details(kept)
    how = "Aborted" if sys.platform == "win32" else "Segmentation fault"
    assert how in details(kept)
    # told once
    again = CrashLog(tmp_path)
    assert again.begin() is None
    again.end()


def test_a_program_that_ended_as_it_should_leaves_nothing(tmp_path: Path) -> None:
    log = CrashLog(tmp_path)
    assert log.begin() is None
    log.end()
    assert list(tmp_path.iterdir()) == []


def test_only_the_newest_crashes_are_kept(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"crash-2020010{number}-000000.log").write_text("old")
    (tmp_path / "crash.log").write_text("Fatal Python error")
    log = CrashLog(tmp_path)
    kept = log.begin()
    log.end()
    assert kept is not None
    left = sorted(tmp_path.glob("crash-*.log"))
    assert len(left) == KEPT
    assert left[-1] == kept


def test_a_folder_that_cannot_be_made_is_nobodys_trouble(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    log = CrashLog(tmp_path / "file" / "logs")
    assert log.begin() is None
    log.end()

"""The program as a process: version, the demo without a screen, one window per home."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from headstart import __version__
from headstart.beginning import lock_home
from headstart.home import Home
from tests.support.patience import PATIENCE


def _program(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    return subprocess.run(
        [sys.executable, "-m", "headstart", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def test_version(tmp_path: Path) -> None:
    assert _program("--version", cwd=tmp_path).stdout == f"Headstart {__version__}\n"


def test_without_a_screen_it_asks_prints_and_leaves_picture_and_words(tmp_path: Path) -> None:
    done = _program(cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "prime" in done.stdout
    assert "tok/s" in done.stdout
    picture = (tmp_path / "demo" / "headstart.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 20_000
    words = (tmp_path / "demo" / "conversation.md").read_text()
    assert words.startswith("---\n")
    assert "## Assistant" in words


def test_a_second_program_on_the_same_home_says_so_and_goes(home: Home, tmp_path: Path) -> None:
    home.path.mkdir(parents=True)
    lock = lock_home(home)
    try:
        done = _program("--home", str(home.path), cwd=tmp_path)
    finally:
        lock.release()
    assert done.returncode == 1
    assert "already open" in done.stderr
    assert not home.database.exists()


def test_a_damaged_database_is_kept_aside_and_the_program_opens(home: Home, tmp_path: Path) -> None:
    home.path.mkdir(parents=True)
    content = b"garbage" * 1000
    home.database.write_bytes(content)
    done = _program("--home", str(home.path), "--demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (kept,) = home.path.glob("headstart-damaged-*.db")
    assert kept.read_bytes() == content


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = _program("--home", str(tmp_path / "file"), "--demo", cwd=tmp_path)
    assert done.returncode == 1
    assert "cannot be used" in done.stderr

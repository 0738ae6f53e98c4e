"""`make install` and `make uninstall`, in a home of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from headstart import __version__

ROOT = Path(__file__).resolve().parents[2]


def _run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": str(home)}
    environment.pop("XDG_DATA_HOME", None)
    return subprocess.run(
        [sys.executable, str(ROOT / "packaging" / "install.py"), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def _files(home: Path) -> list[Path]:
    return sorted(path for path in home.rglob("*") if path.is_file())


def test_it_is_in_the_menu_starts_by_name_and_leaves_no_trace(tmp_path: Path) -> None:
    kept = tmp_path / ".local/share/Headstart/headstart.db"
    kept.parent.mkdir(parents=True)
    kept.write_text("chats")
    assert _run(tmp_path).returncode == 0
    # twice is no harm
    assert _run(tmp_path).returncode == 0
    command = tmp_path / ".local/bin/headstart"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"Headstart {__version__}\n"
    entry = (tmp_path / ".local/share/applications/headstart.desktop").read_text()
    assert f"Exec={command} %F" in entry
    assert (tmp_path / ".local/share/mime/packages/headstart.xml").exists()
    assert (tmp_path / ".local/share/icons/hicolor/scalable/apps/headstart.svg").exists()

    assert _run(tmp_path, "uninstall").returncode == 0
    left = [path for path in _files(tmp_path) if "headstart" in path.name]
    assert left == [kept]
    assert _run(tmp_path, "uninstall").returncode == 0


def test_another_programs_command_is_left_alone(tmp_path: Path) -> None:
    command = tmp_path / ".local/bin/headstart"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\necho another\n")
    assert _run(tmp_path).returncode == 1
    assert _run(tmp_path, "uninstall").returncode == 0
    assert command.read_text() == "#!/bin/sh\necho another\n"
    assert _files(tmp_path) == [command]

"""Nobody but the user may read what the program keeps; what is saved elsewhere is as others do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headstart.home import Home
from tests.faults.visit import Plan, visit
from tests.support.conversation_files import FILES
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")


def modes(folder: Path) -> dict[str, int]:
    found = [folder, *folder.rglob("*")]
    return {str(path.relative_to(folder)): path.stat().st_mode & 0o777 for path in found}


def headstart(home: Home, *arguments: str) -> None:
    command = [sys.executable, "-m", "headstart", "--home", str(home.path), *arguments]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE, umask=0o022)


def test_a_home_is_the_users_alone(home: Home) -> None:
    # made by an earlier version, open to all
    home.path.mkdir(mode=0o755)
    found = visit(Plan(str(home.path), ("Name a river.",)))
    assert not found.ended
    for name, mode in modes(home.path).items():
        assert not mode & 0o077, f"{name} is {mode:o}"


def test_nothing_listens_or_leaves_and_no_file_is_elsewhere(tmp_path: Path) -> None:
    users = tmp_path / "user"
    users.mkdir()
    found = visit(Plan(str(users / "home"), ("Name a river.",)), users=users)
    assert len(found.texts) == 2
    assert not found.told.strip()
    assert not found.network
    others = {
        str(path.relative_to(users))
        for path in users.rglob("*")
        if path.is_file() and "home" not in path.relative_to(users).parts
    }
    # fontconfig and the graphics driver keep theirs
    assert not {
        path for path in others if not path.startswith((".cache/fontconfig", ".cache/mesa"))
    }


def test_an_export_is_as_other_programs_save_files(home: Home, tmp_path: Path) -> None:
    source = tmp_path / "chats.json"
    source.write_bytes(FILES["chatgpt"]())
    headstart(home, "import", str(source))
    target = tmp_path / "all.zip"
    headstart(home, "export", "--out", str(target))
    assert target.stat().st_mode & 0o777 == 0o644
    assert not any(mode & 0o077 for mode in modes(home.path).values())

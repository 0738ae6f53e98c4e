"""Files of a folder: what is listed, what is left out and why, without following anything."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from headstart.knowledge.scan import scan


def names(root: Path) -> set[str]:
    return {os.fsdecode(one.path) for one in scan(root).stamps}


def test_rules_of_gitignore_apply_as_in_git(tmp_path: Path) -> None:
    for path in ("a.md", "b.log", "build/x.md", "deep/build/y.md", "deep/keep.log", "deep/z.tmp"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("words")
    (tmp_path / ".gitignore").write_text("*.log\n/build/\n")
    (tmp_path / "deep" / ".gitignore").write_text("!keep.log\n*.tmp\n")
    assert names(tmp_path) == {"a.md", "deep/build/y.md", "deep/keep.log"}
    assert dict(scan(tmp_path).left_out) == {"hidden": 2, "ignored": 3}


def test_everything_left_out_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    (tmp_path / ".hidden").write_text("words")
    (tmp_path / "photo.JPG").write_bytes(b"x")
    (tmp_path / "types.ts").write_text("const a = 1")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    (tmp_path / "env" / "x.py").write_text("")
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate((64 << 20) + 1)
    if sys.platform != "win32":
        (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
        (tmp_path / "round").symlink_to(tmp_path)
        os.mkfifo(tmp_path / "pipe.txt")
    assert names(tmp_path) == {"a.txt", "types.ts"}
    wanted = {"hidden": 1, "kind": 1, "made": 2, "large": 1}
    if sys.platform != "win32":
        wanted |= {"link": 2, "kind": 2}
    assert dict(scan(tmp_path).left_out) == wanted


def test_a_single_file_is_a_source_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words")
    (one,) = scan(tmp_path / "a.txt").stamps
    assert (one.path, one.size) == (b"", 5)
    assert scan(tmp_path / "gone.txt").away


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes here")
def test_names_that_are_no_text_are_kept_as_bytes(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.txt")).write_text("words")
    assert [one.path for one in scan(tmp_path).stamps] == [b"\xff\xfe.txt"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_locked_folder_hides_its_files(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / "a.txt").write_text("words")
    (tmp_path / "locked").chmod(0)
    try:
        found = scan(tmp_path)
    finally:
        (tmp_path / "locked").chmod(0o700)
    assert found.blind == (b"locked",)
    assert found.hides(b"locked/a.txt")
    assert not found.hides(b"lockedout.txt")

"""Files are written under names that are nobody else's, and read only where they are files."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

import pytest

from headstart.core import files
from headstart.core.errors import EnvironmentProblem
from headstart.core.told import told, without_places

posix = pytest.mark.skipif(os.name != "posix", reason="of POSIX")


def test_what_others_call_partial_is_theirs(tmp_path: Path) -> None:
    theirs = tmp_path / "notes.md.partial"
    theirs.write_text("mine")
    files.write_whole(tmp_path / "notes.md", b"new")
    assert (tmp_path / "notes.md").read_bytes() == b"new"
    assert theirs.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"notes.md", "notes.md.partial"}


@posix
def test_a_planted_link_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    secret = tmp_path / "secret"
    secret.write_text("keep")
    names = iter(("aa", "bb"))
    monkeypatch.setattr(secrets, "token_hex", lambda _size: next(names))
    (tmp_path / ".headstart-aa.partial").symlink_to(secret)
    files.write_whole(tmp_path / "notes.md", b"new")
    assert secret.read_text() == "keep"
    assert (tmp_path / "notes.md").read_bytes() == b"new"
    assert (tmp_path / ".headstart-aa.partial").is_symlink()


def test_a_name_of_255_bytes_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 125 + ".json")
    files.write_whole(path, b"x")
    assert path.read_bytes() == b"x"


def test_leftovers_go_when_nobody_can_be_at_them(tmp_path: Path) -> None:
    old, new = files.new_partial(tmp_path), files.new_partial(tmp_path)
    os.utime(old, (0, 0))
    theirs = tmp_path / "a.partial"
    theirs.touch()
    os.utime(theirs, (0, 0))
    files.remove_partials(tmp_path)
    assert not old.exists()
    assert new.exists()
    assert theirs.exists()


@posix
def test_only_files_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), Path("/dev/tty"), tmp_path, tmp_path / "none"):
        with pytest.raises(OSError, match=r"not a file|No such|permitted|device|Permission"):
            files.read_regular(path, 100)
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100)
    assert files.read_regular(file, 100) == b"x" * 100
    with pytest.raises(ValueError, match="too large"):
        files.read_regular(file, 99)
    with pytest.raises(ValueError, match="null"):
        files.read_regular(Path("a\0b"), 100)


@posix
@pytest.mark.parametrize(
    ("mode", "inside", "allowed"),
    [
        (0o755, "", True),
        (0o755, "settings.json", True),
        (0o777, "headstart.db", True),
        (0o755, "thesis.odt", False),
        (0o775, "", False),
        (0o1777, "", False),
        (0o2755, "", False),
        (0o700, "thesis.odt", True),
    ],
)
def test_a_shared_folder_is_refused_and_keeps_its_mode(
    tmp_path: Path, mode: int, inside: str, allowed: bool
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    if inside:
        (folder / inside).touch()
    folder.chmod(mode)
    known = {"headstart.db", "settings.json"}
    if allowed:
        files.private_folder(folder, known)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    else:
        with pytest.raises(EnvironmentProblem):
            files.private_folder(folder, known)
        assert stat.S_IMODE(folder.stat().st_mode) == mode


@pytest.mark.parametrize(
    ("fact", "shown"),
    [
        ("/home/ada/models/a.gguf", "a.gguf"),
        ("/home/ada/My models/a b.gguf", "a b.gguf"),
        (r"C:\Users\ada\models\a.gguf", "a.gguf"),
        (r"\\server\share\a.gguf", "a.gguf"),
        ("No such file: '/home/ada/a.gguf'", "No such file: 'a.gguf'"),
        ("http://localhost:8080/v1/models", "http://localhost:8080/v1/models"),
        ("tokens and/or words, 5 / 3 / 2", "tokens and/or words, 5 / 3 / 2"),
        ("a.gguf", "a.gguf"),
    ],
)
def test_what_is_stored_loses_the_folders_of_this_computer(fact: str, shown: str) -> None:
    problem = told("model-gone", path=fact)
    assert without_places(problem.stored) == told("model-gone", path=shown).stored
    assert without_places(fact) == shown

"""Rules of `.gitignore`: the files that git would keep, for any rules and names, without a hang."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headstart.knowledge.globs import Globs, steps_of
from headstart.knowledge.ignored import rule_of
from headstart.knowledge.scan import scan

needs_git = pytest.mark.skipif(
    shutil.which("git") is None or sys.platform != "linux", reason="names are bytes here"
)

# pieces of rules and of names: each often occurs in both
_NAMES = (b"a", b"b", b"ab", b"ba", b"aab", b"a b", b"a-b", b"]", b"[", b"*", b"?", b"\\", b"!")
_ODD = (b"#", b" ", b"\t", b"\x0b", b"^", b"\xc3\xa9", b"\xff", b"A", b"Z", b"0", b"-", b":")
_SIGNS = (b"*", b"**", b"***", b"?", b"/", b"**/", b"/**", b"\\", b"[", b"]", b"!", b"^", b"-")
_SETS = (
    *(b"[ab]", b"[!a]", b"[^a]", b"[a-z]", b"[z-a]", b"[!z-a]", b"[]a]", b"[]-a]", b"[!]]"),
    *(b"[a-]", b"[\\]a]", b"[\\-a]", b"[a-\\z]", b"[[:alpha:]]", b"[[:space:][:digit:]]"),
    *(b"[[::]]", b"[[:bad:]]", b"[[:alpha:]-z]", b"[[:punct:]]", b"[![:upper:]]", b"[[:alpha"),
    *(b"[a", b"[/]", b"[!/]", b"[[:cntrl:]]", b"[[:print:]]", b"[[:graph:]]", b"[[:xdigit:]]"),
    *(b"[[:blank:]]", b"[--0]", b"[[:]"),
)
_ENDS = (b"", b"", b"", b"/", b" ", b"\\ ", b"  ", b"\r", b"\0x", b"\\", b"\t")
_BEGINNINGS = (b"", b"", b"", b"!", b"!", b"/", b"#", b"\\#", b"\\!", b" ", b"!/", b"//")


def _rule(rng: random.Random) -> bytes:
    middle = b"".join(
        rng.choice(rng.choice((_NAMES, _NAMES, _SIGNS, _SIGNS, _ODD, _SETS)))
        for _ in range(rng.randint(1, 5))
    )
    return rng.choice(_BEGINNINGS) + middle + rng.choice(_ENDS)


def _name(rng: random.Random) -> bytes:
    return b"".join(rng.choice((*_NAMES, *_NAMES, *_ODD)) for _ in range(rng.randint(1, 2)))


def _lines(rng: random.Random) -> bytes:
    first = b"\xef\xbb\xbf" if rng.random() < 0.1 else b""
    return first + b"\n".join(_rule(rng) for _ in range(rng.randint(1, 4)))


def _plant(folder: bytes, rng: random.Random) -> None:
    """A small tree with one or two files of rules."""
    Path(os.fsdecode(folder)).mkdir()
    folders = [folder]
    for _ in range(rng.randint(1, 4)):
        place = rng.choice(folders) + b"/" + _name(rng)
        if not os.path.lexists(place):
            Path(os.fsdecode(place)).mkdir()
            folders.append(place)
    for _ in range(8):
        place = rng.choice(folders) + b"/" + _name(rng)
        if not os.path.lexists(place):
            Path(os.fsdecode(place)).write_bytes(b"words")
    for one in rng.sample(folders, min(2, len(folders))):
        Path(os.fsdecode(one), ".gitignore").write_bytes(_lines(rng))


def _kept_by_git(root: Path) -> set[bytes]:
    clean = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "init", "-q", str(root)], check=True, env=clean)
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
        env=clean,
    ).stdout
    return {one for one in listed.split(b"\0") if one and not one.endswith(b".gitignore")}


def _differences(root: Path, seed: int, trees: int) -> list[bytes]:
    rng = random.Random(seed)
    root.mkdir()
    for number in range(trees):
        _plant(os.fsencode(root) + b"/%d" % number, rng)
    return sorted({one.path for one in scan(root).stamps} ^ _kept_by_git(root))


@needs_git
def test_the_files_are_those_that_git_keeps(tmp_path: Path) -> None:
    assert not _differences(tmp_path / "trees", 1, 200)


@needs_git
@pytest.mark.proof
@pytest.mark.parametrize("seed", range(2, 32))
def test_the_files_are_those_that_git_keeps_for_thousands_of_rules(
    tmp_path: Path, seed: int
) -> None:
    assert not _differences(tmp_path / "trees", seed, 1000)


def _ignores(pattern: bytes, name: bytes) -> bool:
    return Globs([(0, steps_of(pattern), False)]).last(name, folder=False) == 0


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        (b"*a" * 100 + b"*b", b"a" * 4000),
        (b"**/" * 100 + b"b", b"a/" * 2000 + b"a"),
        (b"**/a/" * 50 + b"b", b"a/" * 2000 + b"a"),
        (b"*" * 2000 + b"b", b"a" * 4000),
        (b"*[!b]" * 200 + b"b", b"a" * 4000),
        (b"*?" * 1000 + b"b", b"a" * 4000),
        (b"[" * 4000, b"[" * 4000),
        (b"[[:" * 1000, b"a"),
    ],
)
def test_no_pattern_goes_back(pattern: bytes, name: bytes) -> None:
    # with `re` most of these take longer than the universe has existed
    if steps := steps_of(pattern):
        globs = Globs([(0, steps, False)])
        assert globs.last(name, folder=False) == -1
        assert globs.last(name + b"b", folder=False) in (-1, 0)


def test_one_line_cannot_hold_a_scan(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*a*a*a*a*a*a*a*a*a*a*b\n[z-a]\n[\n*.log\n")
    for name in ("a" * 200 + ".txt", "b.log", "z.txt"):
        (tmp_path / name).write_text("words")
    assert [one.path for one in scan(tmp_path).stamps] == [b"a" * 200 + b".txt", b"z.txt"]


def test_a_folder_with_all_of_its_files_ignored_still_has_its_exceptions(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("data/**\n!data/keep.txt\n")
    (tmp_path / "data").mkdir()
    for name in ("data/keep.txt", "data/other.txt", "a.txt"):
        (tmp_path / name).write_text("words")
    assert {one.path for one in scan(tmp_path).stamps} == {b"a.txt", b"data/keep.txt"}


@pytest.mark.parametrize("line", [b"", b"\r", b"# x", b"!", b"/", b"//", b"a\\", b"[", b"[[:no:]]"])
def test_lines_without_a_rule_are_passed_over(line: bytes) -> None:
    assert rule_of(line) is None


def test_patterns_are_compared_with_bytes() -> None:
    assert _ignores(b"?.txt", b"a.txt")
    assert _ignores(b"[\xff]", b"\xff")
    assert not _ignores(b"?.txt", "é.txt".encode())


def _count_rules(root: Path) -> int:
    return dict(scan(root).left_out).get("rules", 0)


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes")
@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "loop", "device", "locked"])
def test_what_is_no_file_of_rules_is_passed_over_and_said(tmp_path: Path, kind: str) -> None:
    place = tmp_path / ".gitignore"
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "loop":
        place.symlink_to(place)
    elif kind == "device":
        place.symlink_to("/dev/zero")
    elif kind == "link":
        (tmp_path / "rules.txt").write_text("*\n")
        place.symlink_to(tmp_path / "rules.txt")
    else:
        if os.geteuid() == 0:
            pytest.skip("root reads everything")
        place.write_text("*\n")
        place.chmod(0)
    (tmp_path / "a.txt").write_text("words")
    assert b"a.txt" in {one.path for one in scan(tmp_path).stamps}
    assert _count_rules(tmp_path) == 1


def test_very_large_rules_apply_as_far_as_they_are_read(tmp_path: Path) -> None:
    with (tmp_path / ".gitignore").open("wb") as file:
        file.write(b"first.txt\n" + b"x" * 63 + b"\n")
        file.truncate(100 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b"\nlast.txt\n")
    for name in ("first.txt", "last.txt"):
        (tmp_path / name).write_text("words")
    assert [one.path for one in scan(tmp_path).stamps] == [b"last.txt"]
    assert _count_rules(tmp_path) == 1


def test_a_million_lines_are_followed_to_a_bound(tmp_path: Path) -> None:
    lines = "".join(f"*{number:x}?\n" for number in range(1_000_000))
    (tmp_path / ".gitignore").write_text("*.log\n" + lines + "a.txt\n")
    for name in ("a.txt", "b.log"):
        (tmp_path / name).write_text("words")
    assert [one.path for one in scan(tmp_path).stamps] == [b"a.txt"]
    assert _count_rules(tmp_path) == 1


def test_rules_of_many_folders_are_read_to_a_bound(tmp_path: Path) -> None:
    # 20 files of nearly a megabyte: the last ones are over the bound of a walk
    for number in range(20):
        folder = tmp_path / f"{number:02}"
        folder.mkdir()
        (folder / ".gitignore").write_text("#" + "x" * 1_000_000 + "\n*.txt\n")
        (folder / "a.txt").write_text("words")
    assert _count_rules(tmp_path) == 4
    assert {one.path for one in scan(tmp_path).stamps} == {
        b"%d/a.txt" % one for one in range(16, 20)
    }

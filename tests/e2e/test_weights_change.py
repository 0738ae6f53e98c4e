"""A model's file that changes under a reply, between two, or before it is loaded: the program goes
on, with a sentence."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headstart.core.models.ref import ModelRef
from headstart.engine.backends.llama_cpp.exports import exported
from tests.support.changing_child import HOW, WHEN
from tests.support.patience import PATIENCE

GUARDED = exported("headstart_lost_mappings") is not None
# what takes pages of a mapped file away
CUTS = ("emptied", "cut", "cut a little")
LOST = "was cut, emptied or became unreachable"
AGAIN = "has changed since it was loaded"


def changed(starter: ModelRef, folder: Path, how: str, when: str) -> list[str]:
    path = folder / "m.gguf"
    shutil.copy(starter.path, path)
    child = (sys.executable, "-m", "tests.support.changing_child", str(path), how, when)
    done = subprocess.run(child, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, (how, when, done.returncode, done.stderr[-500:])
    said: list[str] = json.loads(done.stdout)
    return said


@pytest.mark.skipif(not GUARDED, reason="llama.cpp was not compiled by the set-up")
@pytest.mark.parametrize(
    ("how", "when", "then"),
    [("emptied", "20", "m.gguf is empty."), ("cut a little", "1", "m.gguf is incomplete: ")],
)
def test_a_file_that_is_cut_under_a_reply_ends_it(
    starter: ModelRef, tmp_path: Path, how: str, when: str, then: str
) -> None:
    said = changed(starter, tmp_path, how, when)
    assert said[0] == "done"
    assert LOST in said[1]
    # what was written is kept
    assert said[2].startswith("R")
    assert said[3].startswith(then)


def test_a_file_that_was_replaced_is_loaded_again(starter: ModelRef, tmp_path: Path) -> None:
    said = changed(starter, tmp_path, "replaced", "second")
    assert [one for one in said if AGAIN in one]
    assert said.count("finished") == 2
    assert said[-1].startswith("L")


def test_a_file_that_was_written_over_is_told(starter: ModelRef, tmp_path: Path) -> None:
    said = changed(starter, tmp_path, "written over", "20")
    assert [one for one in said if "may be nonsense" in one]
    assert [one for one in said if AGAIN in one]


@pytest.mark.proof
@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("how", HOW)
def test_no_change_ends_the_program(starter: ModelRef, tmp_path: Path, how: str, when: str) -> None:
    said = changed(starter, tmp_path, how, when)
    if when.isdecimal() and how in CUTS:
        assert [one for one in said if LOST in one]
    if when == "second":
        # what was removed is whole for who has it open
        assert bool([one for one in said if AGAIN in one]) == (how != "removed")

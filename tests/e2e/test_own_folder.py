"""Nothing of the folder that somebody stands in is run, and no name of a file is an option."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.trial.probe import probe
from headstart.engine.stop import StopSignal
from headstart.extraction.process import Reading
from headstart.own_path import without_current_folder
from tests.support.documents import docx, pdf
from tests.support.patience import PATIENCE
from tests.support.planted import of_the_interpreter, plant, ran

ROOT = Path(__file__).resolve().parents[2]
WORDS = "The harbour freezes in January."


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    folder = tmp_path / "planted"
    folder.mkdir()
    return plant(folder)


def _run(command: list[str], planted: Path, **variables: str) -> str:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", **variables}
    done = subprocess.run(
        command, cwd=planted, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert ran(planted) == [], done.stderr[-2000:]
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_what_is_planted_would_run(planted: Path) -> None:
    """Or the other tests here could not fail."""
    done = subprocess.run(
        [sys.executable, "-c", "import argparse"], cwd=planted, capture_output=True
    )
    assert done.returncode != 0
    # Python decides which module is asked for first
    assert ran(planted)


@pytest.mark.parametrize("path", ["", ":/nowhere", "."])
def test_a_start_by_the_interpreter(planted: Path, path: str) -> None:
    """Also where a variable names the folder by accident, with an empty entry."""
    variables = {"PYTHONPATH": path} if path else {}
    options = ["-I"] if path else ["-P"]
    command = [sys.executable, *options, "-m", "headstart", "--version"]
    assert "Headstart" in _run(command, planted, **variables)


def test_a_start_without_options(tmp_path: Path) -> None:
    planted = plant(tmp_path, of_the_interpreter())
    command = [sys.executable, "-m", "headstart", "--home", "home", "export", "--out", "out"]
    _run(command, planted)


def test_a_start_that_reads_and_writes_chats(planted: Path, tmp_path: Path) -> None:
    """Paths are meant from the folder that it was started in, which it leaves."""
    (saved,) = (ROOT / "tests/fixtures/conversations").glob("*.headstart.json")
    page = planted / "-a chat.headstart.json"
    page.write_bytes(saved.read_bytes())
    program = [sys.executable, "-P", "-m", "headstart", "--home", "home"]
    _run([*program, "import", "--", page.name], planted)
    _run([*program, "export", "--out", "out", "--format", "pdf"], planted)
    assert list((planted / "out").glob("*.pdf"))


def test_a_window_that_answers(planted: Path) -> None:
    said = _run([sys.executable, "-P", "-m", "headstart", "--demo", "--home", "home"], planted)
    assert said
    assert (planted / "demo" / "conversation.md").exists()


def test_the_command_that_is_installed(planted: Path, tmp_path: Path) -> None:
    home = tmp_path / "user"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "share")}
    script = str(ROOT / "packaging" / "install.py")
    subprocess.run([sys.executable, script], env=environment, check=True, capture_output=True)
    command = str(home / ".local" / "bin" / "headstart")
    assert "Headstart" in _run([command, "--version"], planted, PYTHONPATH=".")


@pytest.mark.parametrize("name", ["notes.txt", "-notes.txt", "--version", "-h.html", "-"])
def test_a_file_that_is_attached(planted: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(planted)
    data = f"<p>{WORDS}</p>" if name.endswith("html") else WORDS
    found = Reading().read(data.encode(), name, lambda _fraction: None)
    assert WORDS in found.text
    assert ran(planted) == []


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("name", ["a.pdf", "a.docx"])
def test_a_document_that_is_attached(
    planted: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    data = pdf([WORDS]) if name.endswith("pdf") else docx([WORDS])
    monkeypatch.chdir(planted)
    assert WORDS in Reading().read(data, name, lambda _fraction: None).text
    assert ran(planted) == []


def test_a_model_that_is_tried(
    planted: Path, monkeypatch: pytest.MonkeyPatch, shallow: ModelRef
) -> None:
    """Also one whose name begins with a dash, named from the folder that it lies in."""
    (planted / "-model.gguf").symlink_to(shallow.path)
    monkeypatch.chdir(planted)
    settings = EngineSettings(context_length=512).as_run
    checked = probe(Path("-model.gguf"), settings, StopSignal(), lambda _fraction: True)
    assert not checked.lacking
    assert ran(planted) == []


def test_the_current_folder_is_taken_from_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = ["/usr/lib/python3", str(tmp_path / "below")]
    assert without_current_folder([str(tmp_path), "", kept[0], ".", kept[1]]) == kept
    # the program's own source, where it is run from there
    monkeypatch.chdir(ROOT / "app")
    assert str(ROOT / "app") in without_current_folder([str(ROOT / "app"), kept[0]])

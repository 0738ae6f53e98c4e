"""Choices of a trial on bare systems, and the README's lines that it runs."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def trial() -> ModuleType:
    sys.path.insert(0, str(ROOT / "packaging"))
    path = ROOT / "packaging" / "bare_trial.py"
    spec = importlib.util.spec_from_file_location("bare_trial", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["bare_trial"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("only", "found"),
    [
        (["debian12-root:run"], {("debian12", "root"): ["run"]}),
        (["debian13-user"], {("debian13", "user"): ["run", "test"]}),
        (["debian12:test"], {("debian12", "root"): ["test"], ("debian12", "user"): ["test"]}),
        (
            ["debian12-root:test", "debian12-root:run"],
            {("debian12", "root"): ["run", "test"]},
        ),
        (
            [],
            {
                (release, account): ["run", "test"]
                for release in ("debian12", "debian13")
                for account in ("root", "user")
            },
        ),
    ],
)
def test_words_choose_systems_accounts_and_targets(
    trial: ModuleType, only: list[str], found: dict[tuple[str, str], list[str]]
) -> None:
    assert trial.chosen(only) == found


@pytest.mark.parametrize("word", ["debian11", "debian12-admin", "debian12-root:lint", "x y", ""])
def test_a_word_that_means_nothing_is_refused(trial: ModuleType, word: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(word)}$"):
        trial.chosen([word])


def test_a_computer_that_cannot_says_what_it_lacks(
    trial: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trial.bare, "missing", lambda: ["debootstrap", "root on Linux"])
    for more, code in ([], 1), (["--where-possible"], 0):
        monkeypatch.setattr(sys, "argv", ["bare_trial", *more])
        assert trial.main() == code
        assert "needs debootstrap, root on Linux" in capsys.readouterr().out


def test_steps_become_a_table(trial: ModuleType) -> None:
    rows = [
        trial.Row("debian12", "root", "make run", "ok", 301),
        trial.Row("debian12", "user", "make run", "failed", 7),
    ]
    assert trial.table(rows).splitlines()[1:] == [
        "debian12-root  make run ok           301",
        "debian12-user  make run failed         7",
    ]


LINES = """
On a bare Debian: `sudo apt-get install nothing`.
make run     # opens
make test    # tests
"""


def lines_of(folder: Path, *targets: str, makefile: str) -> subprocess.CompletedProcess[str]:
    """Run the script in a clone of its own, with an `apt-get` that says what it is asked."""
    (folder / "packaging").mkdir(parents=True)
    script = folder / "packaging" / "readme_lines.sh"
    script.write_bytes((ROOT / "packaging" / "readme_lines.sh").read_bytes())
    (folder / "README.md").write_text(LINES)
    (folder / "Makefile").write_text(makefile)
    tools = folder / "tools"
    tools.mkdir()
    (tools / "apt-get").write_text('#!/bin/sh\necho "apt-get $*"\n')
    (tools / "apt-get").chmod(0o755)
    return subprocess.run(
        ["sh", str(script), "root", *targets], capture_output=True, text=True, check=False,
        env={"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(folder)},
    )  # fmt: skip


MADE = "run:\n\t@mkdir -p demo && echo x | tee demo/headstart.png > demo/conversation.md\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_the_lines_are_those_of_the_readme(tmp_path: Path) -> None:
    done = lines_of(tmp_path, "run", "test", makefile=f"{MADE}test:\n\t@echo 9 passed\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "apt-get install -y nothing" in done.stdout
    steps = re.findall(r"^bare: (.+): ok in \d+ s$", done.stdout, re.MULTILINE)
    assert steps == [
        "apt-get update", "sudo apt-get install nothing", "make run", "make test",
    ]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
@pytest.mark.parametrize(
    ("makefile", "said"),
    [
        (f"{MADE}test:\n\t@exit 3\n", "bare: make test: failed in"),
        ("run:\n\t@true\ntest:\n\t@true\n", "left no picture"),
    ],
)
def test_what_fails_ends_the_trial(tmp_path: Path, makefile: str, said: str) -> None:
    done = lines_of(tmp_path, "run", "test", makefile=makefile)
    assert done.returncode != 0
    assert said in done.stdout


def test_the_real_readme_names_what_the_script_looks_for() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"`sudo apt-get install [^`]*python3-venv[^`]*`", readme)
    assert re.search(r"^make run ", readme, re.MULTILINE)
    assert re.search(r"^make test ", readme, re.MULTILINE)

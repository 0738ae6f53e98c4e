"""The set-up on Windows, as far as it can be held elsewhere: its compiler, its Python, and the
targets of `make.cmd`."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"


@pytest.fixture(autouse=True)
def beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PACKAGING))


def module(name: str) -> ModuleType:
    return importlib.import_module(name)


def test_an_environment_has_its_python_where_the_system_puts_it() -> None:
    inside = module("pythons").inside
    assert inside(Path("v"), "win32") == Path("v/Scripts/python.exe")
    assert inside(Path("v"), "linux") == inside(Path("v"), "darwin") == Path("v/bin/python")


def test_windows_gets_a_compiler_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    llama = module("llama")
    monkeypatch.delenv("CC", raising=False)
    assert llama.brings_compiler("win32")
    assert not llama.brings_compiler("linux")
    assert not llama.brings_compiler("darwin")
    monkeypatch.setenv("CC", "gcc")
    assert not llama.brings_compiler("win32")


def test_a_folder_with_a_blank_reaches_the_compiler_as_one_word(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As CMake and shells read the flags."""
    llama = module("llama")
    seen: list[dict[str, str]] = []

    def run(command: list[str], environment: dict[str, str]) -> None:
        seen.append(environment)
        if "wheel" in command:
            folder = Path(command[command.index("-w") + 1])
            (folder / "llama_cpp_python-0-py3-none-any.whl").touch()

    monkeypatch.setattr(llama, "FIXES", tmp_path / "my files" / "fixes.h")
    monkeypatch.setattr(llama, "_cache", lambda: tmp_path / "cache")
    monkeypatch.setattr(llama, "source", lambda *_: tmp_path / "source.tar.gz")
    llama.wheel(["python", "-m", "pip"], [], run)
    for flags in ("CFLAGS", "CXXFLAGS"):
        assert f'-include "{(tmp_path / "my files" / "fixes.h").as_posix()}"' in seen[-1][flags]


def test_make_without_make_knows_the_makefile_s_targets() -> None:
    make = module("make")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("run", "test", "lint", "setup", "package"):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
        assert f"make {target}" in make.HELP
        make.commands(target, [])
    with pytest.raises(KeyError):
        make.commands("nothing", [])
    # the same tests, in the same way
    (test,) = make.commands("test", ["-k", "window"])
    line = re.search(r"^test: setup\n(.+)$", makefile, re.MULTILINE)
    assert line is not None
    for word in ("not proof", "worksteal"):
        assert word in test
        assert word in line[1]
    assert test[-2:] == ["-k", "window"]


def test_targets_run_in_the_environment_with_what_was_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make = module("make")
    ran: list[tuple[list[str], str]] = []

    class Done:
        returncode = 3

    def run(command: list[str], **options: object) -> Done:
        environment = options["env"]
        assert isinstance(environment, dict)
        ran.append((command, environment.get("QT_QPA_PLATFORM", "")))
        return Done()

    monkeypatch.setattr(make.bootstrap, "main", lambda: 0)
    monkeypatch.setattr(make.subprocess, "run", run)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    assert make.main(["test", "ARGS=-k 'two words'"]) == 3
    assert ran[0][0][-2:] == ["-k", "two words"]
    assert ran[0][1] == "offscreen"
    assert make.main(["nothing"]) == 2
    assert "no target nothing" in capsys.readouterr().out
    monkeypatch.setattr(make.bootstrap, "main", lambda: 1)
    assert make.main(["run"]) == 1
    assert len(ran) == 1


def test_the_report_of_tests_is_read() -> None:
    trial = module("windows_trial")
    report = """<testsuites><testsuite>
<testcase classname="a.b" name="passes"/>
<testcase classname="a.b" name="leaves"><skipped message="of POSIX"/></testcase>
<testcase classname="a.b" name="fails"><failure message="no"/></testcase>
<testcase classname="a.b" name="breaks"><error message="no"/></testcase>
</testsuite></testsuites>"""
    assert trial.read_report(report) == (1, ["a.b.leaves: of POSIX"], ["a.b.fails", "a.b.breaks"])


def test_results_become_a_table() -> None:
    trial = module("windows_trial")
    rows = [
        trial.Result("imports", True, "93 of 93 modules", 12.3),
        trial.Result("core", False, "7 passed, 0 skipped, 1 failed", 80.0, [], ["a.b"]),
    ]
    assert trial.table(rows).splitlines()[1:] == [
        "imports     ok            12  93 of 93 modules",
        "core        failed        80  7 passed, 0 skipped, 1 failed",
        "    failed: a.b",
    ]


def test_a_computer_that_cannot_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trial = module("windows_trial")
    monkeypatch.setattr(trial, "missing", lambda: ["debootstrap"])
    for more, code in ([], 1), (["--where-possible"], 0):
        monkeypatch.setattr(sys, "argv", ["windows_trial", *more])
        assert trial.main() == code
        assert "needs debootstrap" in capsys.readouterr().out


def test_every_step_of_the_trial_is_asked_for_by_the_benchmark() -> None:
    trial = module("windows_trial")
    text = (ROOT / "tests" / "benchmarks" / "windows.py").read_text(encoding="utf-8")
    for step in set(trial.STEPS) - set(trial.ROOMS) - {"imports"}:
        assert f'"{step}"' in text
    for room in trial.ROOMS:
        assert (ROOT / "tests" / "unit" / room).is_dir()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (r"tests\ui\test_macs.py -k x", [r"tests\ui\test_macs.py", "-k", "x"]),
        (r'--home "C:\My Files\chats"', ["--home", r"C:\My Files\chats"]),
        ("-k 'two words' # no comment", ["-k", "two words", "#", "no", "comment"]),
        ("", []),
    ],
)
def test_paths_of_windows_stay_whole_in_arguments(text: str, words: list[str]) -> None:
    assert module("make").words_of(text) == words


def test_another_python_is_asked_of_windows_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    make = module("make")
    asked: list[list[str]] = []

    class Done:
        returncode = 0

    def run(command: list[str], **_: object) -> Done:
        asked.append(command)
        return Done()

    monkeypatch.setattr(make.subprocess, "run", run)
    monkeypatch.setattr(make.shutil, "which", lambda _name: "C:\\Windows\\py.exe")
    assert make.another({}, "linux") == []
    assert make.another({}, "win32") == []
    assert make.another({"PYTHON": "3.12"}, "win32") == ["py", "-3.12"]
    monkeypatch.setattr(make.pythons, "fits", lambda _version: False)
    assert make.another({}, "win32") == ["py", "-3.13"]
    monkeypatch.setattr(make.shutil, "which", lambda _name: None)
    assert make.another({}, "win32") == []


def test_a_compiler_that_passes_over_our_headers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    llama = module("llama")
    for named, told in ("cl", True), (r"C:/VC/bin/cl.exe", True), ("gcc", False), ("", False):
        monkeypatch.setenv("CC", named)
        assert bool(llama.lacks_kernels("win32")) == told
        assert not llama.lacks_kernels("linux")


def test_the_compiler_is_a_part_of_the_key_where_it_is_chosen_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    llama = module("llama")
    monkeypatch.delenv("CC", raising=False)
    ours = llama.compiler_key("win32")
    assert b"ziglang==" in ours
    monkeypatch.setenv("CC", "gcc")
    assert llama.compiler_key("win32") == b"gcc"
    assert llama.compiler_key("linux") == b""


def test_cards_are_not_promised_on_windows() -> None:
    gpu = module("gpu")
    ready = gpu.Computer(nvidia=True, other=True, nvcc="nvcc", cublas=True, vulkan_lacks=())
    assert gpu.missing(ready, "cuda", "linux") == gpu.missing(ready, "vulkan", "linux") == ()
    assert gpu.missing(ready, "cuda", "win32") == gpu.missing(ready, "vulkan", "win32") != ()
    assert gpu.missing(ready, "none", "win32") == ()


def test_a_batch_file_has_the_line_ends_that_its_reader_wants() -> None:
    data = (ROOT / "make.cmd").read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") > 3
    assert (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()[-1] == "* -text"

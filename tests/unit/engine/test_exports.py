"""Functions of native libraries: each is asked of the library that exports it, on every system."""

from __future__ import annotations

import ast
import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.core.c_library import c_library
from headstart.core.models.ref import ModelRef
from headstart.engine.backends.llama_cpp import exports
from headstart.engine.backends.llama_cpp.embedder import LlamaEmbedder
from tests.support import as_on_windows
from tests.support.bert_files import write_tiny
from tests.support.patience import PATIENCE

APP = Path(__file__).parents[3] / "app" / "headstart"
elf = pytest.mark.skipif(sys.platform != "linux", reason="reads the symbols of ELF files")


def calls(name: str) -> Iterator[tuple[Path, ast.Call]]:
    """All calls of a function by its name, in the program."""
    for path in APP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = node.func
                if name == (
                    called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                ):
                    yield path, node


NAMES = sorted(
    str(call.args[0].value)
    for _, call in calls("exported")
    if isinstance(call.args[0], ast.Constant)
)


def in_a_process(folder: Path, *arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.support.as_on_windows", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(APP.parents[1])},
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@elf
def test_a_library_that_answers_for_others_is_not_needed(tmp_path: Path) -> None:
    assert len(NAMES) >= 10
    found = json.loads(in_a_process(tmp_path, "exports", *NAMES))
    # those of our own headers are in libraries that the set-up compiled
    assert found == {name: exports.exported(name) is not None for name in NAMES}
    assert all(found[name] for name in NAMES if name.startswith("ggml"))


@elf
def test_a_model_answers_where_libraries_answer_for_themselves(
    shallow: ModelRef, tmp_path: Path
) -> None:
    found = json.loads(in_a_process(tmp_path, "reply", str(shallow.path)))
    assert found == as_on_windows.reply(shallow.path)


@elf
@pytest.mark.proof
def test_the_program_answers_where_libraries_answer_for_themselves(tmp_path: Path) -> None:
    said = in_a_process(tmp_path, "program", "--home", str(tmp_path / "home"), "--demo")
    assert "[conversation:" in said


def test_only_one_place_asks_all_libraries_of_the_process() -> None:
    asked = {
        path.relative_to(APP).as_posix()
        for path, call in calls("CDLL")
        if not call.args or not isinstance(call.args[0], ast.Call)
    }
    assert asked == {"core/c_library.py"}


@pytest.mark.parametrize(
    ("system", "wanted"), [("win32", "ucrtbase.dll"), ("linux", None), ("darwin", None)]
)
def test_windows_has_a_c_library_of_its_own(
    system: str, wanted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    monkeypatch.setattr(ctypes, "CDLL", opened.append)
    monkeypatch.setattr(sys, "platform", system)
    c_library()
    assert opened == [wanted]


@pytest.mark.parametrize("name", ["C:\\用户\\é ő\\model.gguf", "Дом/🙂.gguf"])
def test_a_path_is_utf_8_on_windows_whatever_python_was_told(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_a_code_page(_path: object) -> bytes:
        raise AssertionError

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "fsencode", in_a_code_page)
    assert exports.path_bytes(Path(name)) == name.encode()


def test_libraries_are_told_from_other_files_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    for name in (
        "ggml-base.dll", "ggml-cpu-haswell.dll", "ggml-cpu-haswell.lib", "libggml-cpu-zen4.dll",
        "libggml-cpu-zen4.dll.a", "ggml-vulkan.dll", "ggml.dll", "libggml-cpu.so",
        "libggml-base.so.0.25.3", "libggml-base.so", "llama.dll", "libggml-metal.so",
    ):  # fmt: skip
        (tmp_path / name).touch()
    assert [path.name for path in exports.modules()] == [
        "ggml-cpu-haswell.dll",
        "ggml-vulkan.dll",
        "libggml-cpu-zen4.dll",
        "libggml-metal.so",
    ]


# modules that Windows lacks
_POSIX = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}


def _imported(body: list[ast.stmt]) -> Iterator[str]:
    """Modules that are imported with the file, whatever the system."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.ClassDef | ast.With):
            yield from _imported(node.body)


def test_no_module_needs_what_windows_lacks_to_be_imported() -> None:
    for path in APP.rglob("*.py"):
        found = set(_imported(ast.parse(path.read_text(encoding="utf-8")).body))
        assert not found & _POSIX, path


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes")
def test_an_embedding_model_opens_under_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.gguf")
    write_tiny(path, ["snow"])
    embedder = LlamaEmbedder(path)
    try:
        assert embedder.width > 0
    finally:
        embedder.close()

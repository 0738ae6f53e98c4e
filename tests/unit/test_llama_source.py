"""What tests read of llama.cpp: kept by the set-up, fetched by no test."""

from __future__ import annotations

import importlib.util
import io
import subprocess
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.models.llama_source import llama_models, templates
from tests.support.collecting import NotFromTheSetUp, nothing_starts

TESTS = Path(__file__).parents[1]
PIP = ["python", "-m", "pip"]


@pytest.fixture
def llama(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script of the set-up, with a cache of its own."""
    path = TESTS.parent / "packaging" / "llama.py"
    spec = importlib.util.spec_from_file_location("setup_llama", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return module


class Index:
    """pip as the set-up starts it: `ran` has its commands."""

    def __init__(self, release: str) -> None:
        self.ran: list[list[str]] = []
        self._name = f"llama_cpp_python-{release}"

    def run(self, command: list[str], environment: dict[str, str]) -> None:
        self.ran.append(command)
        if "download" in command:
            folder = Path(command[command.index("-d") + 1])
            self._sdist(folder / f"{self._name}.tar.gz")
        else:
            folder = Path(command[command.index("-w") + 1])
            (folder / f"{self._name}-py3-none-any.whl").touch()

    def _sdist(self, path: Path) -> None:
        inside = "vendor/llama.cpp"
        with tarfile.open(path, "w:gz") as archive:
            for name in (
                "pyproject.toml",
                f"{inside}/models/templates/one.jinja",
                f"{inside}/models/ggml-vocab-one.gguf",
                f"{inside}/src/llama.cpp",
            ):
                data = name.encode()
                member = tarfile.TarInfo(f"{self._name}/{name}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))


@pytest.fixture
def index(llama: ModuleType) -> Index:
    return Index(llama.pinned().partition("==")[2])


def test_the_source_is_fetched_once_and_compiled_from_there(
    llama: ModuleType, index: Index
) -> None:
    wheel = llama.wheel(PIP, [], index.run)
    download, build = index.ran
    # that would compile CMake, where there is none
    assert ":all:" not in download
    assert download[download.index("--no-binary") + 1] == "llama_cpp_python"
    assert Path(build[-1]).name.endswith(".tar.gz")
    assert Path(build[-1]) == llama.source(PIP, index.run)
    assert llama.wheel(PIP, [], index.run) == wheel
    assert len(index.ran) == 2


def test_a_kept_wheel_does_not_keep_the_source_from_tests(
    llama: ModuleType, index: Index, tmp_path: Path
) -> None:
    llama.wheel(PIP, [], index.run)
    # as earlier set-ups left it
    llama.source(PIP, index.run).unlink()
    index.ran.clear()
    llama.wheel(PIP, [], index.run)
    assert index.ran == []
    llama.keep_for_tests(llama.source(PIP, index.run), tmp_path / "env")
    assert [command[3] for command in index.ran] == ["download"]


def test_only_what_tests_read_is_kept(llama: ModuleType, index: Index, tmp_path: Path) -> None:
    for _again in range(2):
        llama.keep_for_tests(llama.source(PIP, index.run), tmp_path)
    folder = llama.for_tests(tmp_path)
    kept = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert kept == {"templates/one.jinja", "ggml-vocab-one.gguf"}
    assert list(folder.parent.iterdir()) == [folder]


def test_tests_read_where_the_set_up_puts_it(llama: ModuleType) -> None:
    assert llama_models() == llama.for_tests(Path(sys.prefix))
    assert len(templates()) > 20


def test_a_collection_starts_nothing() -> None:
    with nothing_starts(), pytest.raises(NotFromTheSetUp, match="while collecting"):
        subprocess.run([sys.executable, "--version"], check=True)
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0


@pytest.mark.parametrize(
    "command",
    [[sys.executable, "-m", "pip", "--version"], ["/usr/bin/npm", "ci"], ["curl", "-s", "x"], "uv"],
    ids=["pip", "npm", "curl", "uv"],
)
def test_no_test_starts_a_client_of_an_index(command: str | list[str]) -> None:
    with pytest.raises(NotFromTheSetUp, match="in a test"):
        subprocess.run(command, check=True)
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0

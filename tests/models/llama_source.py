"""Parts of llama.cpp's source that are good to test with: vocabularies, templates, its own kernels.

They lie in the llama-cpp-python sdist of the pinned version, which pip fetches once; kept in the
user's cache folder, never in the repository.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path

_TOP = "vendor/llama.cpp/"
_WANTED = ("models/templates/", "models/ggml-vocab-", "ggml/include/", "ggml/src/ggml-cpu/")
_HEADERS = "ggml/src/"


def llama_source() -> Path:
    """The folder with `models/`, and of `ggml/` the headers and what computes on processors."""
    release = f"llama-cpp-python=={version('llama-cpp-python')}"
    cache = user_cache_path("headstart-bench", appauthor=False)
    target = cache / f"source-{version('llama-cpp-python')}"
    if target.exists():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as work:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        fetch = [*pip, "download", "-q", "--no-deps", "--no-binary", ":all:"]
        fetch += ["-d", work, release]
        subprocess.run(fetch, check=True, capture_output=True)
        (sdist,) = Path(work).glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            root = archive.next()
            assert root is not None
            top = root.name.split("/")[0]
            members = archive.getmembers()
            archive.extractall(
                work,
                members=[one for one in members if _is_wanted(one.name.removeprefix(f"{top}/"))],
                filter="data",
            )
        made = Path(work, top, _TOP)
        try:
            made.replace(target)
        except OSError:
            # another process was faster
            if not target.exists():
                raise
    return target


def _is_wanted(name: str) -> bool:
    if not name.startswith(_TOP):
        return False
    inside = name.removeprefix(_TOP)
    return inside.startswith(_WANTED) or (inside.startswith(_HEADERS) and inside.endswith(".h"))


def llama_models() -> Path:
    """The folder with `templates/*.jinja` and `ggml-vocab-*.gguf`."""
    return llama_source() / "models"


def templates() -> dict[str, str]:
    """Each template's text by its file's name."""
    found = sorted((llama_models() / "templates").glob("*.jinja"))
    return {path.stem: path.read_text(encoding="utf-8") for path in found}


def vocabulary(name: str) -> Path:
    """A vocabulary-only GGUF."""
    return llama_models() / f"ggml-vocab-{name}.gguf"

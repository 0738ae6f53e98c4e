"""What comes with llama.cpp's source and is good to test with: vocabularies and templates.

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

_WANTED = ("vendor/llama.cpp/models/templates/", "vendor/llama.cpp/models/ggml-vocab-")


def llama_models() -> Path:
    """The folder with `templates/*.jinja` and `ggml-vocab-*.gguf`."""
    release = f"llama-cpp-python=={version('llama-cpp-python')}"
    cache = user_cache_path("headstart-bench", appauthor=False)
    target = cache / f"models-{version('llama-cpp-python')}"
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
            wanted = [
                member
                for member in archive.getmembers()
                if member.name.removeprefix(f"{top}/").startswith(_WANTED)
            ]
            archive.extractall(work, members=wanted, filter="data")
        made = Path(work, top, "vendor/llama.cpp/models")
        try:
            made.replace(target)
        except OSError:
            # another process was faster
            if not target.exists():
                raise
    return target


def templates() -> dict[str, str]:
    """Each template's text by its file's name."""
    found = sorted((llama_models() / "templates").glob("*.jinja"))
    return {path.stem: path.read_text(encoding="utf-8") for path in found}


def vocabulary(name: str) -> Path:
    """A vocabulary-only GGUF."""
    return llama_models() / f"ggml-vocab-{name}.gguf"

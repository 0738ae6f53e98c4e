"""Parts of llama.cpp's source that are good to test with: chat templates and vocabularies.

The set-up puts them into the virtual environment (`packaging/llama.py`); nothing is fetched here.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path


def llama_models() -> Path:
    """The folder with `templates/*.jinja` and `ggml-vocab-*.gguf`."""
    release = version("llama-cpp-python")
    folder = Path(sys.prefix, "share", f"llama.cpp-{release}", "models")
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is missing: `make setup` brings it")
    return folder


def templates() -> dict[str, str]:
    """Each template's text by its file's name."""
    found = sorted((llama_models() / "templates").glob("*.jinja"))
    return {path.stem: path.read_text(encoding="utf-8") for path in found}


def vocabulary(name: str) -> Path:
    """A vocabulary-only GGUF."""
    return llama_models() / f"ggml-vocab-{name}.gguf"

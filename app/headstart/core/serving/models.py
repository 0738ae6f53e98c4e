"""Names of models for other programs: short, stable, unlike a path. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from headstart.core.models.installed import InstalledModel
from headstart.core.models.names import people_name
from headstart.core.models.ref import ModelRef
from headstart.core.models.split_files import stem

_NOT_IN_IDS = re.compile(r"[^a-z0-9._]+")


class ServedModel(Struct, frozen=True):
    """A model that programs may name. `context`: tokens, as far as is known before it is loaded;
    `id` is its short name. `sees`: it takes images."""

    id: str
    ref: ModelRef
    context: int = 0
    loaded: bool = False
    sees: bool = False
    quantization: str = ""
    architecture: str = ""
    created: int = 0
    # it makes vectors, no replies
    embeds: bool = False
    # paths of other files with the same bytes
    copies: tuple[str, ...] = ()


def short_ids(models: Iterable[InstalledModel]) -> dict[str, InstalledModel]:
    """The models by short name; equal names get their quantization, then a number."""
    found: dict[str, InstalledModel] = {}
    for model in models:
        plain = _slug(people_name(model.ref.name)) or "model"
        quantized = f"{plain}-{_slug(model.about.quantization)}" if model.about.quantization else ""
        names = [plain, quantized, *(f"{plain}-{number}" for number in range(2, 1000))]
        free = next(name for name in names if name and name not in found)
        found[free] = model
    return found


def named(models: Iterable[ServedModel], name: str) -> ServedModel | None:
    """The model that a program means: by its short name, its path, its own or its file's name;
    with or without the name of a provider before it. A short name is never another's file."""
    known = list(models)
    wanted = name.casefold().strip()
    # a path has either sign on Windows
    bare = re.split(r"[/\\]", wanted)[-1].removesuffix(":latest").removesuffix(".gguf")
    for text in (wanted, bare):
        for name_of in _NAMES:
            for model in known:
                if text and text in (one.casefold() for one in name_of(model)):
                    return model
    return None


_NAMES: tuple[Callable[[ServedModel], Iterable[str]], ...] = (
    lambda model: (model.id,),
    lambda model: [form for one in (model.ref.key, *model.copies) for form in _forms(one)],
    lambda model: (model.ref.name,),
    lambda model: (stem(Path(one).name) for one in (model.ref.key, *model.copies)),
)


def _forms(path: str) -> tuple[str, str]:
    """A path in the system's form, and with the sign that the web's addresses have."""
    return path, Path(path).as_posix()


def _slug(text: str) -> str:
    return _NOT_IN_IDS.sub("-", text.casefold()).strip("-.")

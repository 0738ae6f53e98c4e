"""The files of a repository, grouped into models to choose from. Pure.

The parts of a split file are one model; projectors and heads are recognized by their makers'
naming; the weights of a folder in MLX's format belong together with its configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from msgspec.structs import replace

from headstart.core.hub.catalog import Companion, CompanionKind, Variant
from headstart.core.hub.downloads import RemoteFile
from headstart.core.models.quantization import bits, quality, quantization
from headstart.hub.mlx_folder import FOLDER_FILES

_SPLIT = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})$", re.IGNORECASE)
_PROJECTOR = re.compile(r"(?:^|[-._/])mmproj", re.IGNORECASE)
_HEAD = re.compile(
    r"(?:^|/)(?:mtp|eagle\d?|dflash\d?|dspark|medusa)[-._]|(?:^|/)MTP/"
    r"|[-._](?:eagle3|dflash\d?|dspark)[-._]",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(r"(?:^|[-._/])imatrix|(?:^|[-._/])(?:ggml-)?vocab[-._]", re.IGNORECASE)
_BITS = re.compile(r"(?<!\d)(?P<bits>\d++)[-_ ]?bits?", re.IGNORECASE)


def of_files(files: Iterable[RemoteFile], folder: str = "") -> tuple[Variant, ...]:
    """Every model among them, the smallest first. `folder`: the repository's name, which tells the
    quantization of MLX weights at the top level; "" to ignore weights in MLX's format."""
    files = list(files)
    found = [*_gguf(files), *(_folders(files, folder) if folder else ())]
    return tuple(sorted(found, key=lambda variant: variant.size))


def of_heads(files: Iterable[RemoteFile]) -> tuple[Variant, ...]:
    """The heads among them as separate downloads, the smallest first."""
    found = []
    for one in companions(files):
        if one.kind is CompanionKind.HEAD:
            name = quantization(one.file.path)
            title = name or PurePosixPath(one.file.path).stem
            weight = bits(name)
            head = Variant(title, "gguf", (one.file,), one.file.path, weight, quality(weight))
            found.append(head)
    return tuple(sorted(_told_apart(found), key=lambda variant: variant.size))


def companions(files: Iterable[RemoteFile]) -> tuple[Companion, ...]:
    found = []
    for file in files:
        if not file.path.lower().endswith(".gguf"):
            continue
        if _PROJECTOR.search(file.path):
            found.append(Companion(CompanionKind.PROJECTOR, file))
        elif _HEAD.search(file.path):
            found.append(Companion(CompanionKind.HEAD, file))
    return tuple(found)


def _gguf(files: Sequence[RemoteFile]) -> list[Variant]:
    groups: dict[str, list[RemoteFile]] = {}
    counts: dict[str, int] = {}
    for file in files:
        path = file.path
        if not path.lower().endswith(".gguf"):
            continue
        if any(rule.search(path) for rule in (_PROJECTOR, _HEAD, _NO_MODEL)):
            continue
        split = _SPLIT.fullmatch(path[:-5])
        key = f"{split['stem']}.gguf" if split else path
        groups.setdefault(key, []).append(file)
        counts[key] = int(split["count"]) if split else 1
    found = []
    for key, parts in groups.items():
        if len(parts) != counts[key]:
            # a part is missing: it could not be opened
            continue
        parts.sort(key=lambda file: file.path)
        name = quantization(key)
        title = name or PurePosixPath(key).stem
        weight = bits(name)
        found.append(Variant(title, "gguf", tuple(parts), parts[0].path, weight, quality(weight)))
    return _told_apart(found)


def _told_apart(found: list[Variant]) -> list[Variant]:
    """Retitle variants of the same quantization by their files' names."""
    titles = [variant.title for variant in found]
    return [
        replace(variant, title=_stem(variant.main)) if titles.count(variant.title) > 1 else variant
        for variant in found
    ]


def _stem(path: str) -> str:
    stem = PurePosixPath(path).stem
    split = _SPLIT.fullmatch(stem)
    return split["stem"] if split else stem


def _folders(files: Sequence[RemoteFile], top: str) -> list[Variant]:
    folders: dict[str, list[RemoteFile]] = {}
    for file in files:
        folder, _, name = file.path.rpartition("/")
        if name.endswith(".safetensors") or FOLDER_FILES.fullmatch(name):
            folders.setdefault(folder, []).append(file)
    found = []
    for folder, own in folders.items():
        names = [file.path.rpartition("/")[2] for file in own]
        if "config.json" not in names or not any(n.endswith(".safetensors") for n in names):
            continue
        said = _BITS.search(folder or top)
        weight = float(said["bits"]) + 0.5 if said else bits(quantization(folder or top))
        title = folder or (f"{said['bits']}-bit" if said else "MLX")
        found.append(Variant(title, "mlx", tuple(own), "", weight, quality(weight)))
    return found

"""Models in several files, named as llama.cpp splits them: `name-00001-of-00003.gguf`. Pure."""

from __future__ import annotations

import re
from pathlib import Path

_PART = re.compile(r"(?P<name>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)


def parts(path: Path) -> tuple[Path, ...]:
    """All files of the model that `path` belongs to, in order, existing or not; itself if alone."""
    found = _PART.fullmatch(path.name)
    count = int(found["count"]) if found else 0
    if found is None or count < 2:
        return (path,)
    ending = path.name[-5:]
    return tuple(
        path.with_name(f"{found['name']}-{number:05}-of-{found['count']}{ending}")
        for number in range(1, count + 1)
    )


def is_later_part(name: str) -> bool:
    """True if a file is the second or a later one of a model."""
    found = _PART.fullmatch(name)
    return found is not None and int(found["number"]) > 1


def title(path: Path) -> str:
    """The model's display name: its file's name without part number and extension."""
    return stem(path.name)


def stem(name: str) -> str:
    """A file's name without part number and extension."""
    found = _PART.fullmatch(name)
    if found:
        return found["name"]
    return name[:-5] if name.lower().endswith(".gguf") else name

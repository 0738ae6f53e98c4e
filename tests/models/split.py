"""A GGUF file in several, as llama.cpp's own tool splits them."""

from __future__ import annotations

from pathlib import Path

import gguf

from tests.models.drafts import Field, read_gguf, write_gguf


def split(
    source: Path, folder: Path, count: int = 3, name: str = "split", first_empty: bool = False
) -> list[Path]:
    """Write the parts of `source`. `first_empty`: the first one holds no tensors."""
    model = read_gguf(source)
    names = list(model.tensors)
    shares = count - first_empty
    groups = [names[number::shares] for number in range(shares)]
    if first_empty:
        groups.insert(0, [])
    paths = []
    for number, group in enumerate(groups):
        fields = dict(model.fields) if number == 0 else {}
        fields["split.no"] = Field(number, gguf.GGUFValueType.UINT16)
        fields["split.count"] = Field(count, gguf.GGUFValueType.UINT16)
        fields["split.tensors.count"] = Field(len(names), gguf.GGUFValueType.INT32)
        target = folder / f"{name}-{number + 1:05}-of-{count:05}.gguf"
        tensors = {tensor: model.tensors[tensor] for tensor in group}
        paths.append(write_gguf(target, model.architecture, fields, tensors))
    return paths

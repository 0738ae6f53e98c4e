"""An embedding model: a chat model whose file says how its last states become one vector."""

from __future__ import annotations

from pathlib import Path

import gguf

from tests.models.drafts import Field, read_gguf, write_gguf

MEAN = 1


def make_embedding(source: Path, target: Path) -> Path:
    """The model with the mean of its last states as the vector of a text."""
    model = read_gguf(source)
    pooling = Field(MEAN, gguf.GGUFValueType.UINT32)
    # before the vocabulary, where the programs that make such files write it
    fields = {f"{model.architecture}.pooling_type": pooling, **model.fields}
    return write_gguf(target, model.architecture, fields, model.tensors)

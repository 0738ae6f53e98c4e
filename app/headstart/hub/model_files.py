"""Checks of a GGUF model's files: complete, belonging together, and a chat model."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from headstart.core.errors import ModelProblem
from headstart.core.models.split_files import parts, title
from headstart.hub.gguf import GgufHeader, read_header
from headstart.hub.kinds import why_no_chat


def check_parts(path: Path) -> GgufHeader:
    """The header of a model's first file, after a check of all its files; raises ModelProblem for
    files that are missing, or belong to another model."""
    files = parts(path)
    missing = [file.name for file in files if not file.exists()]
    if missing and len(files) > 1:
        raise ModelProblem(
            "parts-missing",
            name=title(path),
            missing=len(missing),
            wanted=len(files),
            shown=", ".join(missing[:3]),
        )
    headers = [read_header(file) for file in files]
    first = headers[0]
    count = first.metadata.get("split.count", 1)
    if count != len(files) and (len(files) > 1 or first.metadata.get("split.no") is not None):
        raise ModelProblem("part-renamed", name=path.name, wanted=count)
    for number, (file, header) in enumerate(zip(files, headers, strict=True)):
        same = header.metadata.get("split.count", 1) == count
        if not same or header.metadata.get("split.no", 0) != number:
            raise ModelProblem("part-of-another-model", name=file.name, model=title(path))
    tensors = sum(header.tensors for header in headers)
    if first.metadata.get("split.tensors.count", tensors) != tensors:
        raise ModelProblem("part-of-another-model", name=files[-1].name, model=title(path))
    why = why_no_chat(replace(first, tensors=tensors))
    if why is not None:
        raise ModelProblem("no-chat-model", name=title(path), what=why)
    if not first.architecture or tensors == 0:
        raise ModelProblem("no-weights", name=path.name)
    return first

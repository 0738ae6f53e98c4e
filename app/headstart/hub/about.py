"""Facts in a model's first bytes, without its vocabulary. Worker threads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from headstart.core.errors import ModelProblem
from headstart.core.models.heads import OWN_GRAPHS
from headstart.core.models.installed import About
from headstart.core.models.quantization import quantization
from headstart.core.strange_json import decoded
from headstart.hub.gguf import GgufHeader, as_count, peek, read_header
from headstart.hub.head_config import of_config
from headstart.hub.kinds import why_no_chat

# llama.cpp's `llama_ftype`
_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M",
    30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}  # fmt: skip
_LARGEST = 4 << 20
# architectures of folders whose models generate no text
_NO_TEXT = ("ForSequenceClassification", "ForTokenClassification", "ForMaskedLM")


def of_file(name: str, beginning: bytes, path: Path | None = None) -> About:
    """Facts about a GGUF file from its first bytes; raises ModelProblem for other files. `path`:
    the file itself, for facts that need its list of tensors."""
    header = peek(beginning, name)
    if path is not None and header.architecture in OWN_GRAPHS:
        # it may consist of drafting layers only
        header = read_header(path)
    return of_header(name, header)


def of_header(name: str, header: GgufHeader) -> About:
    said = header.metadata
    kind = why_no_chat(_with_weights(header))
    number = said.get("general.file_type")
    file_type = "" if number is None else _FILE_TYPES.get(as_count(number), "")
    return About(
        architecture=header.architecture,
        parameters=str(said.get("general.size_label", "")),
        context=as_count(said.get(f"{header.architecture}.context_length", 0)),
        quantization=quantization(name) or file_type,
        licence=str(said.get("general.license", "")),
        no_chat=kind or "",
    )


def _with_weights(header: GgufHeader) -> GgufHeader:
    # the first part of a split model may have no weights
    split = header.metadata.get("split.count", 1) != 1
    return replace(header, tensors=header.tensors or 1) if split else header


def of_folder(folder: Path) -> About:
    """Facts about a folder with weights in MLX's format; raises ModelProblem."""
    config = read_config(folder)
    bits = _quantized(config)
    architectures = config.get("architectures")
    names = architectures if isinstance(architectures, list) else []
    no_text = any(str(name).endswith(_NO_TEXT) for name in names)
    text = config.get("text_config")
    inner = text if isinstance(text, dict) else {}
    context = config.get("max_position_embeddings") or inner.get("max_position_embeddings")
    return About(
        architecture=str(config.get("model_type", "")),
        context=as_count(context or 0),
        quantization=f"{bits}-bit" if bits else str(config.get("torch_dtype") or ""),
        no_chat=_no_chat(config, no_text),
    )


def _no_chat(config: Mapping[str, Any], no_text: bool) -> str:
    if of_config(config) is not None:
        return "file-is-head"
    return "file-is-embedding" if no_text else ""


def _quantized(config: Mapping[str, Any]) -> int:
    said = config.get("quantization") or config.get("quantization_config")
    return as_count(said.get("bits", 0)) if isinstance(said, dict) else 0


def read_config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    try:
        if path.stat().st_size > _LARGEST:
            raise ModelProblem("config-damaged", name=folder.name, file="config.json")
        found = decoded(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ModelProblem("config-damaged", name=folder.name, file="config.json") from error
    if not isinstance(found, dict) or not {"model_type", "medusa_num_heads"} & found.keys():
        raise ModelProblem("config-damaged", name=folder.name, file="config.json")
    return found

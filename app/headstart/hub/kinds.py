"""GGUF files other than chat models: their kinds, recognized from headers. Pure."""

from __future__ import annotations

from headstart.hub.gguf import GgufHeader

_EMBEDDING = frozenset(
    (
        "bert", "modern-bert", "nomic-bert", "nomic-bert-moe", "neo-bert", "jina-bert-v2",
        "jina-bert-v3", "eurobert", "gemma-embedding", "t5encoder",
    )
)  # fmt: skip
_DIFFUSION = frozenset(("dream", "llada", "llada-moe", "rnd1", "diffusion-gemma"))
_PICTURES = frozenset(
    (
        "flux", "sd1", "sd2", "sd3", "sdxl", "aura", "ltxv", "hyvid", "hidream", "wan", "cosmos",
        "lumina2", "qwen_image", "pig",
    )
)  # fmt: skip
_HEADS = frozenset(("eagle", "eagle3", "dflash", "gemma4-assistant", "medusa"))
# some programs' name for heads in a form that llama.cpp does not read
_OTHER_HEADS = "dflash-draft"
# llama.cpp's pooling types: mean, first, last; and that of rerankers
_POOLED, _RANKED = (1, 2, 3), 4


def why_no_chat(header: GgufHeader) -> str | None:
    """The code of the phrase for the file's kind; None for a chat model."""
    architecture, metadata = header.architecture, header.metadata
    kind = str(metadata.get("general.type", "model"))
    pooling = metadata.get(f"{architecture}.pooling_type", 0)
    if kind == "adapter":
        return "file-is-adapter"
    if kind in ("mmproj", "clip-vision") or architecture == "clip":
        return "file-is-projector"
    if kind == "imatrix":
        return "file-is-imatrix"
    if kind == "vocab" or (not header.tensors and "tokenizer.ggml.model" in metadata):
        return "file-is-vocabulary"
    if architecture in _HEADS or architecture.endswith(_OTHER_HEADS):
        return "file-is-head"
    if header.drafting and not header.has_trunk:
        return "file-is-head"
    if pooling == _RANKED:
        return "file-is-reranker"
    if architecture in _EMBEDDING or pooling in _POOLED:
        return "file-is-embedding"
    if architecture in _DIFFUSION:
        return "file-is-diffusion"
    if architecture in _PICTURES:
        return "file-is-picture-model"
    return None

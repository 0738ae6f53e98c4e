"""Lists of models, in the shapes that programs look for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headstart.core.serving.models import ServedModel

_OWNER = "headstart"


def openai(models: Sequence[ServedModel]) -> dict[str, Any]:
    """`/v1/models`, with the fields of Anthropic's list and of llama.cpp's server too: one address
    answers both."""
    data = [_model(model) for model in models]
    ids = [model.id for model in models]
    return {
        "object": "list",
        "data": data,
        "first_id": ids[0] if ids else None,
        "last_id": ids[-1] if ids else None,
        "has_more": False,
    }


def one(model: ServedModel) -> dict[str, Any]:
    """`/v1/models/ID`."""
    return _model(model)


def _model(model: ServedModel) -> dict[str, Any]:
    return {
        "id": model.id,
        "object": "model",
        "type": "model",
        "created": model.created,
        "created_at": "2026-01-01T00:00:00Z",
        "owned_by": _OWNER,
        "display_name": model.ref.name,
        "context_length": model.context,
        "max_model_len": model.context,
        "max_input_tokens": model.context,
        "max_tokens": model.context,
        "meta": {"n_ctx": model.context, "n_ctx_train": model.context},
    }


def lm_studio(models: Sequence[ServedModel]) -> dict[str, Any]:
    """`/api/v0/models`."""
    data = [
        {
            "id": model.id,
            "object": "model",
            "type": "embeddings" if model.embeds else "vlm" if model.sees else "llm",
            "publisher": _OWNER,
            "arch": model.architecture,
            "compatibility_type": model.ref.format,
            "quantization": model.quantization,
            "state": "loaded" if model.loaded else "not-loaded",
            "max_context_length": model.context,
            "loaded_context_length": model.context,
            "capabilities": ["tool_use"],
        }
        for model in models
    ]
    return {"object": "list", "data": data}


def ollama(models: Sequence[ServedModel]) -> dict[str, Any]:
    """`/api/tags`."""
    return {
        "models": [
            {
                "name": model.id,
                "model": model.id,
                "size": model.ref.size,
                "details": {
                    "format": model.ref.format,
                    "family": model.architecture,
                    "quantization_level": model.quantization,
                },
            }
            for model in models
        ]
    }

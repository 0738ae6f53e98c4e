"""The chat template in a model's files, read without loading the model. Worker threads."""

from __future__ import annotations

from msgspec import Struct

from headstart.core.files import read_regular
from headstart.core.models.ref import ModelRef
from headstart.core.strange_json import decoded
from headstart.hub import mlx_folder
from headstart.hub.gguf import read_header

# most bytes of a file with a template
_LARGEST = 50 << 20
_TOKENS, _MODEL = "tokenizer.ggml.tokens", "tokenizer.ggml.model"


class TemplateFacts(Struct, frozen=True):
    """`begins`: whether the tokenizer itself puts `begin` in front of a text."""

    source: str | None
    begin: str
    end: str
    begins: bool


def read_template(model: ModelRef) -> TemplateFacts:
    """Raises ModelProblem, OSError."""
    return _of_folder(model) if model.format == "mlx" else _of_file(model)


def _of_file(model: ModelRef) -> TemplateFacts:
    header = read_header(model.path, (_TOKENS,))
    metadata, tokens = header.metadata, header.arrays.get(_TOKENS, ())

    def text(name: str) -> str:
        index = metadata.get(f"tokenizer.ggml.{name}")
        if not isinstance(index, int) or not 0 <= index < len(tokens):
            return ""
        return bytes(tokens[index]).decode("utf-8", "replace")

    source = metadata.get("tokenizer.chat_template")
    adds = metadata.get("tokenizer.ggml.add_bos_token", metadata.get(_MODEL) == "llama")
    return TemplateFacts(
        source if isinstance(source, str) and source else None,
        text("bos_token_id"),
        text("eos_token_id"),
        bool(adds),
    )


def _of_folder(model: ModelRef) -> TemplateFacts:
    folder = mlx_folder.read_folder(model.path)
    source: object = None
    apart, config = model.path / "chat_template.jinja", model.path / "tokenizer_config.json"
    if apart.is_file():
        source = read_regular(apart, _LARGEST).decode("utf-8", "replace")
    elif config.is_file():
        try:
            source = decoded(read_regular(config, _LARGEST)).get("chat_template")
        except (ValueError, AttributeError):
            source = None
    return TemplateFacts(
        source if isinstance(source, str) else None, folder.begin, folder.end, True
    )

"""OpenAI's embeddings. Pure."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from headstart.core.text.whole import whole
from headstart.server.dialects import fields
from headstart.server.dialects.declined import Declined

# texts of one request
_MOST = 2048


class EmbeddingWanted(Struct, frozen=True):
    """`dimensions`: the numbers of a vector, 0 for all. `packed`: base64 in place of numbers."""

    texts: tuple[str, ...]
    model: str = ""
    dimensions: int = 0
    packed: bool = False


def read(body: fields.Body) -> EmbeddingWanted:
    """The request in a body; raises Declined."""
    given = body.get("input")
    texts = given if isinstance(given, list) else [given]
    if not texts or len(texts) > _MOST:
        raise Declined(f"'input' takes 1 to {_MOST:,} texts.", param="input")
    if any(isinstance(one, int | list) for one in texts):
        raise Declined(
            "'input' must be texts: tokens of another model mean nothing here.", param="input"
        )
    if any(not isinstance(one, str) for one in texts):
        raise Declined("'input' must be a text or a list of texts.", param="input")
    form = body.get("encoding_format")
    if form not in (None, "float", "base64"):
        raise Declined("'encoding_format' is float or base64.", param="encoding_format")
    return EmbeddingWanted(
        tuple(whole(str(one)) for one in texts),
        fields.text_field(body, "model"),
        fields.whole_number(body, ["dimensions"], 1_000_000) or 0,
        form == "base64",
    )


def answer(
    wanted: EmbeddingWanted, vectors: Sequence[bytes], tokens: int, model: str
) -> dict[str, Any]:
    """The body of the answer. `vectors`: float32, of length 1."""
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": _shown(wanted, vector)}
            for index, vector in enumerate(vectors)
        ],
        "model": model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _shown(wanted: EmbeddingWanted, vector: bytes) -> list[float] | str:
    numbers = list(struct.unpack(f"<{len(vector) // 4}f", vector))
    if 0 < wanted.dimensions < len(numbers):
        numbers = numbers[: wanted.dimensions]
        length = sum(number * number for number in numbers) ** 0.5
        numbers = [number / length for number in numbers] if length else numbers
    if wanted.packed:
        return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
    return numbers

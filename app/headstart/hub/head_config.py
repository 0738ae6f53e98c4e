"""Heads in MLX's format, recognized by their `config.json`. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headstart.core.models.heads import HeadFacts, HeadKind
from headstart.hub.gguf import as_count

# suffix of model types for a separate file of drafting layers
_LAYERS = "_mtp"


def of_config(config: Mapping[str, Any]) -> HeadFacts | None:
    """Head in a folder of MLX's format, from its `config.json`."""

    def count(name: str) -> int:
        return as_count(config.get(name) or 0)

    width = count("target_hidden_size") or count("hidden_size")
    if count("medusa_num_heads"):
        return HeadFacts(HeadKind.MEDUSA, width, depth=count("medusa_num_heads"), form="mlx")
    kind = str(config.get("model_type") or "")
    if kind.endswith(_LAYERS):
        text = config.get("text_config")
        inner = text if isinstance(text, dict) else config
        return HeadFacts(
            HeadKind.LAYERS,
            as_count(inner.get("hidden_size") or 0),
            as_count(inner.get("vocab_size") or 0),
            kind.removesuffix(_LAYERS),
            form="mlx",
        )
    names = config.get("architectures")
    named = " ".join(map(str, names)) if isinstance(names, list) else ""
    block = _block(config, named.casefold())
    if block is not None:
        return block
    if "eagle3" in named.casefold() or count("draft_vocab_size"):
        layers = config.get("eagle_aux_hidden_state_layer_ids")
        taps = tuple(map(as_count, layers)) if isinstance(layers, list) else ()
        return HeadFacts(HeadKind.EAGLE3, width, count("vocab_size"), "", taps, form="mlx")
    return None


def _block(config: Mapping[str, Any], named: str) -> HeadFacts | None:
    """Facts of a block-drafting head, if its kind is supported."""
    kinds = [kind for kind in (HeadKind.DSPARK, HeadKind.DFLASH) if kind.value in named]
    own = config.get("dflash_config")
    says = {**config, **(own if isinstance(own, dict) else {})}
    if not kinds or "selector_rank" in says:
        return None
    after, before = says.get("aux_hidden_state_layer_ids"), says.get("target_layer_ids")
    taps: tuple[int, ...] = ()
    if isinstance(after, list):
        taps = tuple(map(as_count, after))
    elif isinstance(before, list):
        # these are layers whose output is used
        taps = tuple(as_count(layer) + 1 for layer in before)
    return HeadFacts(
        kinds[0],
        as_count(config.get("hidden_size") or 0),
        as_count(config.get("vocab_size") or 0),
        "",
        taps,
        max(0, as_count(says.get("block_size") or 0) - 1),
        "mlx",
    )

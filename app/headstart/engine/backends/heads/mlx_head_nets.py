"""Networks of heads on MLX: EAGLE-3 and Medusa, from published safetensors. Engine thread.

A net is called with tokens and caches like mlx-lm's models; the tokens' hidden states are set
before (`give`), and its own states are in `own` afterwards.

EAGLE-3 (Li et al. 2025): one decoder layer over a token's embedding and a row that `fc` makes of
three of the target's layers. Medusa (Cai et al. 2024): each head is a residual block and an output
over the target's last state; it has no attention, and the number of the next head is part of the
state.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from headstart.engine.backends.mlx.library import mlx_cache, mx
from headstart.engine.decoder import Hidden, Tap

Weights = Mapping[str, mx.array]
# prefixes in published files: SafeAILab's, and the speculators library's
_LAYERS = ("midlayer.", "layers.0.")


class Incomplete(Exception):
    """A file lacks the part named in the message."""


class Net:
    """A head's network. `width`: of its own states; `depth`: the tokens ahead that it was trained
    for, 0 for any."""

    wants: tuple[Tap, ...] = ("last",)
    width = 0
    depth = 0
    # the most tokens that one forward drafts; 0 if only one
    at_once = 0

    def __init__(self) -> None:
        self._rows: mx.array | None = None
        self._at = 0
        self._own: list[mx.array] = []

    @abstractmethod
    def caches(self) -> list[Any]: ...

    @abstractmethod
    def __call__(self, tokens: mx.array, cache: list[Any]) -> mx.array:
        """Logits over the target's vocabulary, a row for each token, in a batch of one."""

    def give(self, rows: Hidden) -> None:
        """Set the rows of the next calls' tokens, in order."""
        self._rows, self._at, self._own = mx.array(rows), 0, []

    def own(self, first: int, last: int) -> Hidden:
        states = mx.concatenate(self._own)[first:last].astype(mx.float32)
        return np.array(states)

    def _take(self, count: int) -> mx.array:
        if self._rows is None:
            # the first forward, which only learns the layout of the caches
            return mx.zeros((count, self.width))
        at, self._at = self._at, self._at + count
        return self._rows[at : self._at]


class Eagle3(Net):
    def __init__(self, config: Mapping[str, Any], weights: Weights, target: Any, size: int) -> None:
        """`target`: the target's inner model, with the embeddings; `size`: of its vocabulary.
        Raises Incomplete."""
        super().__init__()
        need = _Needed(weights)
        self._layer = {
            name: need(*(f"{prefix}{name}.weight" for prefix in _LAYERS))
            for name in (
                "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                "input_layernorm", "hidden_norm", "post_attention_layernorm", "mlp.gate_proj",
                "mlp.up_proj", "mlp.down_proj",
            )
        }  # fmt: skip
        self._fc, self._norm = need("fc.weight"), need("norm.weight")
        self._output = need("lm_head.weight")
        own = weights.get("embed_tokens.weight")
        self._embed = (lambda tokens: own[tokens]) if own is not None else target.embed_tokens
        self.width = self._fc.shape[0]
        drafted = self._output.shape[0]
        offsets = weights.get("d2t")
        ids = mx.arange(drafted)
        self._ids = ids if offsets is None else ids + offsets.astype(mx.int32)
        self._size = size
        self._heads = int(config.get("num_attention_heads") or 1)
        self._kv_heads = int(config.get("num_key_value_heads") or self._heads)
        self._head = self._layer["self_attn.q_proj"].shape[0] // self._heads
        self._epsilon = float(config.get("rms_norm_eps") or 1e-5)
        self._base = float(config.get("rope_theta") or 10_000.0)
        count = len(getattr(target, "layers", []))
        named = config.get("eagle_aux_hidden_state_layer_ids")
        self.wants = tuple(named) if named else (2, count // 2, count - 3)

    def caches(self) -> list[Any]:
        return [mlx_cache.KVCache()]

    def __call__(self, tokens: mx.array, cache: list[Any]) -> mx.array:
        layer, count = self._layer, tokens.shape[1]
        rows = self._take(count)
        if rows.shape[1] != self.width:
            rows = rows.astype(self._fc.dtype) @ self._fc.T
        rows = rows.astype(self._fc.dtype)
        embedded = self._normed(self._embed(tokens[0]), layer["input_layernorm"])
        joined = mx.concatenate([embedded, self._normed(rows, layer["hidden_norm"])], axis=1)
        state = rows + self._attention(joined, cache[0])
        inner = self._normed(state, layer["post_attention_layernorm"])
        gate = inner @ layer["mlp.gate_proj"].T
        hidden = gate * mx.sigmoid(gate) * (inner @ layer["mlp.up_proj"].T)
        state = state + hidden @ layer["mlp.down_proj"].T
        self._own.append(state)
        logits = self._normed(state, self._norm) @ self._output.T
        whole = mx.full((count, self._size), -float("inf"), dtype=mx.float32)
        whole[:, self._ids] = logits.astype(mx.float32)
        return whole[None]

    def _attention(self, x: mx.array, cache: Any) -> mx.array:
        layer, count = self._layer, x.shape[0]

        def heads(name: str, number: int) -> mx.array:
            made = x @ layer[f"self_attn.{name}_proj"].T
            return made.reshape(1, count, number, self._head).transpose(0, 2, 1, 3)

        def turned(array: mx.array) -> mx.array:
            return mx.fast.rope(
                array, self._head, traditional=False, base=self._base, scale=1.0,
                offset=cache.offset,
            )  # fmt: skip

        queries = turned(heads("q", self._heads))
        keys, values = turned(heads("k", self._kv_heads)), heads("v", self._kv_heads)
        keys, values = cache.update_and_fetch(keys, values)
        found = mx.fast.scaled_dot_product_attention(
            queries, keys, values, scale=self._head**-0.5, mask="causal" if count > 1 else None
        )
        return found.transpose(0, 2, 1, 3).reshape(count, -1) @ layer["self_attn.o_proj"].T

    def _normed(self, x: mx.array, weight: mx.array) -> mx.array:
        return mx.fast.rms_norm(x, weight, self._epsilon)


class Medusa(Net):
    def __init__(self, weights: Weights, size: int) -> None:
        """Raises Incomplete."""
        super().__init__()
        need = _Needed(weights)
        numbers = {name.split(".")[0] for name in weights}
        self.depth = sum(number.isdecimal() for number in numbers)
        self._blocks, self._outputs = list[list[tuple[mx.array, Any]]](), list[mx.array]()
        for head in range(self.depth):
            blocks, index = [], 0
            while f"{head}.{index}.linear.weight" in weights:
                name = f"{head}.{index}.linear"
                blocks.append((need(f"{name}.weight"), weights.get(f"{name}.bias")))
                index += 1
            self._blocks.append(blocks)
            self._outputs.append(need(f"{head}.{index}.weight"))
        if not self.depth or any(output.shape[0] < size for output in self._outputs):
            raise Incomplete("its outputs")
        # the state, and the number of the next head
        self.width = self._outputs[0].shape[1] + 1
        self._size = size

    def caches(self) -> list[Any]:
        return []

    def __call__(self, tokens: mx.array, cache: list[Any]) -> mx.array:
        assert not cache, "it has no attention"
        rows = self._take(tokens.shape[1])
        own = rows.shape[1] == self.width
        states = rows[:, :-1] if own else rows
        number = round(float(np.array(rows[0, -1]))) if own else 0
        number = min(number, self.depth - 1)
        behind = mx.full((len(states), 1), float(number + 1), dtype=states.dtype)
        self._own.append(mx.concatenate([states, behind], axis=1))
        x = states.astype(self._outputs[number].dtype)
        for weight, bias in self._blocks[number]:
            made = x @ weight.T + (0 if bias is None else bias)
            x = x + made * mx.sigmoid(made)
        return (x @ self._outputs[number].T)[None, :, : self._size]


class _Needed:
    """Looks up weights in a file by the first matching name."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def __call__(self, *names: str) -> mx.array:
        for name in names:
            if name in self._weights:
                return self._weights[name]
        raise Incomplete(names[0])

"""The network of heads that draft blocks on MLX: DFlash and DSpark, from published folders of
safetensors. Engine thread.

Each layer's keys and values of the text are computed from one row per token, which `fc` makes of
the target's states; the tokens themselves are not processed. A block is the last drawn token and
blanks, which see the text and each other. DSpark shifts the logits of a position by the token of
the position before (a product of two thin matrices), along the likeliest tokens, and gives the
confidence of each position.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from headstart.core.models.heads import HeadKind
from headstart.engine.backends.heads.mlx_head_nets import Incomplete, Net, Weights
from headstart.engine.backends.mlx.library import mlx_cache, mx

# the block size if a folder does not name one
_BLOCK = 16
_PAIRS, _SURE = "markov_head.", "confidence_head.proj."


class BlockNet(Net):
    def __init__(
        self,
        config: Mapping[str, Any],
        weights: Weights,
        kind: HeadKind,
        target: tuple[Any, Any, int],
    ) -> None:
        """`target`: its inner model, with the embeddings, the function from its states to logits,
        and the size of its vocabulary. Raises Incomplete."""
        super().__init__()
        inner, self._output, self._size = target
        self._embed = inner.embed_tokens
        says = _Says(config)
        weights = {_name(name): array for name, array in weights.items()}
        self.wants = says.taps
        self._blank = says.number("mask_token_id", -1)
        if not self.wants or not 0 <= self._blank < self._size:
            raise Incomplete("target_layer_ids, mask_token_id")
        at_token = kind is HeadKind.DSPARK and says.found("sample_from_anchor", default=True)
        # row of the first drafted token: after the last drawn token, or at it
        self._first = 0 if at_token else 1
        self.depth = self.at_once = max(1, says.number("block_size", _BLOCK) - self._first)
        self._causal = bool(says.found("is_causal", "causal", default=False))
        self._net = _modules(config, weights, len(self.wants))
        self._windows = says.windows(len(self._net.layers))
        self.width = self._net.fc_width
        drafted = weights.get("lm_head.weight")
        self._own_output = drafted
        offsets = weights.get("d2t")
        if drafted is not None:
            ids = mx.arange(drafted.shape[0])
            self._ids = ids if offsets is None else ids + offsets.astype(mx.int32)
        first, second = (weights.get(f"{_PAIRS}markov_w{which}.weight") for which in (1, 2))
        if kind is HeadKind.DSPARK and (first is None or second is None):
            raise Incomplete(f"{_PAIRS}markov_w1.weight")
        self._pairs = None if first is None or second is None else (first, second)
        self._sure = weights.get(f"{_SURE}weight"), weights.get(f"{_SURE}bias")

    def caches(self) -> list[Any]:
        return [mlx_cache.KVCache() for _ in self._net.layers]

    def __call__(self, tokens: mx.array, cache: list[Any]) -> mx.array:
        """Process a part of the text; the result has no meaning."""
        net, count = self._net, tokens.shape[1]
        rows = self._take(count).astype(net.hidden_norm.weight.dtype)
        read = net.hidden_norm(net.fc(rows))
        for layer, own in zip(net.layers, cache, strict=True):
            keys, values = _keys_and_values(layer, read)
            own.update_and_fetch(layer.rope(keys, offset=own.offset), values)
        return mx.zeros((1, count, 1))

    def block(self, token: int, count: int, cache: list[Any]) -> tuple[mx.array, mx.array | None]:
        """Logits of `count` tokens after `token`, which follows the text; and the chance that each
        is right, if the head gives one."""
        net, rows = self._net, count + self._first
        tokens = mx.array([token] + [self._blank] * (rows - 1))
        x = self._embed(tokens[None])[0]
        for layer, own, window in zip(net.layers, cache, self._windows, strict=True):
            x = x + self._attention(layer, layer.input_layernorm(x), own, window)
            inner = layer.post_attention_layernorm(x)
            gate = layer.mlp.gate_proj(inner)
            x = x + layer.mlp.down_proj(gate * mx.sigmoid(gate) * layer.mlp.up_proj(inner))
        states = net.norm(x)[self._first :]
        logits = self._logits(states)
        if self._pairs is None:
            return logits, None
        return self._paired(token, states, logits)

    def _attention(self, layer: Any, x: mx.array, cache: Any, window: int) -> mx.array:
        count, past, size = len(x), cache.offset, layer.size
        queries = layer.self_attn.q_proj(x).reshape(1, count, -1, size).transpose(0, 2, 1, 3)
        queries = layer.rope(layer.self_attn.q_norm(queries), offset=past)
        keys, values = _keys_and_values(layer, x)
        keys = layer.rope(keys, offset=past)
        if past:
            before = cache.keys[..., :past, :], cache.values[..., :past, :]
            keys = mx.concatenate([before[0], keys], axis=2)
            values = mx.concatenate([before[1], values], axis=2)
        mask = None
        if window or self._causal:
            at, behind = mx.arange(past, past + count)[:, None], mx.arange(past + count)[None]
            mask = behind > at - window if window else behind >= 0
            mask = mask & (behind <= at) if self._causal else mask
        found = mx.fast.scaled_dot_product_attention(
            queries, keys, values, scale=size**-0.5, mask=mask
        )
        joined: mx.array = layer.self_attn.o_proj(found.transpose(0, 2, 1, 3).reshape(count, -1))
        return joined

    def _logits(self, states: mx.array) -> mx.array:
        if self._own_output is None:
            logits: mx.array = self._output(states[None])[0, :, : self._size]
            return logits.astype(mx.float32)
        whole = mx.full((len(states), self._size), -float("inf"), dtype=mx.float32)
        whole[:, self._ids] = (states @ self._own_output.T).astype(mx.float32)
        return whole

    def _paired(
        self, token: int, states: mx.array, logits: mx.array
    ) -> tuple[mx.array, mx.array | None]:
        assert self._pairs is not None
        (first, second), before = self._pairs, mx.array(token)
        weight, bias = self._sure
        shifted, sure = [], []
        for place in range(len(logits)):
            pair = first[before]
            by = (second @ pair).astype(mx.float32)
            if self._own_output is not None:
                spread = mx.zeros((self._size,))
                spread[self._ids] = by
                by = spread
            row = logits[place] + by[: self._size]
            shifted.append(row)
            before = row.argmax()
            if weight is not None:
                odds = weight[0] @ mx.concatenate([states[place], pair])
                sure.append(mx.sigmoid(odds if bias is None else odds + bias[0]))
        chances = mx.stack(sure).astype(mx.float32) if sure else None
        return mx.stack(shifted), chances


class _Says:
    """A folder's settings, read from the top level or from the head kind's own section."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        own = config.get("dflash_config")
        self._config, self._own = config, own if isinstance(own, dict) else {}

    def found(self, *names: str, default: object = None) -> Any:
        for name in names:
            for where in (self._own, self._config):
                if where.get(name) is not None:
                    return where[name]
        return default

    def number(self, name: str, default: int) -> int:
        value = self.found(name, default=default)
        return int(value) if isinstance(value, int | float) else default

    @property
    def taps(self) -> tuple[int, ...]:
        """Layers whose inputs are used: folders name the layers before them, by output; speculators
        name them directly."""
        after = self.found("aux_hidden_state_layer_ids")
        if isinstance(after, list):
            return tuple(int(layer) for layer in after)
        named = self.found("target_layer_ids")
        return tuple(int(layer) + 1 for layer in named) if isinstance(named, list) else ()

    def windows(self, layers: int) -> list[int]:
        """The window of each layer; 0: unlimited."""
        size = self.number("swa_window_size", self.number("sliding_window", 0))
        kinds = self.found("layer_types", default=[])
        if self.found("use_swa"):
            return [size] * layers
        slides = [kind == "sliding_attention" for kind in kinds] if kinds else []
        return [size if layer < len(slides) and slides[layer] else 0 for layer in range(layers)]


def _name(name: str) -> str:
    return name.removeprefix("model.")


def _keys_and_values(layer: Any, x: mx.array) -> tuple[mx.array, mx.array]:
    """Keys before rotation, and values, of a batch of one."""
    attention, count, size = layer.self_attn, len(x), layer.size
    keys = attention.k_proj(x).reshape(1, count, -1, size).transpose(0, 2, 1, 3)
    values = attention.v_proj(x).reshape(1, count, -1, size).transpose(0, 2, 1, 3)
    return attention.k_norm(keys), values


def _modules(config: Mapping[str, Any], weights: Weights, taps: int) -> Any:
    """The layers with their weights, plain or quantized. Raises Incomplete."""
    nn: Any = importlib.import_module("mlx.nn")
    ropes = importlib.import_module("mlx_lm.models.rope_utils")
    width, forward = int(config["hidden_size"]), int(config["intermediate_size"])
    heads = int(config["num_attention_heads"])
    shared = int(config.get("num_key_value_heads") or heads)
    size = int(config.get("head_dim") or width // heads)
    epsilon = float(config.get("rms_norm_eps") or 1e-6)
    turning = config.get("rope_parameters") or config.get("rope_scaling")
    turning = dict(turning) if isinstance(turning, dict) else {}
    base = float(turning.get("rope_theta") or config.get("rope_theta") or 10_000.0)
    turned = int(size * float(turning.get("partial_rotary_factor") or 1.0))
    kind = turning.get("type") or turning.get("rope_type") or "default"
    net = nn.Module()
    net.fc = nn.Linear(taps * width, width, bias=False)
    net.hidden_norm, net.norm = (nn.RMSNorm(width, eps=epsilon) for _ in range(2))
    net.layers = []
    for _ in range(int(config["num_hidden_layers"])):
        layer = nn.Module()
        layer.self_attn, layer.mlp = nn.Module(), nn.Module()
        for name, count in (("q", heads), ("k", shared), ("v", shared)):
            layer.self_attn[f"{name}_proj"] = nn.Linear(width, count * size, bias=False)
        layer.self_attn.o_proj = nn.Linear(heads * size, width, bias=False)
        layer.self_attn.q_norm, layer.self_attn.k_norm = (
            nn.RMSNorm(size, eps=epsilon) for _ in range(2)
        )
        layer.mlp.gate_proj, layer.mlp.up_proj = (
            nn.Linear(width, forward, bias=False) for _ in range(2)
        )
        layer.mlp.down_proj = nn.Linear(forward, width, bias=False)
        layer.input_layernorm, layer.post_attention_layernorm = (
            nn.RMSNorm(width, eps=epsilon) for _ in range(2)
        )
        net.layers.append(layer)
    said = config.get("quantization")
    if isinstance(said, dict):
        nn.quantize(
            net,
            group_size=int(said.get("group_size") or 64),
            bits=int(said.get("bits") or 4),
            class_predicate=lambda path, _module: f"{path}.scales" in weights,
        )
    known = {"fc", "hidden_norm", "norm", "layers"}
    own = [(name, array) for name, array in weights.items() if name.split(".")[0] in known]
    try:
        net.load_weights(own, strict=True)
    except ValueError as error:
        raise Incomplete(str(error).splitlines()[0]) from error
    # rotary embeddings have no weights
    scaling = None if kind == "default" else turning
    longest = config.get("max_position_embeddings")
    for layer in net.layers:
        layer.rope = ropes.initialize_rope(turned, base, False, scaling, longest)
        layer.size = size
    net.fc_width = taps * width
    return net

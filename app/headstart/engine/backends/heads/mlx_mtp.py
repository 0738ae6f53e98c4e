"""Draft layers (MTP) of Qwen3.5 on MLX, from sidecar folders that contain nothing else. Engine
thread.

mlx-lm omits these layers when it converts a model. `fc` combines the token's embedding and the
target's last state, each normalized, into a row; decoder layers of the target's own kind follow,
and the target's output (DeepSeek-V3, 2024).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from headstart.engine.backends.heads.mlx_head_nets import Incomplete, Net, Weights
from headstart.engine.backends.mlx.library import mlx_cache, mx


class QwenMtp(Net):
    def __init__(
        self, config: Mapping[str, Any], weights: Weights, inner: Any, output: Any
    ) -> None:
        """`inner` has the target's embeddings, `output` maps its states to logits. Raises
        Incomplete."""
        super().__init__()
        nn: Any = importlib.import_module("mlx.nn")
        kinds = importlib.import_module("mlx_lm.models.qwen3_5")
        text = dict(config.get("text_config") or {})
        count = int(text.get("mtp_num_hidden_layers") or 1)
        arguments = kinds.TextModelArgs.from_dict(
            text | {"num_hidden_layers": count, "full_attention_interval": 1}
        )
        width, epsilon = arguments.hidden_size, arguments.rms_norm_eps
        self._net = net = nn.Module()
        net.fc = nn.Linear(2 * width, width, bias=False)
        net.pre_fc_norm_embedding = nn.RMSNorm(width, eps=epsilon)
        net.pre_fc_norm_hidden = nn.RMSNorm(width, eps=epsilon)
        net.layers = [kinds.DecoderLayer(arguments, 0) for _ in range(count)]
        net.norm = nn.RMSNorm(width, eps=epsilon)
        said = config.get("quantization")
        if isinstance(said, dict):
            nn.quantize(
                net,
                group_size=int(said.get("group_size") or 64),
                bits=int(said.get("bits") or 4),
                class_predicate=lambda path, _module: f"{path}.scales" in weights,
            )
        try:
            net.load_weights(list(weights.items()), strict=True)
        except ValueError as error:
            raise Incomplete(str(error).splitlines()[0]) from error
        self.width, self._count = width, count
        self._embed, self._output = inner.embed_tokens, output

    def caches(self) -> list[Any]:
        return [mlx_cache.KVCache() for _ in range(self._count)]

    def __call__(self, tokens: mx.array, cache: list[Any]) -> mx.array:
        net, count = self._net, tokens.shape[1]
        embedded = self._embed(tokens)
        rows = self._take(count).astype(embedded.dtype)[None]
        state = net.fc(
            mx.concatenate([net.pre_fc_norm_embedding(embedded), net.pre_fc_norm_hidden(rows)], -1)
        )
        for layer, own in zip(net.layers, cache, strict=True):
            state = layer(state, mask="causal" if count > 1 else None, cache=own)
        state = net.norm(state)
        self._own.append(state[0])
        logits: mx.array = self._output(state)
        return logits

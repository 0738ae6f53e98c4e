"""Heads on MLX: separate networks over the target's hidden states, run by the same decoder. Engine
thread; a head is closed before its target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headstart.core.errors import ModelProblem
from headstart.core.models.heads import BLOCKS, HeadKind
from headstart.core.settings.schema import EngineSettings
from headstart.core.strange_json import decoded
from headstart.engine.backends.heads.mlx_block_net import BlockNet
from headstart.engine.backends.heads.mlx_head_nets import Eagle3, Incomplete, Medusa, Net
from headstart.engine.backends.heads.mlx_mtp import QwenMtp
from headstart.engine.backends.mlx.decoder import MlxDecoder
from headstart.engine.backends.mlx.library import mx
from headstart.engine.backends.mlx.model import first_line
from headstart.engine.backends.mlx.state import CacheState
from headstart.engine.backends.mlx.states import inner_of, output_of
from headstart.engine.decoder import Hidden, ModelFacts, Tap


class HeadModel:
    """A head of `target` in the role of a decoder's `MlxModel`."""

    def __init__(self, path: Path, kind: HeadKind, target: MlxDecoder) -> None:
        """Raises ModelProblem."""
        self._target, self._kind = target, kind
        self.tokenizer = target.loaded.tokenizer
        try:
            config, weights = _read(path)
            whole, size = target.loaded.model, self.tokenizer.size
            inner = inner_of(whole)
            self.model: Any
            if kind is HeadKind.EAGLE3:
                self.model = Eagle3(config, weights, inner, size)
            elif kind in BLOCKS:
                self.model = BlockNet(config, weights, kind, (inner, output_of(whole), size))
            elif kind is HeadKind.LAYERS:
                self.model = QwenMtp(config, weights, inner, output_of(whole))
            else:
                self.model = Medusa(weights, size)
            caches = self.fresh_caches()
            mx.eval(self.model(mx.array([[0]]), cache=caches.caches))
            self.layouts = caches.learn()
        except Incomplete as problem:
            raise ModelProblem("head-incomplete", name=path.name, missing=problem) from problem
        except Exception as error:
            reason = first_line(error)
            raise ModelProblem("mlx-cannot-open", name=path.name, reason=reason) from error

    def fresh_caches(self) -> CacheState:
        return CacheState(self.model.caches())

    def facts(self, _engine: EngineSettings, _clamp: bool) -> ModelFacts:
        facts, net = self._target.facts, self.model
        ranges = self.fresh_caches().ranges
        return msgspec.structs.replace(
            facts,
            chat_template=None,
            rollback="exact",
            undo=0,
            snapshots=False,
            chunk=facts.batch if ranges else 0,
            state=f"{facts.state}, {self._kind.value} head",
            width=net.width,
            wants=net.wants,
            depth=net.depth,
            at_once=net.at_once,
        )

    def close(self) -> None:
        self.model = None


class _OwnStates:
    def __init__(self, net: Net) -> None:
        self._net = net

    def keep(self, taps: Sequence[Tap]) -> None:
        assert not taps, "a head has no heads"

    def rows(self, first: int, last: int) -> Hidden:
        return self._net.own(first, last)


class MlxHead(MlxDecoder):
    """A head of `target`; `engine.decoder.Decoder` has the methods' contract."""

    def __init__(
        self,
        path: Path,
        kind: HeadKind,
        engine: EngineSettings,
        target: MlxDecoder,
        progress: Callable[[float], bool] | None = None,
    ) -> None:
        """Raises ModelProblem."""
        super().__init__(path, engine, progress, loaded=HeadModel(path, kind, target))
        self._net: Net = self._model
        self._states = _OwnStates(self._net)

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        if hidden is None or len(hidden) != len(tokens):
            raise ValueError("a head wants a hidden state for each token")
        self._net.give(hidden)
        super().forward(tokens, outputs, seq, parents)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings and the weights of a folder, or of a file with its settings beside it. Only
    safetensors: other formats can contain code."""
    folder = path if path.is_dir() else path.parent
    files = sorted(folder.glob("*.safetensors")) if path.is_dir() else [path]
    if not files or any(file.suffix != ".safetensors" for file in files):
        raise Incomplete("safetensors")
    config: dict[str, Any] = {}
    about = folder / "config.json"
    if about.exists():
        found = decoded(about.read_bytes())
        config = found if isinstance(found, dict) else {}
    weights: dict[str, Any] = {}
    for file in files:
        found = mx.load(str(file))
        weights |= found if isinstance(found, dict) else {}
    return config, weights

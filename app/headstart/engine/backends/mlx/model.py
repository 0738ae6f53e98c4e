"""A model folder loaded by MLX: weights, tokenizer, the shape of caches. Engine thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from headstart.core.errors import ModelProblem
from headstart.core.settings.schema import EngineSettings
from headstart.core.text.shown import shortened
from headstart.engine.backends.mlx.library import (
    mlx_cache,
    mlx_utils,
    mx,
    on_gpu,
    prepare,
    versions,
)
from headstart.engine.backends.mlx.state import CacheState, StateLayout
from headstart.engine.backends.mlx.tokenizer import FolderTokenizer
from headstart.engine.decoder import DecodeAborted, ModelFacts

BATCH = 256
AUTOMATIC_CONTEXT = 8192


class MlxModel:
    def __init__(
        self, folder: Path, progress: Callable[[float], bool] | None, on_failure: Callable[[], None]
    ) -> None:
        """A part of `MlxDecoder`, which documents it. `on_failure` frees memory."""
        self._name = folder.name
        self._progress = progress
        self.model: Any = None
        prepare()
        try:
            self.config = self._load(folder)
            self.tokenizer = FolderTokenizer(folder, self.config)
            self._tell(0.8)
            self.layouts = self._learn()
            self._tell(1.0)
        except BaseException:
            # free the gigabytes of an unwanted model
            self.model = None
            on_failure()
            raise

    def fresh_caches(self) -> CacheState:
        return CacheState(mlx_cache.make_prompt_cache(self.model))

    def facts(self, engine: EngineSettings, clamp: bool) -> ModelFacts:
        inner = self.config.get("text_config")
        trained = self.config.get("max_position_embeddings") or (
            inner.get("max_position_embeddings") if isinstance(inner, dict) else None
        )
        trained = trained if isinstance(trained, int) else AUTOMATIC_CONTEXT
        wanted = engine.context_length or AUTOMATIC_CONTEXT
        tokenizer, state = self.tokenizer, self.fresh_caches()
        device = "GPU" if on_gpu() else "processor"
        layout = f"{state.kinds}, {'/'.join(sorted({part.type for part in self.layouts}))}"
        return ModelFacts(
            context_length=min(trained, wanted) if clamp or not engine.context_length else wanted,
            vocabulary_size=tokenizer.size,
            chat_template=tokenizer.chat_template,
            special_tokens=tokenizer.special,
            added_tokens=tokenizer.added,
            begin_token=tokenizer.begin_token,
            begin_text=tokenizer.begin_text,
            end_text=tokenizer.end_text,
            batch=BATCH,
            suppressed=tokenizer.suppressed,
            rollback="checkpoint" if state.mixed else "exact",
            snapshots=state.mixed,
            device=f"{versions()}, {device}",
            chunk=BATCH if state.ranges else 0,
            state=f"{versions()}, {device}, {layout}",
            width=self._width(),
            trained=trained,
        )

    def _width(self) -> int:
        """The width of hidden states; 0 where the folder does not name it."""
        inner = self.config.get("text_config")
        said = self.config.get("hidden_size") or (
            inner.get("hidden_size") if isinstance(inner, dict) else 0
        )
        return said if isinstance(said, int) else 0

    def close(self) -> None:
        self.model = None

    def _load(self, folder: Path) -> dict[str, Any]:
        self._tell(0.0)
        try:
            self.model, config = mlx_utils.load_model(folder, lazy=True)
            parameters = _arrays(self.model.parameters())
            self._tell(0.1)
            # in parts, so that loading can report progress and be stopped
            for index in range(0, len(parameters), 32):
                mx.eval(parameters[index : index + 32])
                self._tell(0.1 + 0.7 * min(1.0, (index + 32) / len(parameters)))
        except DecodeAborted:
            raise
        except Exception as error:
            raise ModelProblem(
                "mlx-cannot-open", name=self._name, reason=first_line(error)
            ) from error
        return dict(config)

    def _tell(self, fraction: float) -> None:
        if self._progress is not None and not self._progress(fraction):
            raise DecodeAborted

    def _learn(self) -> tuple[StateLayout, ...]:
        """Decode one token to learn the layout of the caches, and to check that all parts match."""
        size = self.tokenizer.size
        try:
            state = self.fresh_caches()
            rows = self.model(mx.array([[0]]), cache=state.caches).shape[-1]
            state.evaluate()
            layouts = state.learn()
        except Exception as error:
            raise ModelProblem(
                "mlx-cannot-use", name=self._name, reason=first_line(error)
            ) from error
        ends = self.config.get("eos_token_id")
        ends = ends if isinstance(ends, list) else [] if ends is None else [ends]
        # some tokenizers have a few more added tokens than their model, which never gets them
        if self.tokenizer.base > rows or 2 * size < rows or (ends and min(ends) >= rows):
            raise ModelProblem("tokenizer-mismatch", name=self._name, size=size, rows=rows)
        self.tokenizer.limit(rows)
        return layouts


def _arrays(tree: Any) -> list[mx.array]:
    if isinstance(tree, mx.array):
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [array for part in parts for array in _arrays(part)]


def first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return shortened(text.splitlines()[0].strip().rstrip("."), 200)

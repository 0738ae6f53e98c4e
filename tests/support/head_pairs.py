"""A target with a head that drafts for it: the kinds of heads, and an engine that has both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headstart.core.chats.values import Role
from headstart.core.models.ref import ModelRef
from headstart.core.requests import PromptMessage
from headstart.core.settings.schema import Speculation
from headstart.engine.speculation.hidden_draft import HiddenStateDraft
from tests.models.heads import (
    only,
    random_assistant,
    random_block,
    random_eagle3,
    random_medusa,
)
from tests.models.tiny import make_tiny
from tests.support.prefix_engine import PrefixEngine

KINDS = ("eagle3", "own", "three", "layers", "assistant", "medusa", "dflash", "dflash2", "dspark")
BLOCKS = ("dflash", "dflash2", "dspark")
TOKENS = 40
STORY = [PromptMessage(Role.USER, "Tell a story about a river and a boat.", "a")]


def model_at(path: Path) -> ModelRef:
    return ModelRef(path, path.stem, path.stat().st_size)


def make_head(kind: str, source: ModelRef, folder: Path) -> tuple[ModelRef, ModelRef]:
    """A target and its head, in `folder`; `kind`: one of `KINDS`."""
    folder.mkdir()
    target = folder / "target.gguf"
    if kind == "eagle3":
        return source, model_at(random_eagle3(source.path, folder / "head.gguf"))
    if kind in BLOCKS:
        return source, model_at(random_block(source.path, folder / "head.gguf", kind))
    if kind == "medusa":
        path = make_tiny("llama", source.path, target, layers=12, blocks=True)
        heads = random_medusa(path, folder / "medusa")
        size = (heads / "medusa_lm_head.safetensors").stat().st_size
        return model_at(path), ModelRef(heads, heads.name, size, "mlx")
    if kind == "assistant":
        path = make_tiny("gemma4", source.path, target, blocks=True)
        return model_at(path), model_at(random_assistant(path, folder / "assistant.gguf"))
    family, layers = ("hy_v3", 3) if kind == "three" else ("qwen35", 1)
    path = make_tiny(family, source.path, folder / "own.gguf", blocks=True, own_layers=layers)
    alone = only(path, folder / "mtp.gguf", r"^(?!blk\.[0-3]\.)") if kind == "layers" else path
    return model_at(path), model_at(alone)


Made = Callable[[str], tuple[ModelRef, ModelRef]]


class Pair:
    """A target with its head: EAGLE-3 of the source, or layers of a tiny model, in its own
    file or in one that has nothing else."""

    def __init__(self, kind: str, made: Made, folder: Path) -> None:
        self.kind = kind
        self.model, self.head = made(kind)
        self.engine = PrefixEngine(folder, self.model)
        self.engine.chat("c")

    def write(self, wanted: Speculation, chat_id: str = "c", **more: object) -> str:
        draft = None if not wanted.enabled else self.head
        return self.engine.ask(chat_id, STORY, TOKENS, speculation=wanted, draft=draft, **more).text

    @property
    def draft(self) -> HiddenStateDraft:
        found = self.engine.generator.loaded.speculation.draft
        assert isinstance(found, HiddenStateDraft)
        return found

"""What answers: weights on this computer, or a server's model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from headstart.core.servers import ServerModel

ModelFormat = Literal["gguf", "mlx"]


@dataclass(frozen=True, slots=True)
class ModelRef:
    """Weights on disk: a GGUF file, or a folder in the format of MLX. `name` is what people
    see: the file's or the repository's name."""

    path: Path
    # what it is called may change while it is loaded
    name: str = field(compare=False)
    size: int
    format: ModelFormat = "gguf"
    # by which measurements know it, where it was called otherwise when it was first seen
    known_as: str = field(default="", compare=False)

    @property
    def key(self) -> str:
        return str(self.path)

    @property
    def host(self) -> str:
        """Who is sent what the user writes: nobody."""
        return ""

    @property
    def settings_taken(self) -> frozenset[str] | None:
        """The sampling settings that it takes, by name: all of them."""
        return None

    @property
    def signature(self) -> str:
        """Names the weights wherever they lie; for measurements that belong to them."""
        return self.known_as or f"{self.name}:{self.size}"


AnyModel = ModelRef | ServerModel

"""Models that answer: weights on this computer, or a server's model."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct

from headstart.core.servers import ServerModel

ModelFormat = Literal["gguf", "mlx"]


class ModelRef(Struct, frozen=True):
    """Weights on disk: a GGUF file, or a folder in the format of MLX. `name` is the display name:
    the file's or the repository's name."""

    path: Path
    name: str
    size: int
    format: ModelFormat = "gguf"
    # the key of its measurements, if it had another name when first seen
    known_as: str = ""

    def __eq__(self, other: object) -> bool:
        """Compare the weights: names may change while they are loaded."""
        return isinstance(other, ModelRef) and self._itself == other._itself

    def __hash__(self) -> int:
        return hash(self._itself)

    @property
    def _itself(self) -> tuple[Path, int, str]:
        return self.path, self.size, self.format

    @property
    def key(self) -> str:
        return str(self.path)

    @property
    def host(self) -> str:
        """Host that receives the user's text; "" for local models."""
        return ""

    @property
    def settings_taken(self) -> frozenset[str] | None:
        """The sampling settings that it accepts, by name: all of them."""
        return None

    @property
    def signature(self) -> str:
        """Identifies the weights in any location; for measurements that belong to them."""
        return self.known_as or f"{self.name}:{self.size}"


AnyModel = ModelRef | ServerModel

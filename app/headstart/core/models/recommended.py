"""Models to begin with: a list that people edit by hand, and what of it suits a computer. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from headstart.core.models.ref import ModelFormat

Purpose = Literal["general", "code", "reasoning", "small", "vision"]

# in the order in which they are shown
PURPOSES: tuple[Purpose, ...] = ("general", "code", "reasoning", "small")
# of the memory, what a model that is meant to be small takes at most
_SMALL_SHARE = 0.2
# beside the weights; and what may be taken of the memory
_BESIDE, _SHARE = 1.2, 0.85
# GB that a token may read on a computer without a graphics card: about five tokens a second
_READ = 6.5
_EXPERTS = re.compile(r"(?P<all>[\d.]+)B \((?P<active>[\d.]+)B active\)")


class Recommended(Struct, frozen=True, omit_defaults=True):
    """One model. `memory_gb`: a computer with so much runs it well; sizes in GB of 10^9 bytes."""

    name: Annotated[str, Meta(min_length=1)]
    purpose: Purpose
    memory_gb: Annotated[int, Meta(ge=1)]
    parameters: str
    licence: str
    repo: Annotated[str, Meta(pattern=r"^[\w.\-]+/[\w.\-]+$")]
    # of files of the repository; the first that is there is meant
    patterns: Annotated[tuple[str, ...], Meta(min_length=1)]
    size_gb: Annotated[float, Meta(gt=0)]
    context: int = 0
    # the same in the format of MLX
    mlx_repo: str = ""
    # another model that drafts for it, and its file
    draft_repo: str = ""
    draft_patterns: tuple[str, ...] = ()
    # layers of its own that draft
    own_layers: bool = False

    def in_format(self, form: ModelFormat) -> Recommended:
        """The same model in the format that runs best here, where it comes in that."""
        if form != "mlx" or not self.mlx_repo:
            return self
        # a folder is named by its format; a GGUF draft is of no use to it
        return replace(
            self, repo=self.mlx_repo, patterns=("mlx",), draft_repo="", draft_patterns=()
        )

    @property
    def read_gb(self) -> float:
        """Gigabytes of weights that one token goes through."""
        found = _EXPERTS.search(self.parameters)
        share = float(found["active"]) / float(found["all"]) if found else 1.0
        return self.size_gb * share


class RecommendedList(Struct, frozen=True):
    """`made`: the day on which somebody looked at it last, as YYYY-MM-DD."""

    made: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d$")]
    models: tuple[Recommended, ...]


def for_memory(models: Sequence[Recommended], total: int, fast: bool = False) -> list[Recommended]:
    """The largest that suit a memory of so many bytes, one for each purpose; on a computer that is
    not `fast`, of those that do not read more for each token than it can."""
    chosen: list[Recommended] = []
    for purpose in PURPOSES:
        room = total * (_SMALL_SHARE if purpose == "small" else _SHARE)
        suits = [
            one
            for one in models
            if one.memory_gb * 0.9e9 <= total
            and one.size_gb * 1e9 * _BESIDE <= room
            and (one.purpose == purpose or (purpose == "small" and one.purpose == "general"))
            and (fast or one.read_gb <= _READ)
            and one.repo not in [other.repo for other in chosen]
        ]
        if suits:
            # of one size, the one that stands first
            best = max(suits, key=lambda one: (one.memory_gb, one.size_gb))
            chosen.append(replace(best, purpose=purpose))
    return chosen

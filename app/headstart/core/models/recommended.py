"""Models to start with: a list maintained by hand, and those that suit a computer. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from headstart.core.models.ref import ModelFormat

Purpose = Literal["general", "code", "reasoning", "small", "vision"]

# in display order
PURPOSES: tuple[Purpose, ...] = ("general", "code", "reasoning", "small")
# largest share of memory for a model recommended as small
_SMALL_SHARE = 0.2
# memory relative to the weights; and the usable share of memory
_BESIDE, _SHARE = 1.2, 0.85
# most GB read per token on a computer without a graphics card: about five tokens a second
_READ = 6.5
_EXPERTS = re.compile(r"(?<![\d.])(?P<all>[\d.]++)B \((?P<active>[\d.]++)B active\)")


class Recommended(Struct, frozen=True, omit_defaults=True):
    """One model. `memory_gb`: a computer with this much runs it well; sizes in GB of 10^9 bytes."""

    name: Annotated[str, Meta(min_length=1)]
    purpose: Purpose
    memory_gb: Annotated[int, Meta(ge=1)]
    parameters: str
    licence: str
    repo: Annotated[str, Meta(pattern=r"^[\w.\-]+/[\w.\-]+$")]
    # patterns of the repository's files; the first one that matches decides
    patterns: Annotated[tuple[str, ...], Meta(min_length=1)]
    size_gb: Annotated[float, Meta(gt=0)]
    context: int = 0
    # the same in the format of MLX
    mlx_repo: str = ""
    # another model that drafts for it, and its file
    draft_repo: str = ""
    draft_patterns: tuple[str, ...] = ()
    # it drafts with layers of its own
    own_layers: bool = False

    def in_format(self, form: ModelFormat) -> Recommended:
        """The same model in the format that runs best here, if it comes in that."""
        if form != "mlx" or not self.mlx_repo:
            return self
        # a folder is named by its format; a GGUF draft is of no use to it
        return replace(
            self, repo=self.mlx_repo, patterns=("mlx",), draft_repo="", draft_patterns=()
        )

    @property
    def read_gb(self) -> float:
        """Gigabytes of weights read per token."""
        found = _EXPERTS.search(self.parameters)
        share = float(found["active"]) / float(found["all"]) if found else 1.0
        return self.size_gb * share


class RecommendedList(Struct, frozen=True):
    """`made`: the day of the last review, as YYYY-MM-DD."""

    made: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d$")]
    models: tuple[Recommended, ...]


def for_memory(models: Sequence[Recommended], total: int, fast: bool = False) -> list[Recommended]:
    """The largest model for each purpose that suits a memory of `total` bytes; on a computer that
    is not `fast`, only models whose weights read per token it can handle."""
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
            # among equals, the first one
            best = max(suits, key=lambda one: (one.memory_gb, one.size_gb))
            chosen.append(replace(best, purpose=purpose))
    return chosen

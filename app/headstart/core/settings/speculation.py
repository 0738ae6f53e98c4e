"""The settings of drafting. Pure."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from headstart.core.models.heads import AUTOMATIC

DepthMode = Literal["auto", "fixed"]
TreeBranches = Literal["auto", "always", "never"]


class Speculation(Struct, frozen=True, omit_defaults=True):
    """Settings of drafting. They never change the target's output."""

    enabled: bool = True
    # the key of a model ref, or a constant of `heads`; empty is none
    draft: str = AUTOMATIC
    depth_mode: DepthMode = "auto"
    depth: Annotated[int, Meta(ge=1, le=16)] = 4
    min_probability: Annotated[float, Meta(ge=0, le=0.99)] = 0.0
    prompt_lookup: bool = True
    earlier_chats: bool = True
    # the draft's second likeliest tokens as branches of a tree: where they pay, or wherever
    # possible (for tests)
    tree_branches: TreeBranches = "auto"

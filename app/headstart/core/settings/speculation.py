"""The settings of drafting. Pure."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from headstart.core.models.heads import AUTOMATIC

DepthMode = Literal["auto", "fixed"]
TreeBranches = Literal["auto", "always", "never"]


class Speculation(Struct, frozen=True, omit_defaults=True):
    """Settings of drafting. The text stays the target's, whatever is chosen here."""

    enabled: bool = True
    # the key of a model ref, or a word of `heads`; empty is none
    draft: str = AUTOMATIC
    depth_mode: Annotated[
        DepthMode, Meta(title="Draft depth", description="auto measures, and stops what is slower")
    ] = "auto"
    depth: Annotated[
        int,
        Meta(
            ge=1, le=16, title="Fixed depth", description="tokens drafted before each verification"
        ),
    ] = 4
    min_probability: Annotated[
        float,
        Meta(
            ge=0,
            le=0.99,
            title="Minimum draft probability",
            description="the draft stops before a token less probable than this; 0 is automatic",
            extra_json_schema={"special": "automatic"},
        ),
    ] = 0.0
    prompt_lookup: bool = True
    earlier_chats: Annotated[
        bool,
        Meta(
            title="Use earlier chats for drafting",
            description="what the model wrote before, in this and other chats, is tried first; "
            "private chats neither give nor get anything",
        ),
    ] = True
    # the draft's second likeliest tokens as branches of a tree: where they pay, or wherever
    # possible (for tests)
    tree_branches: TreeBranches = "auto"

"""Stored prefixes of prompts: a part of `settings`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class PrefixSettings(Struct, frozen=True):
    """Limits of stored prefixes, which spare recomputing prompts."""

    on_disk: Annotated[
        bool,
        Meta(
            title="Prompt cache on disk",
            description="so that nothing is recomputed after a restart",
        ),
    ] = True
    most_gb: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000,
            title="Max disk space",
            description="never more than a quarter of what is free",
            extra_json_schema={"unit": "GB"},
        ),
    ] = 8
    memory_mb: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000_000,
            title="Max memory",
            description="for what is not in a loaded model's context; 0 is automatic",
            extra_json_schema={"unit": "MB", "special": "automatic"},
        ),
    ] = 0
    prefill_ahead: Annotated[
        bool,
        Meta(
            title="Prefill ahead",
            description="while you type, and after a reply; costs battery, pauses when it is low",
            extra_json_schema={"label": "while you type, and after a reply"},
        ),
    ] = True

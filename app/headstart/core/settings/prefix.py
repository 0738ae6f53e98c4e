"""Stored prefixes of prompts: a part of `settings`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class PrefixSettings(Struct, frozen=True):
    """Limits of stored prefixes, which save recomputing prompts."""

    on_disk: bool = True
    most_gb: Annotated[int, Meta(ge=1, le=10_000)] = 8
    memory_mb: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    prefill_ahead: bool = True

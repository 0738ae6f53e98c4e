"""Sources and locations of models: a part of `settings`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class LibrarySettings(Struct, frozen=True):
    """Folders of models, and how models are downloaded and kept loaded."""

    # folders with the user's models
    folders: tuple[str, ...] = ()
    other_programs: bool = True
    parallel: Annotated[int, Meta(ge=1, le=16)] = 2
    limit_mb: Annotated[float, Meta(ge=0, le=10_000)] = 0.0
    unload_minutes: Annotated[int, Meta(ge=0, le=1440)] = 0
    # keys of models that stay loaded regardless
    kept: tuple[str, ...] = ()
    # whether the keychain has a token for the hub; without it, the keychain is not asked
    has_token: bool = False

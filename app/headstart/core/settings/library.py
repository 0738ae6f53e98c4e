"""Sources and locations of models: a part of `settings`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class LibrarySettings(Struct, frozen=True):
    """Folders of models, and how they are downloaded and kept loaded."""

    # folders where the user keeps models
    folders: tuple[str, ...] = ()
    other_programs: bool = True
    parallel: Annotated[int, Meta(ge=1, le=16)] = 2
    limit_mb: Annotated[float, Meta(ge=0, le=10_000)] = 0.0
    unload_minutes: Annotated[int, Meta(ge=0, le=1440)] = 0
    # keys of models that stay loaded all the same
    kept: tuple[str, ...] = ()
    # whether there is a token for the hub in the keychain, which is not asked otherwise
    has_token: bool = False

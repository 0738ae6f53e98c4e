"""Sources and locations of models: a part of `settings`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class LibrarySettings(Struct, frozen=True):
    """Folders of models, and how they are downloaded and kept loaded."""

    folders: Annotated[
        tuple[str, ...], Meta(description="folders where the user keeps models")
    ] = ()
    other_programs: Annotated[
        bool,
        Meta(
            title="Models of other programs",
            description="of LM Studio, Ollama and GPT4All, used where they are",
            extra_json_schema={"label": "of LM Studio, Ollama, GPT4All"},
        ),
    ] = True
    parallel: Annotated[
        int,
        Meta(
            ge=1,
            le=16,
            title="Downloads at a time",
            description="the others wait for their turn",
        ),
    ] = 2
    limit_mb: Annotated[
        float,
        Meta(
            ge=0,
            le=10_000,
            title="Download speed",
            description="of all downloads together; 0 is as fast as possible",
            extra_json_schema={"unit": "MB/s", "special": "no limit"},
        ),
    ] = 0.0
    unload_minutes: Annotated[
        int,
        Meta(
            ge=0,
            le=1440,
            title="Unload idle models",
            description="after so long without a reply; 0 keeps them loaded",
            extra_json_schema={"unit": "minute|minutes", "special": "never"},
        ),
    ] = 0
    # keys of models that stay loaded all the same
    kept: tuple[str, ...] = ()
    # whether there is a token for the hub in the keychain, which is not asked otherwise
    has_token: bool = False

"""Folders and files that questions are answered from: a part of `settings`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class KnowledgeSettings(Struct, frozen=True):
    """Sources of the index, and the model that compares meanings."""

    sources: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=4096)], ...], Meta(max_length=500)
    ] = ()
    # whether meanings are compared where an embedding model is installed
    meaning: bool = True
    # the key of that model; "" is the first one
    embedder: str = ""

"""Downloadable models: repositories and their variants. Frozen values."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from headstart.core.hub.downloads import LARGEST_HTTP, DownloadRequest, RemoteFile
from headstart.core.models.fit import Verdict
from headstart.core.models.ref import ModelFormat

SortBy = Literal["trending", "likes", "downloads", "updated"]


class Search(Struct, frozen=True):
    """A user's search. `formats` are alternatives; a model's memory is at most `fits` bytes, 0 for
    any."""

    text: str = ""
    formats: tuple[ModelFormat, ...] = ("gguf", "mlx")
    sort: SortBy = "trending"
    fits: int = 0
    # most parameters, in billions; 0 for any
    largest: float = 0.0
    licences: tuple[str, ...] = ()
    open_only: bool = False
    can_draft: bool = False
    has_vision: bool = False
    has_own_draft: bool = False


class Repository(Struct, frozen=True):
    """A repository in a list of results; facts missing from the hub are 0, "" or None."""

    id: str
    formats: tuple[ModelFormat, ...]
    likes: int = 0
    downloads: int = 0
    # seconds since 1970
    updated: float = 0.0
    gated: bool = False
    private: bool = False
    licence: str = ""
    parameters: int = 0
    context: int = 0
    architecture: str = ""
    # bytes of the smallest chat model's file, if the list has sizes
    smallest: int = 0
    has_vision: bool = False
    has_own_draft: bool = False

    @property
    def name(self) -> str:
        return self.id.rpartition("/")[2]

    @property
    def owner(self) -> str:
        return self.id.rpartition("/")[0]


class CompanionKind(StrEnum):
    """Files that belong to a chat model but are none themselves."""

    PROJECTOR = "projector"
    HEAD = "head"


class Companion(Struct, frozen=True):
    kind: CompanionKind
    file: RemoteFile


class Variant(Struct, frozen=True):
    """A version of a model: a quantization, in one file or several, or a folder.

    `quality` is 1 to 4, if known.
    """

    title: str
    format: ModelFormat
    files: tuple[RemoteFile, ...]
    # the file to open; "" for a folder
    main: str = ""
    bits: float = 0.0
    quality: int = 0

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def too_large_for_http(self) -> bool:
        """True if one of its files exceeds the hub's limit for plain HTTP."""
        return any(file.size > LARGEST_HTTP for file in self.files)


class Fit(Struct, frozen=True):
    """A variant's needs on this computer: bytes, and the tokens of context that it would get."""

    verdict: Verdict
    need: int
    total: int
    context: int
    with_draft: bool = False


class Details(Struct, frozen=True):
    """A repository at one commit, with all its downloadable variants."""

    repository: Repository
    commit: str
    variants: tuple[Variant, ...]
    companions: tuple[Companion, ...] = ()
    # the file that a link named
    named: str = ""
    revision: str = "main"
    # heads as separate downloads; in a repository without a model, `variants` are these
    all_heads: tuple[Variant, ...] = ()

    @property
    def heads(self) -> bool:
        """True if all variants are heads, which draft for one particular model."""
        return bool(self.all_heads) and self.variants == self.all_heads

    def wanted(self, variant: Variant, companions: tuple[Companion, ...] = ()) -> DownloadRequest:
        """Files to download for a variant, with its companions."""
        name = self.repository.name
        title = name.removesuffix("-GGUF").removesuffix("-gguf")
        if variant.title and variant.title.casefold() not in title.casefold():
            title = f"{title} {variant.title}"
        files = (*variant.files, *(companion.file for companion in companions))
        return DownloadRequest(
            self.repository.id, self.commit, title, files, variant.main, self.revision
        )

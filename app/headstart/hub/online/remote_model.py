"""Models that are not downloaded, read by ranges: their memory needs, and their vocabularies.

A few hundred kilobytes hold the facts that decide memory; the vocabulary is some megabytes more.
"""

from __future__ import annotations

import io
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from msgspec.structs import replace

from headstart.core.errors import ModelProblem
from headstart.core.hub.catalog import Details, Variant
from headstart.core.models.described import ModelCard
from headstart.core.models.fit import ModelShape
from headstart.core.models.heads import HeadFacts
from headstart.core.models.ref import ModelRef
from headstart.core.strange_json import decoded
from headstart.hub import cards, shapes
from headstart.hub.downloads.source import DownloadSource, Unavailable
from headstart.hub.gguf import GgufHeader, parse, peek
from headstart.hub.heads import TARGET_LAYERS, head_of
from headstart.hub.online.client import HubClient

# bytes of the first request, and most bytes of a header
_FIRST, _MOST = 128 << 10, 64 << 20
_BLOCK = 1 << 20


class RangeFile(io.RawIOBase):
    """Reads a file of the hub from its beginning, in growing blocks; ends after `most` bytes.
    Raises Unavailable and DownloadProblem."""

    def __init__(self, source: DownloadSource, size: int, most: int = _MOST) -> None:
        super().__init__()
        self._source = source
        self._end = min(size, most)
        self._data = bytearray()
        self._at = 0

    @property
    def fetched(self) -> int:
        return len(self._data)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._at = max(0, offset + (self._at if whence == 1 else 0))
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        wanted = self._end if size < 0 else min(self._end, self._at + size)
        if wanted > len(self._data):
            self._fetch(wanted)
        found = bytes(self._data[self._at : wanted])
        self._at += len(found)
        return found

    def _fetch(self, wanted: int) -> None:
        # doubles each time: few requests for large headers, few bytes for small ones
        end = min(self._end, max(wanted, _FIRST, 2 * len(self._data)))
        tries = 0
        while len(self._data) < end:
            start = len(self._data)
            try:
                with self._source.open(start, end) as answer:
                    skip = start - answer.start
                    for chunk in answer.chunks:
                        self._data += chunk[skip:]
                        skip = max(0, skip - len(chunk))
                        if len(self._data) >= end:
                            break
            except Unavailable:
                tries += 1
                if tries > 3:
                    raise
            if len(self._data) == start and not tries:
                raise Unavailable
        del self._data[end:]


class RemoteModels:
    """Reads facts of a repository's variants from the hub. Worker threads; raises ModelProblem for
    a file that is not a model, Unavailable and DownloadProblem."""

    def __init__(self, client: HubClient) -> None:
        self._client = client

    def shape(self, details: Details, variant: Variant) -> ModelShape:
        """Facts that decide its memory, from its first bytes."""
        if variant.format == "mlx":
            return self._of_folder(details, variant)
        file = self._open(details, variant)
        header = peek(file.read(_FIRST), variant.title, shapes.WANTED)
        if not header.metadata.get(f"{header.architecture}.block_count"):
            # its maker put the vocabulary first
            file.seek(0)
            header = self._parse(file, variant)
        return _with_weights(header, variant)

    def card(self, details: Details, variant: Variant) -> ModelCard:
        """The card with its vocabulary, for matching drafts to targets."""
        file = self._open(details, variant)
        header = self._parse(file, variant)
        return cards.of_header(_ref(details, variant), header, _with_weights(header, variant))

    def head(self, details: Details, variant: Variant) -> tuple[HeadFacts | None, ModelShape]:
        """Facts of a head's file, with its memory."""
        header = self._parse(self._open(details, variant), variant)
        return head_of(header), replace(shapes.of_header(header), weights=variant.size)

    def _open(self, details: Details, variant: Variant) -> RangeFile:
        first = next(file for file in variant.files if file.path == variant.main)
        wanted = details.wanted(variant)
        return RangeFile(self._client.source(wanted, first), first.size)

    @staticmethod
    def _parse(file: RangeFile, variant: Variant) -> GgufHeader:
        wanted = _Wanted()
        return parse(cast(BinaryIO, file), variant.title, variant.size, wanted)

    def _of_folder(self, details: Details, variant: Variant) -> ModelShape:
        path = next(file.path for file in variant.files if file.path.endswith("config.json"))
        data = self._client.text(details.repository.id, details.commit, path)
        try:
            config = decoded(data)
        except ValueError as error:
            raise ModelProblem("config-damaged", name=variant.title, file=path) from error
        weights = [file.size for file in variant.files if file.path.endswith(".safetensors")]
        return shapes.of_config(config if isinstance(config, dict) else {}, sum(weights))


class _Wanted:
    def __contains__(self, key: object) -> bool:
        return key in (cards.TOKENS, *TARGET_LAYERS) or key in shapes.WANTED


def _ref(details: Details, variant: Variant) -> ModelRef:
    path = Path(details.repository.id) / PurePosixPath(variant.main or variant.title)
    return ModelRef(path, f"{details.repository.name} {variant.title}", variant.size)


def _with_weights(header: GgufHeader, variant: Variant) -> ModelShape:
    """The shape with the files' size as weights: the header's megabytes do not matter."""
    shape = shapes.of_header(header)
    tables = 2 * shape.vocabulary * shape.width * (variant.bits or 16) / 8
    layers = max(0, int(variant.size - tables))
    return replace(shape, weights=variant.size, layer_weights=header.layer_weights or layers)
